/** Every verb but the hook's (people know them as commands). */

type Verb = (args: string[]) => Promise<number>;

const verbs: Readonly<Record<string, () => Promise<Verb>>> = {
  run: async () => (await import("./run.ts")).run,
  start: async () => (await import("./start.ts")).start,
  status: async () => (await import("./status.ts")).status,
  focus: async () => (await import("./focus.ts")).focus,
  answer: async () => (await import("./answer.ts")).answer,
  log: async () => (await import("./log.ts")).log,
  stop: async () => (await import("./stop.ts")).stop,
  doctor: async () => (await import("./doctor.ts")).doctor,
  "--install": async () => (await import("./install.ts")).install,
  "--uninstall": async () => (await import("./uninstall.ts")).uninstall,
  click: async () => (await import("./click.ts")).click,
  "--version": async () => (await import("./version.ts")).version,
  "--help": async () => (await import("./help.ts")).help,
};
const aliases: Readonly<Record<string, string>> = {
  "-v": "--version",
  version: "--version",
  "-h": "--help",
  help: "--help",
  install: "--install",
  uninstall: "--uninstall",
};

const wordsOnly: ReadonlySet<string> = new Set(["--help", "--version"]);

/** The app and the hooks run in other folders than this command: of a relative path each would make another. */
function checkHome(home: string | undefined): void {
  if (!home || process.getBuiltinModule("node:path").isAbsolute(home)) return;
  const text = `BECKON_HOME is ${JSON.stringify(home.slice(0, 200))}: give it as an absolute path`;
  throw Object.assign(new Error(text), { exitCode: 2 });
}

/** The exit code: 0, 1 where something failed, 2 for a call that makes no sense. Never throws. */
export async function main(argv: string[]): Promise<number> {
  try {
    const end = argv.indexOf("--");
    return await call(argv.filter((arg, n) => arg !== "--debug" || (end >= 0 && n > end)));
  } catch (error) {
    const failed = error instanceof Error ? error : new Error(String(error));
    const { exitCode = 1 } = failed as { exitCode?: number };
    const debug = exitCode === 1 && (argv.includes("--debug") || process.env.BECKON_DEBUG);
    // Names of files and what stands in them may be a stranger's.
    const { formatLine } = await import("./output.ts");
    const lines = String(debug ? failed.stack : failed.message).split("\n");
    const text = lines.map(formatLine).join("\n");
    process.stderr.write(text.startsWith("beckon ") ? `${text}\n` : `beckon: ${text}\n`);
    return exitCode;
  }
}

async function call([given = "run", ...args]: string[]): Promise<number> {
  const end = args.indexOf("--");
  const flags = end < 0 ? args : args.slice(0, end);
  const wantsHelp = flags.some((arg) => arg === "--help" || arg === "-h");
  const name = wantsHelp ? "--help" : (aliases[given] ?? given);
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb && !wordsOnly.has(name)) checkHome(process.env.BECKON_HOME);
  if (verb) return (await verb())(args);
  const what = given.startsWith("-") ? "option" : "command";
  const shown = JSON.stringify(given.slice(0, 100)).replace(/[\u007f-\u009f]/g, " ");
  const { findClosest } = await import("../core/text/closest.ts");
  const like = findClosest(given, what === "option" ? flagsForPeople : commandsForPeople);
  const hint = like === null ? "." : `: did you mean ${like}?`;
  process.stderr.write(`beckon: unknown ${what} ${shown}${hint} See beckon --help.\n`);
  return 2;
}

const flagsForPeople = ["--install", "--uninstall", "--version", "--help"];
const commandsForPeople = "start status focus answer log stop doctor install uninstall version help".split(
  " ",
);
