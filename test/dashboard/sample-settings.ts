/** The real settings of an invented user: a config.json in a folder of its own, and channels that are not there. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { SettingsRequests } from "../../src/api/server.ts";
import type { ReportedChannel } from "../../src/app/channels.ts";
import { readSettings, type SettingsOptions, savePageSettings } from "../../src/app/settings.ts";
import { watchConfig } from "../../src/storage/config-file.ts";
import { resolvePaths } from "../../src/storage/paths.ts";

export interface SampleSettings extends SettingsRequests {
  readonly path: string;
  destroy(): void;
}

const sampleConfig = `{
  "// mine": "kept with my dotfiles",
  "alerts": { "finished": true, "presentSeconds": 60 },

  "quietHours": { "from": "22:00", "to": "08:00" },
  "mutedProjects": ["playground", "dotfiles"],
  "answering": {
    "autoAllow": { "/home/dev/checkout-api": ["Read", "Bash(ls *)"] }
  },
  "channels": {
    "phone": { "type": "ntfy", "topic": "nobody-guesses-this", "detail": "minimal" },
    "team-chat": { "type": "slack", "answers": "safe", "detail": "full" }
  }
}
`;

/** `now` is the wall time of the pictures. */
export function createSampleSettings(now: number, text = sampleConfig): SampleSettings {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "beckon-settings-")));
  const env = { HOME: home, BECKON_STREAM_PATH: "/home/dev/lifecycle.jsonl" };
  const paths = resolvePaths({ HOME: home });
  mkdirSync(dirname(paths.config), { recursive: true });
  writeFileSync(paths.config, text);
  const configFile = watchConfig(paths.config);
  const report = { isAnswering: false, testedBy: null };
  const channels: readonly ReportedChannel[] = [
    { ...report, name: "phone", type: "ntfy", service: "ntfy", problem: null, lastSentAt: now - 600_000 },
    {
      ...report,
      name: "team-chat",
      type: "slack",
      service: "Slack",
      problem: "the token is not valid any more",
      lastSentAt: null,
    },
  ];
  const options: SettingsOptions = {
    base: { paths, home, env, config: configFile.config, configFile, log: () => {} },
    channels: () => channels,
    port: () => 4488,
  };
  return {
    path: paths.config,
    read: async () => readSettings(options),
    save: (body) => savePageSettings(options, body),
    open: async () => null,
    destroy() {
      configFile.stop();
      rmSync(home, { recursive: true });
    },
  };
}
