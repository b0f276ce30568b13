/**
 * The command line: one command per file, found by name in the table below. `beckon hook` is not here, because it must start
 * without this table. Commands print through output.ts, read their arguments with args.ts and talk to the running beckon with
 * client.ts.
 */

import type { Agent } from "../agents/agent.ts";
import { agents } from "../agents/index.ts";

type Command = (args: string[], table: readonly Agent[]) => Promise<number>;

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import("./run.ts")).run,
  start: async () => (await import("./start.ts")).start,
  restart: async () => (await import("./restart.ts")).restart,
  stop: async () => (await import("./stop.ts")).stop,
  status: async () => (await import("./status.ts")).status,
  demo: async () => (await import("./demo.ts")).demo,
  open: async () => (await import("./open.ts")).open,
  focus: async () => (await import("./focus.ts")).focus,
  answer: async () => (await import("./answer.ts")).answer,
  mute: async () => (await import("./silence.ts")).mute,
  snooze: async () => (await import("./silence.ts")).snooze,
  dismiss: async () => (await import("./silence.ts")).dismiss,
  quiet: async () => (await import("./quiet.ts")).quiet,
  channel: async () => (await import("./channel.ts")).channel,
  log: async () => (await import("./log.ts")).log,
  history: async () => (await import("./history.ts")).history,
  stats: async () => (await import("./stats.ts")).stats,
  port: async () => (await import("./port.ts")).port,
  doctor: async () => (await import("./doctor.ts")).doctor,
  "--install": async () => (await import("./install.ts")).install,
  "--uninstall": async () => (await import("./uninstall.ts")).uninstall,
  click: async () => (await import("./click.ts")).click,
  "--version": async () => (await import("./help.ts")).version,
};
const aliases: Readonly<Record<string, string>> = {
  "-v": "--version",
  version: "--version",
  "-h": "--help",
  help: "--help",
  install: "--install",
  uninstall: "--uninstall",
};

/** What people type for a command with another name. */
const otherNames: Readonly<Record<string, string>> = {
  watch: "status --watch",
  "--watch": "status --watch",
  dashboard: "open",
  list: "status",
  ls: "status",
  setup: "--install",
};

/** What a typo is compared with. */
const knownOptions = ["--install", "--uninstall", "--version", "--help"];
const knownCommands =
  "start restart stop status open focus answer mute snooze dismiss quiet channel log history stats port doctor install uninstall version help".split(
    " ",
  );

/** Returns the exit code: 0, 1 if the command failed, 2 for a usage error. Never throws. */
export async function main(argv: string[], table: readonly Agent[] = agents): Promise<number> {
  const end = argv.indexOf("--");
  const isDebug = argv.some((arg, n) => arg === "--debug" && (end < 0 || n < end));
  const args = argv.filter((arg, n) => arg !== "--debug" || (end >= 0 && n > end));
  try {
    return await runCommand(args, table);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const { exitCode = 1, isUsage = false } = error as { exitCode?: number; isUsage?: boolean };
    const hasStack = exitCode === 1 && (isDebug || process.env.BECKON_DEBUG);
    const { formatLine } = await import("./output.ts");
    const more = isUsage ? ` See ${findHelp(args[0])}.` : "";
    const lines = `${hasStack ? error.stack : error.message}${more}`.split("\n");
    // The names and contents of files in the message can be anything.
    const text = lines.map(formatLine).join("\n");
    process.stderr.write(text.startsWith("beckon ") ? `${text}\n` : `beckon: ${text}\n`);
    return exitCode;
  }
}

async function runCommand([first = "run", ...args]: string[], table: readonly Agent[]): Promise<number> {
  const name = resolveAlias(first);
  const end = args.indexOf("--");
  const options = end < 0 ? args : args.slice(0, end);
  if (name === "--help")
    return help(
      args.filter((arg) => !isHelpOption(arg)),
      table,
    );
  if (options.some(isHelpOption)) return help([first], table);
  if (changesSystem.has(first)) throw await unknownCommand(first);
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) throw await unknownCommand(first);
  if (name !== "--version") checkHome(process.env.BECKON_HOME);
  return (await load())(args, table);
}

/** Known to `help`. They change the system, so only the documented options run them. */
const changesSystem: ReadonlySet<string> = new Set(["install", "uninstall"]);

const resolveAlias = (name: string): string => (Object.hasOwn(aliases, name) ? aliases[name] : null) ?? name;

const isHelpOption = (arg: string): boolean => arg === "--help" || arg === "-h";

async function help([command, ...others]: readonly string[], table: readonly Agent[]): Promise<number> {
  const [{ printHelp }, { usageError }] = await Promise.all([import("./help.ts"), import("./args.ts")]);
  if (others.length > 0) throw usageError("help takes one command");
  const isKnown = printHelp(command === undefined ? null : resolveAlias(command), table);
  if (!isKnown && command !== undefined) throw await unknownCommand(command);
  return 0;
}

/** The command that prints how to call this one. */
function findHelp(command: string | undefined): string {
  const isKnown = command !== undefined && Object.hasOwn(commands, resolveAlias(command));
  return isKnown ? `beckon help ${command.replace(/^-+/, "")}` : "beckon --help";
}

/** The app and the hooks run in other folders than this command, so a relative path would mean other places there. */
function checkHome(home: string | undefined): void {
  if (!home || process.getBuiltinModule("node:path").isAbsolute(home)) return;
  const text = `BECKON_HOME must be an absolute path, but is ${JSON.stringify(home.slice(0, 200))}`;
  throw Object.assign(new Error(text), { exitCode: 2 });
}

async function unknownCommand(name: string): Promise<Error> {
  const [{ quote, usageError }, { findClosest }] = await Promise.all([
    import("./args.ts"),
    import("../core/text/closest.ts"),
  ]);
  const isOption = name.startsWith("-");
  const similar = findClosest(name, isOption ? knownOptions : knownCommands);
  const text = `unknown ${isOption ? "option" : "command"} ${quote(name)}`;
  const meant = Object.hasOwn(otherNames, name) ? otherNames[name] : similar && resolveAlias(similar);
  return usageError(meant ? `${text}: did you mean ${meant}?` : text);
}
