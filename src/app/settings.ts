/** The settings panel: what it reads, and what it saves. Loaded when the panel is first opened. */
import { version } from "../../package.json";
import { createConfigTemplate } from "../core/config/config-template.ts";
import type { ChannelRow, SettingChanges, SettingsView } from "../core/config/setting-view.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { isRecord, type JsonRecord } from "../core/json.ts";
import { shortenHome } from "../core/text/paths.ts";
import { createConfigFile } from "../storage/config-file.ts";
import {
  findChangeMistakes,
  findPageGrants,
  inspectConfig,
  listSettings,
  saveSettings,
} from "../user-files/config.ts";
import type { Base } from "./base.ts";
import type { ReportedChannel } from "./channels.ts";

export interface SettingsOptions {
  readonly base: Pick<Base, "paths" | "home" | "env" | "config" | "configFile" | "log">;
  readonly channels: () => readonly ReportedChannel[];
  readonly port: () => number;
}

/** Everything the panel shows. It has no secret and no address of a channel: those are in files that it does not read. */
export function readSettings({ base, channels, port }: SettingsOptions): SettingsView {
  const { paths, home, env, config } = base;
  // What is in use and which line says so must be of one moment.
  base.configFile.refresh();
  const state = inspectConfig(paths.config);
  const settings = listSettings(state, config(), env);
  const named = new Set(settings.map(({ mistake }) => `config.json: ${mistake}`));
  return {
    path: shortenHome(paths.config, home),
    version: state.version,
    locked: state.unusable === null ? null : shortenHome(state.unusable, home),
    problems: state.unusable === null ? state.problems.filter((problem) => !named.has(problem)) : [],
    settings,
    channels: listChannelRows(base, channels()),
    about: [
      { name: "Version", value: version, source: null },
      { name: "Port", value: String(port()), source: env.BECKON_PORT ? "BECKON_PORT" : null },
      {
        name: "State folder",
        value: shortenHome(paths.state, home),
        source: env.BECKON_HOME ? "BECKON_HOME" : null,
      },
    ],
  };
}

function listChannelRows(
  { config }: Pick<Base, "config">,
  reports: readonly ReportedChannel[],
): readonly ChannelRow[] {
  return reports.map(({ name, service, problem, lastSentAt }) => {
    const { detail = "", answers = "" } = config().channels[name] ?? {};
    return { name, service, detail, answers, problem, lastSentAt };
  });
}

export interface SaveResult {
  readonly status: 200 | 400 | 403 | 409;
  readonly body: object;
}

const conflict = "config.json changed. Reload, or keep yours";

/** All changes or none. Never rejects. */
export async function savePageSettings(options: SettingsOptions, body: JsonRecord): Promise<SaveResult> {
  const { paths, home, config, log } = options.base;
  const changes = parseChanges(body);
  if (typeof changes === "string") return { status: 400, body: { error: changes } };
  const mistakes = findChangeMistakes(changes);
  if (mistakes.size > 0) return refuse(400, mistakes);
  const grants = findPageGrants(changes, config());
  if (grants.size > 0) return refuse(403, grants);
  try {
    const result = await saveSettings(paths.config, changes, { home, version: String(body.version) });
    if (result === "conflict")
      return { status: 409, body: { error: conflict, settings: readSettings(options) } };
    const keys = [...Object.keys(changes.set), ...changes.reset].join(", ");
    if (result === "saved") log("info", `changed on the page: ${keys}`);
    return { status: 200, body: { ok: true, settings: readSettings(options) } };
  } catch (error) {
    return { status: 400, body: { error: readErrorMessage(error) } };
  }
}

const refuse = (status: 400 | 403, mistakes: ReadonlyMap<string, string>): SaveResult => ({
  status,
  body: { error: [...mistakes.values()].join(". "), mistakes: Object.fromEntries(mistakes) },
});

/** Returns a text if the body is not a save. */
function parseChanges({ version: seen, set = {}, reset = [] }: JsonRecord): SettingChanges | string {
  if (typeof seen !== "string") return "version must be that of the settings that were read";
  if (!isRecord(set)) return 'set must be an object like {"alerts.sound": false}';
  if (!Array.isArray(reset) || !reset.every((key) => typeof key === "string"))
    return 'reset must be a list like ["alerts.sound"]';
  return { set, reset };
}

/** Creates config.json if there is none, and opens it. Resolves with null, or with the reason why it could not. */
export async function openConfigFile(
  path: string,
  openFile: (path: string) => Promise<string | null>,
): Promise<string | null> {
  return createConfigFile(path, createConfigTemplate(version)) ?? (await openFile(path));
}
