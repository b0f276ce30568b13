/** Runs the command that argv names. Imports only what that command needs. */

// First, because agents wait for it at every event.
if (process.argv[2] === "hook") {
  const { hook } = await import("./hook/index.ts");
  await hook(process.argv.slice(3));
} else {
  const { main } = await import("./cli/index.ts");
  process.exitCode = await main(process.argv.slice(2));
}

export {};
