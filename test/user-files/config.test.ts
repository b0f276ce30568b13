/** config.json is read with its lines, and changed in one save that leaves everything else byte for byte. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { version } from "../../package.json";
import { defaultConfig, parseConfig, readSetting, settings } from "../../src/core/config/config.ts";
import { createConfigTemplate } from "../../src/core/config/config-template.ts";
import {
  changeSettings,
  findChangeMistakes,
  findPageGrants,
  inspectConfig,
  listSettings,
  saveSettings,
} from "../../src/user-files/config.ts";

let home: string;
let path: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "beckon-config-")));
  path = join(home, "config.json");
});
afterEach(() => rmSync(home, { recursive: true }));

const mine = `{
  // this is not JSON
}`;
const config = `{ "// why": "so",
  "alerts": {
     "sound"  : false,   "failed": "yes"
  },

  "quietHours": null }
`;

describe("reading", () => {
  test("names the line of each setting, what is wrong there, and where the others come from", () => {
    writeFileSync(path, config);
    const state = inspectConfig(path);
    const views = listSettings(state, state.config, { BECKON_STREAM_PATH: "/tmp/stream" });
    const pick = (key: string) => {
      const { value, default: fallback, source, mistake } = views.find((view) => view.key === key) ?? {};
      return { value, default: fallback, source, mistake };
    };
    expect(views).toHaveLength(settings.length);
    expect(pick("alerts.sound")).toEqual({
      value: false,
      default: true,
      source: { kind: "file", line: 3 },
      mistake: null,
    });
    expect(pick("alerts.failed")).toEqual({
      value: true,
      default: true,
      source: { kind: "file", line: 3 },
      mistake: 'alerts.failed must be true or false, not "yes"',
    });
    expect(pick("quietHours").source).toEqual({ kind: "file", line: 6 });
    expect(pick("alerts.blocked").source).toEqual({ kind: "default" });
    expect(pick("stream.path").source).toEqual({ kind: "environment", name: "BECKON_STREAM_PATH" });
  });

  test("a setting with parts is named by their number only: they can contain what nobody else may read", () => {
    writeFileSync(path, JSON.stringify({ channels: { phone: { type: "ntfy", topic: "secret-topic" } } }));
    const state = inspectConfig(path);
    const views = listSettings(state, state.config, {});
    expect(JSON.stringify(views)).not.toContain("secret-topic");
    expect(views.find(({ key }) => key === "channels")?.shown).toBe("1 channel");
  });

  test("a file that is not JSON is unusable, and no file is an empty one", () => {
    expect(inspectConfig(path)).toMatchObject({ unusable: null, problems: [], config: defaultConfig });
    writeFileSync(path, mine);
    expect(inspectConfig(path).unusable).toContain("line 2, column 3");
    expect(inspectConfig(path).lines.size).toBe(0);
  });
});

describe("changing", () => {
  test("replaces a value in its place, adds one to its group, and removes one", () => {
    const changes = {
      set: { "alerts.sound": true, "alerts.longTurnMinutes": 9, mutedProjects: ["a b", "c"] },
      reset: ["quietHours", "keep.journalDays"],
    };
    expect(changeSettings(config, changes)).toBe(`{ "// why": "so",
  "alerts": {
     "sound"  : true,   "failed": "yes",   "longTurnMinutes": 9
  },
  "mutedProjects": ["a b", "c"] }
`);
  });

  test("puts a setting behind its comment, and what is reset is gone without a trace", () => {
    const template = createConfigTemplate(version);
    const set = { "alerts.sound": false, quietHours: { from: "22:00", to: "08:00" } };
    const changed = changeSettings("", { set, reset: [] });
    expect(changed).toContain('"//sound": true,\n    "sound": false,\n\n');
    expect(changed).toContain('"quietHours": { "from": "22:00", "to": "08:00" },\n\n');
    expect(changeSettings(changed, { set: {}, reset: Object.keys(set) })).toBe(template);
  });

  test("for any file and any changes, the others stay as they were", () => {
    const flags = settings.filter(({ control }) => control.kind === "switch").map(({ key }) => key);
    const changes = fc.record({
      set: fc.dictionary(fc.constantFrom(...flags), fc.boolean()),
      reset: fc.subarray(["quietHours", "alerts.graceMs", "mutedProjects"]),
    });
    const file = fc.record(
      {
        alerts: fc.record({ sound: fc.boolean(), graceMs: fc.constant(5) }, { requiredKeys: [] }),
        quietHours: fc.constant(null),
        mutedProjects: fc.array(fc.string({ minLength: 1, maxLength: 5 })),
        "// mine": fc.jsonValue({ maxDepth: 1 }),
        unknown: fc.jsonValue({ maxDepth: 2 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(file, changes, fc.constantFrom(undefined, 2, "\t"), (before, change, indent) => {
        const text = JSON.stringify(before, null, indent);
        const after = JSON.parse(changeSettings(text, change));
        const { config: from } = parseConfig(before);
        const { config: to } = parseConfig(after);
        for (const setting of settings) {
          const expected = change.reset.includes(setting.key)
            ? setting.default
            : (change.set[setting.key] ?? readSetting(from, setting));
          expect(readSetting(to, setting)).toEqual(expected);
        }
        expect(after["// mine"]).toEqual(JSON.parse(text)["// mine"]);
        expect(after.unknown).toEqual(JSON.parse(text).unknown);
      }),
      { numRuns: 200 },
    );
  });

  test("names what is wrong with a change, by key", () => {
    const changes = { set: { "alerts.sound": "no", "alerts.graceMs": 5 }, reset: ["alert.sound"] };
    expect(Object.fromEntries(findChangeMistakes(changes))).toEqual({
      "alert.sound": "alert.sound is not a setting: did you mean alerts.sound?",
      "alerts.sound": 'alerts.sound must be true or false, not "no"',
    });
  });
});

describe("saving", () => {
  test("all changes in one save; the file's mode and its links stay", async () => {
    writeFileSync(path, config);
    const { version: seen } = inspectConfig(path);
    const changes = { set: { "alerts.sound": true }, reset: ["quietHours"] };
    expect(await saveSettings(path, changes, { home, version: seen })).toBe("saved");
    expect(readFileSync(path, "utf8")).toBe(changeSettings(config, changes));
    expect(await saveSettings(path, changes, { home })).toBe("unchanged");
  });

  test("a file that changed meanwhile is a conflict, and stays as it is", async () => {
    writeFileSync(path, config);
    const { version: seen } = inspectConfig(path);
    writeFileSync(path, "{}");
    const changes = { set: { "alerts.sound": true }, reset: [] };
    expect(await saveSettings(path, changes, { home, version: seen })).toBe("conflict");
    expect(readFileSync(path, "utf8")).toBe("{}");
  });

  test("a byte order mark is not a conflict, and stays", async () => {
    writeFileSync(path, '\ufeff{"autoLaunch": true}');
    const { version: seen } = inspectConfig(path);
    await saveSettings(path, { set: { autoLaunch: false }, reset: [] }, { home, version: seen });
    expect(readFileSync(path, "utf8")).toBe('\ufeff{"autoLaunch": false}');
  });

  test("a file that is not JSON is refused, and stays as it is", async () => {
    writeFileSync(path, mine);
    const save = saveSettings(path, { set: { autoLaunch: false }, reset: [] }, { home });
    await expect(save).rejects.toThrow("line 2, column 3");
    expect(readFileSync(path, "utf8")).toBe(mine);
  });
});

describe("what the page may not change", () => {
  const off = parseConfig({ answering: { enabled: false } }).config;
  test.each<[string, unknown]>([
    ["answering.autoAllow", { "/home/me": ["Read"] }],
    ["channels", { phone: { type: "ntfy", topic: "t" } }],
    ["stream.path", "/home/me/.bashrc"],
    ["allowRemoteUrl", true],
    ["workGuard.projects", {}],
  ])("%s", (key, value) => {
    expect([...findPageGrants({ set: { [key]: value }, reset: [] }, defaultConfig).keys()]).toEqual([key]);
  });
  test("answers from elsewhere: not on, not back to the default, but off", () => {
    const turnOn = { set: { "answering.enabled": true }, reset: [] };
    expect(findPageGrants(turnOn, off).size).toBe(1);
    expect(findPageGrants({ set: {}, reset: ["answering.enabled"] }, off).size).toBe(1);
    expect(findPageGrants({ set: { "answering.enabled": false }, reset: [] }, defaultConfig).size).toBe(0);
    expect(findPageGrants(turnOn, defaultConfig).size).toBe(0);
  });
});
