/** `beckon machine`: sets up, lists, tries, updates and removes the other machines whose sessions are shown here. */
import type { Agent } from "../agents/agent.ts";
import {
  describeWay,
  isMachineName,
  type MachineSettings,
  readMachine,
  wrongMachineName,
} from "../core/config/machines.ts";
import { formatList } from "../core/text/words.ts";
import type { MachineReport } from "../machines/index.ts";
import { formatCommandThere, hasShell } from "../machines/link-command.ts";
import { readConfigFile } from "../storage/config-file.ts";
import { resolvePaths } from "../storage/paths.ts";
import { formatLocalTime } from "../system/clock.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { deleteEntry, type EntryFields, writeEntry } from "../user-files/config-entries.ts";
import { parseArguments, quote, readSubcommand, usageError } from "./args.ts";
import type { Callable } from "./command.ts";
import {
  machineAdd,
  machineCommand,
  machineList,
  machineRemove,
  machineTest,
  machineUpdate,
} from "./commands/machine.ts";
import {
  fetchMachineReports,
  findMachine,
  listMachineNames,
  nameAgents,
  retryMachine,
} from "./machine-facts.ts";
import { type SetupChoices, setUpMachine } from "./machine-setup.ts";
import { tryMachine } from "./machine-test.ts";
import { formatColumns, formatJson, homeFolder, print, printLines } from "./output.ts";

const subcommands = {
  add: addMachine,
  list: listMachines,
  test: testMachine,
  update: updateMachine,
  remove: removeMachine,
};

export async function machine(args: string[], table: readonly Agent[]): Promise<number> {
  const called = readSubcommand(args, machineCommand);
  return subcommands[called.subcommand](called.args, table);
}

function readOne(rest: readonly string[], command: Callable, what: string): string {
  const [name, extra] = rest;
  if (name === undefined) throw usageError(`${command.name} takes ${what}`);
  if (extra !== undefined) throw usageError(`${command.name} got one argument too many: ${quote(extra)}`);
  return name;
}

const readName = (rest: readonly string[], command: Callable): string =>
  readOne(rest, command, "the name of a machine");

async function addMachine(args: string[], table: readonly Agent[]): Promise<number> {
  const { rest, values, flags } = parseArguments(args, machineAdd);
  const host = readOne(rest, machineAdd, "the host to link, like devbox or me@10.0.0.7");
  const settings = readSettings(host, values);
  const name = values["--name"] ?? nameOf(host);
  if (!isMachineName(name)) throw usageError(`${quote(name)} ${wrongMachineName}: choose one with --name`);
  const paths = resolvePaths();
  const { machines } = readConfigFile(paths.config).config;
  const known = Object.hasOwn(machines, name) ? machines[name] : undefined;
  if (known && !isSameTarget(known, settings))
    throw usageError(
      `${name} is another machine already (${formatTarget(known)}): choose another name with --name, or remove it first: beckon machine remove ${name}`,
    );
  const save = async (found: MachineSettings) => {
    await writeEntry(paths.config, homeFolder(), "machines", name, found as EntryFields);
    await retryMachine(paths, name);
    return `in ${paths.config}`;
  };
  const choices = readChoices(values, flags);
  if (!(await setUpMachine({ name, settings, table, save, ...choices }))) return 1;
  if (choices.isDryRun) return 0;
  const next = readEndpoint(paths)
    ? "Its sessions are listed from now on: beckon status"
    : "Its sessions are listed when beckon runs: beckon start";
  printLines(["", next]);
  return 0;
}

const formatTarget = (settings: MachineSettings): string => {
  const { way, target } = describeWay(settings);
  return target === null ? way : `${way} ${target}`;
};

const isSameTarget = (a: MachineSettings, b: MachineSettings): boolean =>
  "command" in a && "command" in b
    ? a.command.join("\0") === b.command.join("\0")
    : formatTarget(a) === formatTarget(b);

const readChoices = (values: { readonly "--binary"?: string }, flags: ReadonlySet<string>): SetupChoices => ({
  binary: values["--binary"] ?? null,
  isDryRun: flags.has("--dry-run"),
  isYes: flags.has("--yes"),
});

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
  if (!machine)
    throw usageError(
      `${quote(target)} cannot be linked: it must be one word that does not start with a dash`,
    );
  return machine;
}

async function updateMachine(args: string[], table: readonly Agent[]): Promise<number> {
  const { rest, values, flags } = parseArguments(args, machineUpdate);
  const paths = resolvePaths();
  const name = readName(rest, machineUpdate);
  const settings = findMachine(paths, name);
  if (!hasShell(settings))
    throw new Error(`${name} is linked with a command of yours: update the beckon there yourself`);
  const isDone = await setUpMachine({ name, settings, table, save: null, ...readChoices(values, flags) });
  if (isDone && !flags.has("--dry-run")) await retryMachine(paths, name);
  return isDone ? 0 : 1;
}

async function testMachine(args: string[]): Promise<number> {
  const paths = resolvePaths();
  const name = readName(parseArguments(args, machineTest).rest, machineTest);
  const settings = findMachine(paths, name);
  const tried = await tryMachine(name, settings);
  // The app does not try by itself again where only the user could change something.
  if (tried.isLinked) await retryMachine(paths, name);
  return tried.works ? 0 : 1;
}

async function removeMachine(args: string[]): Promise<number> {
  const paths = resolvePaths();
  const name = readName(parseArguments(args, machineRemove).rest, machineRemove);
  const settings = findMachine(paths, name);
  await deleteEntry(paths.config, homeFolder(), "machines", name);
  printLines([
    `Removed ${name} from ${paths.config}. Its sessions are not listed here any more.`,
    hasShell(settings)
      ? `beckon stays installed there. To remove it too: ${formatCommandThere(settings, "--uninstall")}`
      : "Nothing was changed there.",
  ]);
  return 0;
}

async function listMachines(args: string[], table: readonly Agent[]): Promise<number> {
  const { flags } = parseArguments(args, machineList);
  const paths = resolvePaths();
  const names = listMachineNames(paths);
  const reports = await fetchMachineReports(paths);
  const rows = names.map((name) => reports?.find((report) => report.name === name) ?? { name });
  if (flags.has("--json")) {
    print(formatJson({ isRunning: reports !== null, machines: rows }, 2));
    return 0;
  }
  if (names.length === 0) {
    printLines(["No machine is linked. Add one: beckon machine add HOST"]);
    return 0;
  }
  const isReport = (row: (typeof rows)[number]): row is MachineReport => "state" in row;
  const cells = rows.map((row) =>
    isReport(row) ? formatRow(row, table) : [row.name, "", "", "", "unknown: beckon is not running"],
  );
  const fixes = rows.filter(isReport).flatMap(({ name, fix }) => (fix === null ? [] : [`${name}: ${fix}`]));
  printLines([
    ...formatColumns([["NAME", "VERSION", "AGENTS", "SESSIONS", "STATE"], ...cells]),
    ...(fixes.length === 0 ? [] : ["", ...fixes]),
  ]);
  return 0;
}

function formatRow(
  { name, state, problem, since, version, agents, sessions }: MachineReport,
  table: readonly Agent[],
): readonly string[] {
  const when = since === null ? "" : ` since ${formatLocalTime(since, Date.now())}`;
  const text = problem === null ? `${state}${when}` : `${state}${when}: ${problem}`;
  const isLinked = state === "linked";
  const names = isLinked && agents.length === 0 ? "none" : nameAgents(agents, table).join(", ");
  return [name, version ?? "", names, isLinked || sessions > 0 ? String(sessions) : "", text];
}
