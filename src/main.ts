/** argv → verb. Nothing is imported before the verb needs it: the hook runs on every event of every agent. */

const verbs: Readonly<Record<string, () => Promise<(args: string[]) => Promise<number>>>> = {
  run: async () => (await import("./cli/run.ts")).run,
  hook: async () => (await import("./cli/hook.ts")).hook,
  status: async () => (await import("./cli/status.ts")).status,
  "--version": async () => (await import("./cli/version.ts")).version,
  "--help": async () => (await import("./cli/help.ts")).help,
};
const aliases: Readonly<Record<string, string>> = { "-v": "--version", "-h": "--help", help: "--help" };

async function main(argv: string[]): Promise<number> {
  const [given = "run", ...args] = argv;
  const name = aliases[given] ?? given;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb) return (await verb())(args);
  const what = given.startsWith("-") ? "flag" : "verb";
  process.stderr.write(
    `beckon: unknown ${what} ${JSON.stringify(given)}. Run beckon --help for what there is.\n`,
  );
  return 2;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const debug = process.argv.includes("--debug") || process.env.BECKON_DEBUG;
  const text = error instanceof Error ? (debug ? error.stack : error.message) : String(error);
  process.stderr.write(`beckon: ${text}\n`);
  // A hook that fails must never be seen by the agent.
  process.exitCode = process.argv[2] === "hook" ? 0 : 1;
}

export {};
