/** argv → verb. Nothing is imported before the verb needs it: the hook runs on every event of every agent. */

const verbs: Readonly<Record<string, () => Promise<(args: string[]) => Promise<number>>>> = {
  run: async () => (await import("./cli/run.ts")).run,
  hook: async () => (await import("./cli/hook.ts")).hook,
  status: async () => (await import("./cli/status.ts")).status,
  "--version": async () => (await import("./cli/version.ts")).version,
  "--help": async () => (await import("./cli/help.ts")).help,
};
const aliases: Readonly<Record<string, string>> = { "-v": "--version", "-h": "--help", help: "--help" };

async function main([given = "run", ...args]: string[]): Promise<number> {
  const asked = aliases[given] ?? given;
  const wantsHelp = asked !== "hook" && args.some((arg) => arg === "--help" || arg === "-h");
  const name = wantsHelp ? "--help" : asked;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb) return (await verb())(args);
  const what = given.startsWith("-") ? "flag" : "verb";
  const shown = JSON.stringify(given.slice(0, 100)).replace(/[\u007f-\u009f]/g, " ");
  process.stderr.write(`beckon: unknown ${what} ${shown}. See beckon --help.\n`);
  return 2;
}

const argv = process.argv.slice(2);
try {
  process.exitCode = await main(argv.filter((arg) => arg !== "--debug"));
} catch (error) {
  const debug = argv.includes("--debug") || process.env.BECKON_DEBUG;
  const failed = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`beckon: ${debug ? failed.stack : failed.message}\n`);
  const { exitCode = 1 } = failed as { exitCode?: number };
  // A hook that fails must never be seen by the agent.
  process.exitCode = argv[0] === "hook" ? 0 : exitCode;
}

export {};
