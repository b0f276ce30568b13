/** `beckon config`: shows, changes and checks the settings in config.json. It works whether beckon is running or not. */
import { version } from "../../package.json";
import {
  findSetting,
  findValueMistakes,
  formatUnknownKey,
  isAllowed,
  readSetting,
  type Setting,
  settings,
} from "../core/config/config.ts";
import { createConfigTemplate } from "../core/config/config-template.ts";
import {
  type Control,
  formatSettingValue,
  type SectionId,
  type SettingChanges,
  type SettingView,
  sections,
} from "../core/config/setting-view.ts";
import { parseJson } from "../core/json.ts";
import { createConfigFile } from "../storage/config-file.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { type ConfigState, inspectConfig, listSettings, saveSettings } from "../user-files/config.ts";
import { parseArguments, quote, readSubcommand, usageError } from "./args.ts";
import type { Callable } from "./command.ts";
import {
  configCommand,
  configEdit,
  configGet,
  configList,
  configReset,
  configSet,
} from "./commands/config.ts";
import {
  bold,
  dim,
  findWidest,
  formatJson,
  hasColour,
  homeFolder,
  padText,
  paint,
  print,
  printLines,
} from "./output.ts";

const subcommands = { list, get, set, reset, edit };

export async function config(args: string[]): Promise<number> {
  const called = readSubcommand(args, configCommand);
  return subcommands[called.subcommand](called.args);
}

/** The settings as the file has them. Only the running beckon knows its own environment, so this command's counts here. */
function readState(paths: Paths): ConfigState & { readonly views: readonly SettingView[] } {
  const state = inspectConfig(paths.config);
  return { ...state, views: listSettings(state, state.config, process.env) };
}

async function list(args: string[]): Promise<number> {
  const { flags } = parseArguments(args, configList);
  const paths = resolvePaths();
  const state = readState(paths);
  if (flags.has("--json")) {
    const rows = state.views.map((view) => toJson(view, state));
    print(formatJson({ path: paths.config, problems: state.problems, settings: rows }, 2));
    return 0;
  }
  const widths = { key: findWidest(settings.map(({ key }) => key)), value: valueColumns };
  const lines = Object.entries(sections).flatMap(([id, { title }]) => {
    const own = state.views.filter(({ section }) => section === (id as SectionId));
    return [paint(title, bold, { colour: hasColour() }), ...own.map((view) => formatRow(view, widths)), ""];
  });
  print(lines.map((line) => `${line.trimEnd()}\n`).join(""));
  printLines([
    ...state.problems,
    `The file is ${paths.config}. To change a setting: beckon config set KEY VALUE`,
  ]);
  return 0;
}

const valueColumns = 28;

/** A choice as it is typed: `beckon config set workGuard.mode warn`. */
const formatTyped = (
  control: SettingView["control"],
  value: unknown,
  shown = formatSettingValue(control, value),
): string => (control.kind === "choice" ? String(value) : shown);

/** What differs from the default stands out. */
function formatRow(view: SettingView, widths: { readonly key: number; readonly value: number }): string {
  const colour = hasColour();
  const { key, control, source } = view;
  const shown = formatTyped(control, view.value, view.shown);
  const from =
    source.kind === "default"
      ? paint("default", dim, { colour })
      : source.kind === "file"
        ? `config.json, line ${source.line}`
        : source.name;
  const wrong = view.mistake === null ? "" : " (a mistake: not in use)";
  return `  ${padText(key, widths.key)}  ${padText(shown, widths.value)}  ${from}${wrong}`;
}

function toJson(view: SettingView, { config: inFile }: ConfigState): object {
  const { key, title, description, source, mistake } = view;
  const setting = requireSetting(key);
  // This is the user's own terminal: nothing is left out.
  const value = source.kind === "environment" ? view.shown : readSetting(inFile, setting);
  return { key, title, description, value, default: setting.default, source, mistake };
}

function requireSetting(key: string): Setting {
  const setting = findSetting(key);
  if (setting) return setting;
  const group = settings.filter((one) => one.group === key).map((one) => one.key);
  if (group.length > 0) throw usageError(`${key} is a group of settings: ${group.join(", ")}`);
  throw usageError(formatUnknownKey(key, "run beckon config list"));
}

function readKey(
  rest: readonly string[],
  command: Callable,
): { setting: Setting; values: readonly string[] } {
  const [key, ...values] = rest;
  if (key === undefined) throw usageError(`${command.name} takes the key of a setting, like alerts.sound`);
  return { setting: requireSetting(key), values };
}

function readOnlyKey(rest: readonly string[], command: Callable): Setting {
  const { setting, values } = readKey(rest, command);
  if (values[0] !== undefined)
    throw usageError(`${command.name} got one argument too many: ${quote(values[0])}`);
  return setting;
}

async function get(args: string[]): Promise<number> {
  const { flags, rest } = parseArguments(args, configGet);
  const setting = readOnlyKey(rest, configGet);
  const state = readState(resolvePaths());
  const view = state.views.find(({ key }) => key === setting.key);
  if (!view) throw new Error(`${setting.key} has no value`);
  if (flags.has("--json")) print(formatJson(toJson(view, state), 2));
  else print(`${formatPlain(setting, state, view)}\n`);
  return 0;
}

/** For scripts: a text as it is, anything else as JSON. */
function formatPlain(setting: Setting, { config: inFile }: ConfigState, view: SettingView): string {
  const value = view.source.kind === "environment" ? view.shown : readSetting(inFile, setting);
  return typeof value === "string" ? formatJson(value).trimEnd().slice(1, -1) : formatJson(value).trimEnd();
}

async function set(args: string[]): Promise<number> {
  // A negative number is a value, and not an option.
  const { flags, rest } = parseArguments(protectNumbers(args), configSet);
  const { setting, values } = readKey(rest, configSet);
  if (values.length === 0)
    throw usageError(`config set ${setting.key} needs a value: ${describeTyped(setting)}`);
  const value = parseValue(setting.control, values);
  const mistake = findTypedMistake(setting, value, values);
  const paths = resolvePaths();
  if (mistake !== undefined) {
    const inUse = formatTyped(setting.control, readSetting(inspectConfig(paths.config).config, setting));
    throw usageError(`${mistake}. Nothing was changed: ${inUse} stays in use`);
  }
  return change(setting, { set: { [setting.key]: value }, reset: [] }, paths, flags.has("--json"));
}

const protectNumbers = (args: readonly string[]): string[] => {
  const at = args.findIndex((arg) => /^-\d/.test(arg));
  return at < 0 ? [...args] : [...args.slice(0, at), "--", ...args.slice(at)];
};

async function reset(args: string[]): Promise<number> {
  const { flags, rest } = parseArguments(args, configReset);
  const setting = readOnlyKey(rest, configReset);
  return change(setting, { set: {}, reset: [setting.key] }, resolvePaths(), flags.has("--json"));
}

async function change(
  setting: Setting,
  changes: SettingChanges,
  paths: Paths,
  isJson: boolean,
): Promise<number> {
  const result = await saveSettings(paths.config, changes, { home: homeFolder() });
  const state = readState(paths);
  const view = state.views.find(({ key }) => key === setting.key);
  if (isJson) {
    print(formatJson({ changed: result === "saved", ...(view ? toJson(view, state) : {}) }, 2));
    return 0;
  }
  const shown = formatTyped(setting.control, readSetting(state.config, setting));
  const isDefault = changes.reset.length > 0 ? ", the default" : "";
  printLines([
    result === "saved"
      ? `${setting.key} is now ${shown}${isDefault}.`
      : `${setting.key} is ${shown} already.`,
    ...(view?.source.kind === "environment"
      ? [`${view.source.name} is stronger: ${view.shown} stays in use.`]
      : []),
    ...(result === "saved" && !readEndpoint(paths)
      ? ["beckon is not running. It uses this from its next start."]
      : []),
    // While the file has a mistake, a running beckon keeps what it had.
    ...state.problems,
  ]);
  return 0;
}

/** What may be typed. config.json has other forms of the same values. */
function describeTyped({ control, expected }: Setting): string {
  switch (control.kind) {
    case "switch":
      return "on or off";
    case "choice":
      return `one of ${Object.keys(control.labels).join(", ")}`;
    case "hours":
      return "two different times of day like 22:00-08:00, or none";
    default:
      return expected;
  }
}

function findTypedMistake(setting: Setting, value: unknown, typed: readonly string[]): string | undefined {
  const described = describeTyped(setting);
  return described === setting.expected || isAllowed(setting, value)
    ? findValueMistakes(setting, value)[0]
    : `${setting.key} must be ${described}, not ${quote(typed.join(" "))}`;
}

const words: Readonly<Record<string, boolean>> = {
  on: true,
  true: true,
  yes: true,
  off: false,
  false: false,
  no: false,
};

/** What the user typed. A value that does not fit stays a text, so that the check names it. */
export function parseValue(control: Control, typed: readonly string[]): unknown {
  const text = typed.join(" ").trim();
  const parsed = parseJson(text);
  switch (control.kind) {
    case "switch":
      return words[text.toLowerCase()] ?? text;
    case "number":
      return control.isOptional && text === "none" ? null : (parsed ?? text);
    case "choice":
      return text;
    case "hours": {
      if (text === "none" || text === "off" || text === "null") return null;
      const [, from, to] = /^(\d\d?:\d\d)\s*(?:-|–|to)\s*(\d\d?:\d\d)$/.exec(text) ?? [];
      const pad = (time: string) => time.padStart(5, "0");
      return from !== undefined && to !== undefined ? { from: pad(from), to: pad(to) } : (parsed ?? text);
    }
    case "list":
      if (text === "none") return [];
      return Array.isArray(parsed) ? parsed : typed.flatMap((word) => word.split(",")).filter(Boolean);
    case "retention":
    case "file":
      return text === "null" || text === "none" ? null : (parsed ?? text);
    default:
      return control satisfies never;
  }
}

async function edit(args: string[]): Promise<number> {
  parseArguments(args, configEdit);
  const { config: path } = resolvePaths();
  const problem = createConfigFile(path, createConfigTemplate(version));
  if (problem !== null) throw new Error(problem);
  const editor = process.env.VISUAL || process.env.EDITOR;
  if (!editor) throw new Error(`no editor is set. Set EDITOR, or open ${path} yourself`);
  const code = await runEditor(editor, path);
  if (code !== 0) throw new Error(`${quote(editor)} ended with ${code}. The settings are in ${path}`);
  const { problems } = inspectConfig(path);
  printLines(
    problems.length === 0
      ? ["The settings are valid."]
      : [...problems, "The last valid settings stay in use. To fix it: beckon config edit"],
  );
  return problems.length === 0 ? 0 : 1;
}

/** `code --wait` has an argument, as every program that starts an editor allows. The path is never part of a command line of a shell. */
async function runEditor(editor: string, path: string): Promise<number> {
  const command = [...editor.split(/\s+/).filter(Boolean), path];
  try {
    const child = Bun.spawn(command, { stdin: "inherit", stdout: "inherit", stderr: "inherit" });
    return await child.exited;
  } catch (cause) {
    throw new Error(`${quote(editor)} could not be started. Set EDITOR to your editor`, { cause });
  }
}
