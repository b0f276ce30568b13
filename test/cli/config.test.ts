/** `beckon config` as a user meets it: each change is checked first, and only what was asked for changes in the file. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseValue } from "../../src/cli/config.ts";
import { findSetting, settings } from "../../src/core/config/config.ts";
import { type AppFixture, createAppFixture } from "../app-fixture.ts";
import { waitUntil } from "../wait-until.ts";

let fixture: AppFixture;
beforeEach(() => {
  fixture = createAppFixture();
});
afterEach(() => fixture.destroy());

const run = (args: string[], env?: Record<string, string>) => fixture.runBeckon(["config", ...args], env);

function write(text: string): void {
  mkdirSync(dirname(fixture.paths.config), { recursive: true });
  writeFileSync(fixture.paths.config, text);
}
const read = (): string => readFileSync(fixture.paths.config, "utf8");

const text = '{\n  "// mine": 1,\n  "alerts": { "sound": false, "failed": "yes" }\n}\n';

describe("list and get", () => {
  test("every setting with its value, and the line that sets it", async () => {
    write(text);
    const { code, out } = await run([], { BECKON_STREAM_PATH: "/tmp/stream" });
    expect(code).toBe(0);
    for (const { key } of settings) expect(out).toContain(`  ${key} `);
    expect(out).toMatch(/^ {2}alerts\.sound +off +config\.json, line 3$/m);
    expect(out).toMatch(/^ {2}alerts\.failed +on +config\.json, line 3 \(a mistake: not in use\)$/m);
    expect(out).toMatch(/^ {2}workGuard\.mode +off +default$/m);
    expect(out).toMatch(/^ {2}stream\.path +\/tmp\/stream +BECKON_STREAM_PATH$/m);
    expect(out).toContain('config.json: alerts.failed must be true or false, not "yes"');
    const json = JSON.parse((await run(["list", "--json"])).out);
    expect(json.settings).toHaveLength(settings.length);
    expect(json.settings.find(({ key }: { key: string }) => key === "alerts.sound")).toMatchObject({
      value: false,
      default: true,
      source: { kind: "file", line: 3 },
    });
  });

  test("get prints the value alone, for scripts", async () => {
    write('{"quietHours": {"from": "22:00", "to": "08:00"}, "workGuard": {"mode": "warn"}}');
    expect((await run(["get", "quietHours"])).out).toBe('{"from":"22:00","to":"08:00"}\n');
    expect((await run(["get", "workGuard.mode"])).out).toBe("warn\n");
    expect((await run(["get", "alerts.sound"])).out).toBe("true\n");
  });
});

describe("set and reset", () => {
  test("change one setting, say what holds, and leave the rest of the file alone", async () => {
    write(text.replace(', "failed": "yes"', ""));
    const { code, out } = await run(["set", "alerts.longTurnMinutes", "10"]);
    expect([code, out]).toEqual([
      0,
      "alerts.longTurnMinutes is now 10 minutes.\nbeckon is not running. It uses this from its next start.\n",
    ]);
    expect(read()).toBe('{\n  "// mine": 1,\n  "alerts": { "sound": false, "longTurnMinutes": 10 }\n}\n');
    expect((await run(["set", "alerts.longTurnMinutes", "10"])).out).toBe(
      "alerts.longTurnMinutes is 10 minutes already.\n",
    );
    expect((await run(["reset", "alerts.longTurnMinutes"])).out).toStartWith(
      "alerts.longTurnMinutes is now 5 minutes, the default.",
    );
    expect(read()).toBe('{\n  "// mine": 1,\n  "alerts": { "sound": false }\n}\n');
  });

  test("a running beckon uses it", async () => {
    await fixture.start();
    expect((await run(["set", "alerts.sound", "off"])).out).toBe("alerts.sound is now off.\n");
    expect((await run(["set", "workGuard.collisions", "warn"])).out).toBe(
      "workGuard.collisions is now warn.\n",
    );
    await waitUntil(async () => {
      const { settings: seen } = (await (await fixture.request("/api/settings")).json()) as {
        settings: { key: string; value: unknown }[];
      };
      return seen.find(({ key }) => key === "alerts.sound")?.value === false;
    }, 5_000);
  });

  test("a value that is not allowed changes nothing: the error says what is, and what stays", async () => {
    write(text);
    const { code, err } = await run(["set", "alerts.longTurnMinutes", "-5"]);
    expect([code, err]).toEqual([
      2,
      "beckon: alerts.longTurnMinutes must be a number of minutes from 0 to 1440, not -5. Nothing was changed: 5 minutes stays in use. See beckon help config.\n",
    ]);
    expect(read()).toBe(text);
    const wrong = await run(["set", "answering.autoAllow", '{"/home/me": ["Bash(rm *)"]}']);
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('"Bash(rm *)" is not a command that is known to only read');
    expect(read()).toBe(text);
  });

  test.each([
    [["set", "alerts.soud", "off"], "alerts.soud is not a setting: did you mean alerts.sound?"],
    [["get", "colour"], "colour is not a setting: run beckon config list."],
    [["get", "alerts"], "alerts is a group of settings: alerts.blocked, "],
    [["set", "alerts.sound"], "config set alerts.sound needs a value: on or off."],
    [["set", "alerts.sound", "of"], 'alerts.sound must be on or off, not "of".'],
    [
      ["set", "quietHours", "22:00-22:00"],
      'quietHours must be two different times of day like 22:00-08:00, or none, not "22:00-22:00".',
    ],
    [["set", "workGuard.mode", "strikt"], 'workGuard.mode must be one of strict, warn, off, not "strikt".'],
    [["get"], "config get takes the key of a setting, like alerts.sound."],
    [["get", "alerts.sound", "x"], 'config get got one argument too many: "x".'],
    [["sett", "alerts.sound", "on"], "did you mean config set?"],
  ])("%p is a mistake with a hint", async (args, hint) => {
    const { code, err } = await run(args);
    expect(code).toBe(2);
    expect(err).toContain(hint);
    expect(existsSync(fixture.paths.config)).toBe(false);
  });

  test("a file that is not JSON stays as it is", async () => {
    write("{ nothing");
    const { code, err } = await run(["set", "alerts.sound", "off"]);
    expect(code).toBe(1);
    expect(err).toContain("line 1, column 3");
    expect(read()).toBe("{ nothing");
  });
});

test.each<[string, string[], unknown]>([
  ["alerts.sound", ["Off"], false],
  ["alerts.sound", ["yes"], true],
  ["alerts.sound", ["maybe"], "maybe"],
  ["alerts.graceMs", ["1500"], 1500],
  ["alerts.graceMs", ["soon"], "soon"],
  ["workGuard.tokenBudget", ["none"], null],
  ["workGuard.mode", ["warn"], "warn"],
  ["quietHours", ["22:00-8:00"], { from: "22:00", to: "08:00" }],
  ["quietHours", ["22:00", "to", "08:00"], { from: "22:00", to: "08:00" }],
  ["quietHours", ['{"from": "22:00", "to": "07:00"}'], { from: "22:00", to: "07:00" }],
  ["quietHours", ["off"], null],
  ["mutedProjects", ["a", "b,c"], ["a", "b", "c"]],
  ["mutedProjects", ['["a b"]'], ["a b"]],
  ["mutedProjects", ["none"], []],
  ["history", ["off"], "off"],
  ["history", ['{"days": 5, "maxMb": 50}'], { days: 5, maxMb: 50 }],
  ["stream.path", ["/tmp/x y"], "/tmp/x y"],
  ["stream.path", ["none"], null],
])("config set %s %j means %j", (key, typed, value) => {
  const setting = findSetting(key);
  expect(setting && parseValue(setting.control, typed)).toEqual(value);
});

describe("edit", () => {
  /** An editor that writes this text into the file. */
  function createEditor(content: string): string {
    const path = join(fixture.home, "editor");
    const saved = join(fixture.home, "content");
    writeFileSync(saved, content);
    writeFileSync(path, `#!/bin/sh\ncp "$2" "$2.before" && cp ${saved} "$2"\n`);
    chmodSync(path, 0o755);
    return `${path} --wait`;
  }

  test("opens a file that lists every setting, and checks what was saved", async () => {
    const { code, out } = await run(["edit"], { VISUAL: "", EDITOR: createEditor('{"autoLaunch": false}') });
    expect([code, out]).toEqual([0, "The settings are valid.\n"]);
    expect(readFileSync(`${fixture.paths.config}.before`, "utf8")).toContain('"//autoLaunch": true');
  });

  test("names a mistake afterwards, and says what stays in use", async () => {
    const { code, out } = await run(["edit"], { VISUAL: createEditor('{"alerts": {"sound": 1}}') });
    expect(code).toBe(1);
    expect(out).toBe(
      "config.json: alerts.sound must be true or false, not 1\nThe last valid settings stay in use. To fix it: beckon config edit\n",
    );
  });

  test.each([
    ["", "no editor is set. Set EDITOR"],
    ["/no/such/editor", '"/no/such/editor" could not be started'],
    ["false", '"false" ended with 1'],
  ])("the editor %p is a problem that it names", async (editor, problem) => {
    const { code, err } = await run(["edit"], { VISUAL: "", EDITOR: editor });
    expect(code).toBe(1);
    expect(err).toContain(problem);
  });
});

test("completions offer the keys", async () => {
  const child = fixture.spawnBeckon(["completions", "--complete", "--", "config", "set", "alerts.s"]);
  const out = await child.stdout.text();
  expect(out).toContain("alerts.sound");
});
