/** Every verb but the hook's (people know them as commands). */

type Verb = (args: string[]) => Promise<number>;

const verbs: Readonly<Record<string, () => Promise<Verb>>> = {
  run: async () => (await import("./run.ts")).run,
  status: async () => (await import("./status.ts")).status,
  focus: async () => (await import("./focus.ts")).focus,
  click: async () => (await import("./click.ts")).click,
  "--version": async () => (await import("./version.ts")).version,
  "--help": async () => (await import("./help.ts")).help,
};
const aliases: Readonly<Record<string, string>> = {
  "-v": "--version",
  version: "--version",
  "-h": "--help",
  help: "--help",
};

/** The exit code: 0, 1 where something failed, 2 for a call that makes no sense. Never throws. */
export async function main(argv: string[]): Promise<number> {
  try {
    return await call(argv.filter((arg) => arg !== "--debug"));
  } catch (error) {
    const failed = error instanceof Error ? error : new Error(String(error));
    const { exitCode = 1 } = failed as { exitCode?: number };
    const debug = exitCode === 1 && (argv.includes("--debug") || process.env.BECKON_DEBUG);
    process.stderr.write(`beckon: ${debug ? failed.stack : failed.message}\n`);
    return exitCode;
  }
}

async function call([given = "run", ...args]: string[]): Promise<number> {
  const wantsHelp = args.some((arg) => arg === "--help" || arg === "-h");
  const name = wantsHelp ? "--help" : (aliases[given] ?? given);
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb) return (await verb())(args);
  const what = given.startsWith("-") ? "flag" : "command";
  const shown = JSON.stringify(given.slice(0, 100)).replace(/[\u007f-\u009f]/g, " ");
  process.stderr.write(`beckon: unknown ${what} ${shown}. See beckon --help.\n`);
  return 2;
}
