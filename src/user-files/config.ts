/**
 * config.json as the settings panel and `beckon config` see it: which line sets what, what is wrong with it, and a change of several
 * settings in one save. core/config has the table of settings, config-edit.ts edits the text.
 */
import { createHash } from "node:crypto";
import { version as ownVersion } from "../../package.json";
import {
  type Config,
  findSetting,
  findValueMistakes,
  formatUnknownKey,
  readSetting,
  type Setting,
  settings,
} from "../core/config/config.ts";
import { createConfigTemplate } from "../core/config/config-template.ts";
import {
  formatSettingValue,
  type SettingChanges,
  type SettingSource,
  type SettingView,
} from "../core/config/setting-view.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { limits } from "../core/limits.ts";
import { readConfigFile } from "../storage/config-file.ts";
import { errorCode, readSmallFile } from "../storage/files.ts";
import { locateOffset } from "../storage/json-error.ts";
import { type MemberPath, removeMember, setMember } from "./config-edit.ts";
import { rewriteSettings } from "./index.ts";
import { findProperty, isBlank, type Json, parseSettings } from "./json-text.ts";

export interface ConfigState {
  /** Changes with the text. */
  readonly version: string;
  /** Why it can be neither used nor changed, such as a missing comma; null if it can. */
  readonly unusable: string | null;
  /** Everything that is wrong with it. */
  readonly problems: readonly string[];
  /** What the file says, with defaults for what it does not say or gets wrong. */
  readonly config: Config;
  /** By key: the line that sets it, and what is wrong with the value there. */
  readonly lines: ReadonlyMap<string, { readonly line: number; readonly mistake: string | null }>;
}

const pathOf = ({ group, name }: Setting): MemberPath => (group === null ? [name] : [group, name]);

const computeVersion = (text: string): string =>
  createHash("sha256")
    .update(text.replace(/^\ufeff/, ""))
    .digest("base64url")
    .slice(0, 22);

/** Never throws. No file counts as an empty one. */
export function inspectConfig(path: string): ConfigState {
  const { config, problems } = readConfigFile(path);
  const state = { version: "", unusable: null, problems, config, lines: new Map() };
  let text = "";
  try {
    text = readSmallFile(path, limits.maxSmallFileBytes);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { ...state, version: computeVersion("") };
    return { ...state, unusable: problems[0] ?? readErrorMessage(error) };
  }
  const version = computeVersion(text);
  try {
    return { ...state, version, lines: locateSettings(text) };
  } catch {
    return { ...state, version, unusable: problems[0] ?? `${path} is not valid JSON` };
  }
}

function locateSettings(text: string): ConfigState["lines"] {
  if (isBlank(text)) return new Map();
  const { body, root } = parseSettings(text);
  const located = settings.flatMap((setting) => {
    const container = setting.group === null ? root : findProperty(root, setting.group)?.value;
    const property = container ? findProperty(container, setting.name) : null;
    if (!property) return [];
    const { offset, length } = property.value;
    const [mistake = null] = findValueMistakes(setting, JSON.parse(body.slice(offset, offset + length)));
    return [[setting.key, { line: locateOffset(body, property.node.offset).line, mistake }] as const];
  });
  return new Map(located);
}

/** Every setting with its value in use and where that comes from. `env` is the environment of the running beckon. */
export function listSettings(
  { lines }: Pick<ConfigState, "lines">,
  inUse: Config,
  env: Readonly<Record<string, string | undefined>>,
): SettingView[] {
  return settings.map((setting) => {
    const { key, section, title, description, control, expected, variable, grants = null } = setting;
    const found = lines.get(key);
    const override = variable === undefined ? undefined : env[variable];
    const value = override || readSetting(inUse, setting);
    const source: SettingSource =
      variable !== undefined && override
        ? { kind: "environment", name: variable }
        : found
          ? { kind: "file", line: found.line }
          : { kind: "default" };
    const isHidden = control.kind === "file";
    return {
      key,
      section,
      title,
      description,
      control,
      expected,
      value: isHidden ? null : value,
      default: isHidden ? null : setting.default,
      shown: formatSettingValue(control, value),
      source,
      mistake: found?.mistake ?? null,
      grants,
    };
  });
}

/** What is wrong with the changes, by key. Empty if nothing is. */
export function findChangeMistakes({ set, reset }: SettingChanges): ReadonlyMap<string, string> {
  const mistakes = new Map<string, string>();
  for (const key of [...Object.keys(set), ...reset])
    if (!findSetting(key)) mistakes.set(key, formatUnknownKey(key));
  for (const [key, value] of Object.entries(set)) {
    const setting = findSetting(key);
    const [mistake] = setting ? findValueMistakes(setting, value) : [];
    if (mistake !== undefined) mistakes.set(key, mistake);
  }
  return mistakes;
}

export interface SaveOptions {
  readonly home: string;
  /** The version that the changes were made for. Without it, they are made whatever the file says. */
  readonly version?: string;
}

/**
 * Makes all changes in one save, or none. The changes must be valid. Throws an error for the user, and then has changed nothing.
 * "conflict": the file has another version.
 */
export async function saveSettings(
  path: string,
  changes: SettingChanges,
  { home, version }: SaveOptions,
): Promise<"saved" | "unchanged" | "conflict"> {
  let isConflict = false;
  const rewritten = await rewriteSettings(
    path,
    ({ text }) => {
      isConflict = version !== undefined && computeVersion(text ?? "") !== version;
      if (isConflict) return null;
      const changed = changeSettings(text ?? "", changes);
      return changed === text ? null : { text: changed };
    },
    { home },
  );
  if (isConflict) return "conflict";
  return rewritten === null ? "unchanged" : "saved";
}

/** The text of config.json with these changes, everything else byte for byte. An empty file gets the template first. */
export function changeSettings(text: string, { set, reset }: SettingChanges): string {
  const isEmpty = isBlank(text);
  const start = isEmpty ? createConfigTemplate(ownVersion) : text;
  // First what is new: a group that becomes empty in between would lose its layout.
  const afterSet = Object.entries(set).reduce((edited, [key, value]) => {
    const setting = findSetting(key);
    return setting ? setMember(edited, pathOf(setting), value as Json, { isCompact: true }) : edited;
  }, start);
  const changed = reset.reduce((edited, key) => {
    const setting = findSetting(key);
    return (setting && removeMember(edited, pathOf(setting))) ?? edited;
  }, afterSet);
  return isEmpty && changed === start ? text : changed;
}

/** Which of these changes the page may not make, by key: they give something to others (SECURITY.md). */
export function findPageGrants({ set, reset }: SettingChanges, inUse: Config): ReadonlyMap<string, string> {
  const wanted = [...Object.entries(set), ...reset.map((key) => [key, undefined] as const)];
  const refused = wanted.flatMap(([key, given]) => {
    const setting = findSetting(key);
    if (!setting) return [];
    const value = given === undefined ? setting.default : given;
    const isOn = setting.grants !== undefined && value === true && readSetting(inUse, setting) !== true;
    if (setting.control.kind !== "file" && !isOn) return [];
    const reason = setting.grants ?? "It has more parts than the page shows.";
    return [[key, `${key} is changed in config.json, or with beckon config. ${reason}`] as const];
  });
  return new Map(refused);
}
