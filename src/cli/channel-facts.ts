/** What is known about the channels: what the files say, and what the running beckon reports. */
import { listVariables } from "../agents/index.ts";
import type { ReportedChannel } from "../app/channels.ts";
import { type CheckedChannel, checkAllChannels } from "../channels/index.ts";
import { type ChannelSecrets, readChannelSecrets } from "../channels/secrets.ts";
import type { ChannelSettings } from "../core/config/channels.ts";
import { readConfigFile } from "../storage/config-file.ts";
import type { Paths } from "../storage/paths.ts";
import { dropUntrustedSecrets } from "../system/app-environment.ts";
import type { Env } from "../system/folders.ts";
import { fetchList } from "./client.ts";

export interface KnownChannel {
  readonly name: string;
  readonly settings: ChannelSettings;
  readonly checked: CheckedChannel;
}

export interface KnownChannels {
  readonly channels: readonly KnownChannel[];
  readonly secrets: ChannelSecrets;
  /** What is wrong in config.json, and with the file of secrets. */
  readonly problems: readonly string[];
}

/** From the files, without the running beckon. */
export function readChannels(paths: Paths, env: Env = process.env): KnownChannels {
  const { config, problems } = readConfigFile(paths.config);
  const secrets = readChannelSecrets(paths, dropUntrustedSecrets(env, listVariables()));
  const results = checkAllChannels(config.channels, secrets);
  const channels = Object.entries(config.channels).map(([name, settings]) => ({
    name,
    settings,
    checked: results.get(name) ?? { problems: [] },
  }));
  const ofChannels = problems.filter(
    (problem) => problem.includes("channels") || !problem.startsWith("config.json:"),
  );
  return {
    channels,
    secrets,
    problems: [...ofChannels, ...(secrets.problem === null ? [] : [secrets.problem])],
  };
}

/** What the running beckon knows; null if it is not running. */
export const fetchChannelReports = (paths: Paths) =>
  fetchList<ReportedChannel>(paths, "/api/channels", "channels");
