/** config.json: every mistake is reported with what is allowed, and the other settings hold. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { defaultConfig, isAllowed, parseConfig, settings } from "../../../src/core/config/config.ts";

describe("valid settings hold", () => {
  test("an empty file gives the defaults and no problem", () => {
    expect(parseConfig({})).toEqual({ config: defaultConfig, problems: [] });
  });
  test("every setting can be set", () => {
    const config = {
      alerts: {
        blocked: false,
        failed: false,
        idle: false,
        finished: true,
        longTurnMinutes: 10,
        quotaPercent: 80,
        contextPercent: 90,
        presentSeconds: 60,
        graceMs: 1_500,
        sound: false,
        unattended: true,
        sdkHosts: true,
        whileLooking: true,
      },
      tray: { leftClick: "nextWaiting" as const },
      awake: "always" as const,
      quietHours: { from: "22:00", to: "08:00" },
      mutedProjects: ["playground"],
      answering: { enabled: false, autoAllow: { "/home/me/web": ["Read", "Bash(ls *)"] } },
      keep: { completedHours: 1, completedMax: 10, journalDays: 30 },
      history: { days: 90, maxMb: 100 },
      stream: {
        path: "/home/me/lifecycle.jsonl",
        url: "rediss://beckon@redis.example:6379/0",
        urlFiles: { password: "/home/me/.redis-password" },
        maxEntries: 5_000,
      },
      channels: {
        phone: {
          type: "ntfy",
          topic: "t",
          detail: "full" as const,
          answers: "safe" as const,
          send: true,
          always: false,
          when: "always" as const,
          afterSeconds: 0,
          awaySeconds: 60,
          hours: { from: "08:00", to: "22:00" },
          projects: ["web"],
          asks: ["plan" as const],
          accounts: ["1"],
        },
      },
      workGuard: {
        mode: "warn" as const,
        autoCreate: true,
        ignore: ["*.md"],
        collisions: "ask" as const,
        store: "project" as const,
        context: true,
        messages: true,
        tokenBudget: 100_000,
        projects: { "/home/me/web": { mode: "strict" as const, ignore: [] } },
      },
      machines: { devbox: { ssh: "me@devbox" } },
      fleet: { hours: 24, entries: 5_000 },
      stuck: { silentMinutes: 20 },
      updates: "tell" as const,
      autoLaunch: false,
      allowRemoteUrl: true,
    };
    expect(parseConfig(config)).toEqual({ config, problems: [] });
    expect(parseConfig({ ...config, quietHours: null }).config.quietHours).toBeNull();
  });
  test("comments and $schema are not reported", () => {
    const value = {
      $schema: "x",
      "// why": "so",
      alerts: { "//": "loud", sound: true },
    };
    expect(parseConfig(value)).toEqual({ config: defaultConfig, problems: [] });
  });
});

describe("a mistake is reported", () => {
  test.each<[unknown, string]>([
    [
      { alerts: { graceMs: "soon" } },
      'alerts.graceMs must be a number of milliseconds from 0 to 60000, not "soon"',
    ],
    [
      { alerts: { graceMs: 60_001 } },
      "alerts.graceMs must be a number of milliseconds from 0 to 60000, not 60001",
    ],
    [{ alerts: { graceMs: -1 } }, "alerts.graceMs must be a number of milliseconds from 0 to 60000, not -1"],
    [{ alerts: { sound: "no" } }, 'alerts.sound must be true or false, not "no"'],
    [{ alerts: { sound: null } }, "alerts.sound must be true or false, not null"],
    [{ alerts: { sound: { a: 1 } } }, "alerts.sound must be true or false, not this object"],
    [{ tray: { leftClick: "next" } }, 'tray.leftClick must be "menu" or "nextWaiting", not "next"'],
    [
      { workGuard: { projects: { "/home/me/shop": { mode: "strikt" } } } },
      'workGuard.projects must be an object like {"/home/me/project": {"mode": "strict"}}, with absolute paths, not this object ("/home/me/shop", "mode": "strikt")',
    ],
    [{ tray: "menu" }, 'tray must be an object like {"leftClick": "menu"}, not "menu"'],
    [{ alerts: true }, 'alerts must be an object like {"blocked": true}, not true'],
    [{ keep: { journalDays: 0 } }, "keep.journalDays must be a number of days from 1 to 365, not 0"],
    [
      { mutedProjects: "web" },
      'mutedProjects must be a list of project names like ["playground"], not "web"',
    ],
    [
      { mutedProjects: [""] },
      'mutedProjects must be a list of project names like ["playground"], not this list (number 1: "")',
    ],
    [{ alerts: { sonud: true } }, "alerts.sonud is not a setting: did you mean alerts.sound?"],
    [{ Alerts: { sound: true } }, "Alerts is not a setting: did you mean alerts?"],
    [{ alert: { sound: true } }, "alert is not a setting: did you mean alerts?"],
    [{ graceMs: 5 }, "graceMs is not a setting: did you mean alerts.graceMs?"],
    [{ alerts: { gracems: 5 } }, "alerts.gracems is not a setting: did you mean alerts.graceMs?"],
    [{ quitHours: null }, "quitHours is not a setting: did you mean quietHours?"],
    [{ colour: "red" }, "colour is not a setting: see the list in docs/configuration.md"],
    [{ "": 1 }, "a key without a name is not a setting: see the list in docs/configuration.md"],
    [[], 'the settings must be an object like {"alerts": {"sound": false}}, not an empty list'],
    [null, 'the settings must be an object like {"alerts": {"sound": false}}, not null'],
  ])("%j", (value, problem) => {
    expect(parseConfig(value)).toEqual({ config: defaultConfig, problems: [problem] });
  });
  test.each([
    { from: "22:00", to: "24:00" },
    { from: "22:00" },
    { from: "10:00", to: "10:00" },
    { from: "10:00", to: "11:00", on: true },
    { from: 22, to: 8 },
    "22:00-08:00",
    ["22:00", "08:00"],
  ])("invalid quiet hours: %j", (quietHours) => {
    const { config, problems } = parseConfig({ quietHours });
    expect(config.quietHours).toBeNull();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toStartWith('quietHours must be {"from": "22:00", "to": "08:00"}');
  });
  test("one wrong setting does not change the others", () => {
    const { config, problems } = parseConfig({
      alerts: { sound: 1, finished: true },
      keep: { journalDays: 2 },
    });
    expect(config).toMatchObject({ alerts: { sound: true, finished: true }, keep: { journalDays: 2 } });
    expect(problems).toHaveLength(1);
  });
  test("at most 20 are listed, without control characters", () => {
    const wrong = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`\x1b[2Jwrong-${n}`, n]));
    const { problems } = parseConfig(wrong);
    expect(problems).toHaveLength(21);
    expect(problems[0]).toStartWith("wrong-0 is not a setting");
    expect(problems.at(-1)).toBe("and 280 more");
    expect(parseConfig({ alerts: { sound: "a\u0007\nb" } }).problems[0]).toEndWith('not "a b"');
  });
});

describe("for any JSON", () => {
  const almostValid = fc.record(
    {
      alerts: fc.oneof(
        fc.jsonValue(),
        fc.dictionary(fc.constantFrom("sound", "graceMs", "x"), fc.jsonValue()),
      ),
      quietHours: fc.oneof(
        fc.jsonValue(),
        fc.record({ from: fc.constantFrom("10:00", "x", 5), to: fc.constantFrom("09:00", null) }),
      ),
      mutedProjects: fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())),
      keep: fc.jsonValue(),
      __proto__: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  test("parsing never throws, and every setting of the result is allowed", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), almostValid), (value) => {
        const { config, problems } = parseConfig(JSON.parse(JSON.stringify(value)));
        for (const setting of settings) {
          const found = setting.key.split(".").reduce<unknown>((of, name) => Object(of)[name], config);
          expect(isAllowed(setting, found), setting.key).toBe(true);
        }
        expect(parseConfig(config)).toEqual({ config, problems: [] });
        for (const problem of problems) expect(problem).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});

describe("the list of settings", () => {
  test("has every setting with an allowed default and a description", () => {
    const flat = Object.entries(defaultConfig).flatMap(([name, value]) =>
      ["alerts", "stuck", "tray", "answering", "keep", "stream", "fleet", "workGuard"].includes(name)
        ? Object.entries(value ?? {}).map(([inner, it]): [string, unknown] => [`${name}.${inner}`, it])
        : [[name, value] as [string, unknown]],
    );
    expect(settings.map(({ key, default: value }) => [key, value])).toEqual(flat);
    for (const setting of settings) {
      expect(setting.description, setting.key).toMatch(/^[A-Z].{10,110}\.$/);
      expect(isAllowed(setting, setting.default), setting.key).toBe(true);
    }
  });
});
