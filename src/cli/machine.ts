/** `beckon machine`: lists, adds, tries and removes the other machines whose sessions are shown here. */
import {
  isMachineName,
  type MachineSettings,
  readMachine,
  wrongMachineName,
} from "../core/config/machines.ts";
import { quoteIfNeeded } from "../core/text/shell-quote.ts";
import { formatCount, formatList } from "../core/text/words.ts";
import { checkLink } from "../machines/check-link.ts";
import type { MachineReport } from "../machines/index.ts";
import { createLinkCommand } from "../machines/link-command.ts";
import { readConfigFile } from "../storage/config-file.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { formatLocalTime } from "../system/clock.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { deleteEntry, type EntryFields, writeEntry } from "../user-files/config-entries.ts";
import { parseArguments, quote, readSubcommand, usageError } from "./args.ts";
import { callApi } from "./client.ts";
import type { Callable } from "./command.ts";
import { machineAdd, machineCommand, machineList, machineRemove, machineTest } from "./commands/machine.ts";
import { createNoMachineError } from "./find-machine.ts";
import { formatColumns, formatJson, homeFolder, print, printLines } from "./output.ts";

const subcommands = { add: addMachine, list: listMachines, test: testMachine, remove: removeMachine };

export async function machine(args: string[]): Promise<number> {
  const called = readSubcommand(args, machineCommand);
  return subcommands[called.subcommand](called.args);
}

function readOne(rest: readonly string[], command: Callable, what: string): string {
  const [name, extra] = rest;
  if (name === undefined) throw usageError(`${command.name} takes ${what}`);
  if (extra !== undefined) throw usageError(`${command.name} got one argument too many: ${quote(extra)}`);
  return name;
}

async function addMachine(args: string[]): Promise<number> {
  const { rest, values, flags } = parseArguments(args, machineAdd);
  const host = readOne(rest, machineAdd, "the host to link, like devbox or me@10.0.0.7");
  const settings = readSettings(host, values);
  const name = values["--name"] ?? nameOf(host);
  if (!isMachineName(name)) throw usageError(`${quote(name)} ${wrongMachineName}: choose one with --name`);
  const argv = createLinkCommand(settings);
  printLines([`Linking ${name} with: ${argv.map(quoteIfNeeded).join(" ")}`]);
  if (flags.has("--dry-run")) return 0;
  if (!(await tryLink(name, argv))) return 1;
  const paths = resolvePaths();
  await writeEntry(paths.config, homeFolder(), "machines", name, settings as EntryFields);
  const next = readEndpoint(paths)
    ? "Its sessions are listed from now on: beckon status"
    : "Its sessions are listed when beckon runs: beckon start";
  printLines([`Saved ${name} in ${paths.config}. ${next}`]);
  return 0;
}

const nameOf = (host: string): string => host.replace(/^.*@/, "").replace(/[^\w.-]/g, "-");

const ways = ["container", "pod", "wsl", "command"] as const;

function readSettings(host: string, values: Readonly<Record<string, string | undefined>>): MachineSettings {
  const given = ways.filter((way) => values[`--${way}`] !== undefined);
  if (given.length > 1)
    throw usageError(
      `a machine is reached in one way, but got ${formatList(given.map((way) => `--${way}`))}`,
    );
  const [way = "ssh"] = given;
  const target = values[`--${way}`] ?? host;
  const program = values["--program"];
  const settings =
    way === "command"
      ? { command: ["sh", "-c", target] }
      : { [way]: target, ...(program === undefined ? {} : { program }) };
  const machine = readMachine(settings);
  if (!machine) throw usageError(`${quote(target)} cannot be linked: it must be a name, not an option`);
  return machine;
}

/** Returns whether it could be linked. */
async function tryLink(name: string, argv: readonly string[]): Promise<boolean> {
  const checked = await checkLink(name, argv);
  if (typeof checked === "string") {
    printLines([`${name} could not be linked: ${checked}`]);
    return false;
  }
  const { hello, sessions, tookMs } = checked;
  const count = sessions === 0 ? "no session" : formatCount(sessions, "session");
  printLines([`${name} runs beckon ${hello.version}, with ${count}. Linked in ${Math.round(tookMs)} ms.`]);
  return true;
}

function findMachine(paths: Paths, name: string): MachineSettings {
  const { machines } = readConfigFile(paths.config).config;
  const settings = Object.hasOwn(machines, name) ? machines[name] : undefined;
  if (settings) return settings;
  throw createNoMachineError(name, Object.keys(machines));
}

async function testMachine(args: string[]): Promise<number> {
  const name = readOne(parseArguments(args, machineTest).rest, machineTest, "the name of a machine");
  const settings = findMachine(resolvePaths(), name);
  return (await tryLink(name, createLinkCommand(settings))) ? 0 : 1;
}

async function removeMachine(args: string[]): Promise<number> {
  const name = readOne(parseArguments(args, machineRemove).rest, machineRemove, "the name of a machine");
  const paths = resolvePaths();
  findMachine(paths, name);
  await deleteEntry(paths.config, homeFolder(), "machines", name);
  printLines([`Removed ${name} from ${paths.config}. Nothing was changed on ${name} itself.`]);
  return 0;
}

async function fetchReports(paths: Paths): Promise<readonly MachineReport[] | null> {
  if (!readEndpoint(paths)) return null;
  const response = await callApi(paths, "/api/machines");
  if (typeof response === "string") return null;
  const { machines } = response.body;
  return Array.isArray(machines) ? machines : null;
}

async function listMachines(args: string[]): Promise<number> {
  const { flags } = parseArguments(args, machineList);
  const paths = resolvePaths();
  const names = Object.keys(readConfigFile(paths.config).config.machines);
  const reports = await fetchReports(paths);
  const rows = names.map((name) => reports?.find((report) => report.name === name) ?? { name });
  if (flags.has("--json")) {
    print(formatJson({ isRunning: reports !== null, machines: rows }, 2));
    return 0;
  }
  if (names.length === 0) {
    printLines(["No machine is linked. Add one: beckon machine add HOST"]);
    return 0;
  }
  const cells = rows.map((row) =>
    "state" in row ? formatRow(row) : [row.name, "", "", "beckon is not running"],
  );
  printLines(formatColumns([["NAME", "VERSION", "SESSIONS", "STATE"], ...cells]));
  return 0;
}

function formatRow({ name, state, problem, since, version, sessions }: MachineReport): readonly string[] {
  const now = Date.now();
  const when = since === null ? "" : ` since ${formatLocalTime(since, now)}`;
  const text = problem === null ? `${state}${when}` : `${state}${when}: ${problem}`;
  return [name, version ?? "", String(sessions), text];
}
