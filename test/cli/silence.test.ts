/** `beckon mute`, `snooze`, `dismiss` and `quiet`, run as commands. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { createAppFixture, createAskEvent, createPromptEvent } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";

const fixture = forEachTest(createAppFixture);

const beckon = (...args: string[]) => fixture.runBeckon(args);
const printed = (out: string) => ({ out: `${out}\n`, err: "", code: 0 });
const failed = (err: string) => ({ out: "", err: `${err}\n`, code: 1 });
const silence = async (id: string) => (await fixture.fetchSession(id))?.silence;

describe("beckon mute", () => {
  test("mutes a session by its project, and --off ends it", async () => {
    await fixture.start();
    await fixture.postHook(createAskEvent("41d07be2-0000"));
    expect(await beckon("mute", "proj")).toEqual(
      printed("proj is muted. To end it: beckon mute 41d07be2 --off"),
    );
    expect(await silence("41d07be2-0000")).toBe("muted");
    expect(await beckon("mute", "41D07BE2", "--off")).toEqual(printed("proj is not muted any more."));
    expect(await silence("41d07be2-0000")).toBeUndefined();
  });

  test("--off says so if the project stays muted", async () => {
    mkdirSync(fixture.paths.state, { recursive: true });
    writeFileSync(fixture.paths.config, JSON.stringify({ mutedProjects: ["proj"] }));
    await fixture.start();
    await fixture.postHook(createAskEvent("s-1"));
    expect((await beckon("mute", "s-1", "--off")).out).toBe(
      "proj itself is not muted, but its project is: see the menu, and mutedProjects in the settings.\n",
    );
  });

  test("names the sessions if several match", async () => {
    await fixture.start();
    await fixture.postHook(createPromptEvent("41d07be2-0000-1", { prompt: "Fix the colour picker" }));
    await fixture.postHook(createAskEvent("41d07be2-0000-2"));
    await fixture.postHook({ session_id: "7be0d244-3", hook_event_name: "SessionStart", source: "startup" });
    expect(await beckon("mute", "proj")).toEqual(
      failed(
        [
          'beckon: 2 sessions match "proj". Use the id of one of them:',
          "  41d07be2-0000-1  proj  working    “Fix the colour picker”",
          "  41d07be2-0000-2  proj  needs you",
        ].join("\n"),
      ),
    );
    expect(await silence("41d07be2-0000-1")).toBeUndefined();
  });

  test("takes at least four characters of an id", async () => {
    await fixture.start();
    await fixture.postHook(createPromptEvent("41d07be2-0000"));
    expect(await beckon("mute", "4")).toEqual({
      out: "",
      err: 'beckon: "4" is too short: give at least 4 characters of the session\'s id, or its project. See beckon help mute.\n',
      code: 2,
    });
    expect(await silence("41d07be2-0000")).toBeUndefined();
    expect((await beckon("mute", "41d0")).code).toBe(0);
  });

  test("refuses a session that has ended", async () => {
    await fixture.start();
    await fixture.postHook(createPromptEvent("s-1"));
    await fixture.postHook({ session_id: "s-1", hook_event_name: "SessionEnd", reason: "other" });
    expect(await beckon("mute", "s-1")).toEqual(
      failed("beckon: proj has ended, so there is nothing to mute"),
    );
  });
});

describe("beckon snooze", () => {
  test("takes minutes or 15, says until when, and --off ends it", async () => {
    await fixture.start();
    await fixture.postHook(createAskEvent("s-1"));
    for (const [args, minutes] of [
      [[], 15],
      [["90"], 90],
    ] as const) {
      const before = Date.now();
      const { out, code } = await beckon("snooze", "s-1", ...args);
      expect(code).toBe(0);
      const [, until] = /^proj is (snoozed until .*)\. To end it: beckon snooze s-1 --off\n$/.exec(out) ?? [];
      expect(until).toBe((await silence("s-1")) ?? "");
      const end = new Date(before + minutes * 60_000);
      const times = [end, new Date(end.getTime() + 60_000)].map((time) => time.toTimeString().slice(0, 5));
      expect(times).toContain(until?.slice(-5) ?? "");
    }
    await beckon("mute", "s-1");
    expect(await beckon("snooze", "s-1", "--off")).toEqual(
      printed("proj is not snoozed any more, but it is muted."),
    );
  });
});

describe("beckon dismiss", () => {
  test("puts aside what is asked now, but not the next ask", async () => {
    await fixture.start();
    await fixture.postHook(createAskEvent("s-1"));
    expect(await beckon("dismiss", "s-1")).toEqual(
      printed("Dismissed what proj asks. Its next request alerts you again."),
    );
    expect(await fixture.fetchSession("s-1")).toMatchObject({ group: "set_aside", silence: "dismissed" });
    await fixture.postHook(createPromptEvent("s-1"));
    await fixture.postHook({ ...createAskEvent("s-1"), tool_input: { command: "touch y" } });
    expect(await fixture.fetchSession("s-1")).toMatchObject({ group: "needs_you" });
  });

  test("does not promise an alert for the next request of a muted session", async () => {
    await fixture.start();
    await fixture.postHook(createAskEvent("s-1"));
    await beckon("mute", "s-1");
    expect(await beckon("dismiss", "s-1")).toEqual(
      printed("Dismissed what proj asks. Its alerts stay off: it is muted."),
    );
  });

  test("puts a failure aside", async () => {
    await fixture.start();
    await fixture.postHook(createPromptEvent("s-1"));
    await fixture.postHook({ session_id: "s-1", hook_event_name: "StopFailure", error: "overloaded" });
    expect(await beckon("dismiss", "s-1")).toEqual(printed("Dismissed the failure of proj."));
    expect(await fixture.fetchSession("s-1")).toMatchObject({ group: "ready" });
  });

  test("is an error if the session does not need you", async () => {
    await fixture.start();
    await fixture.postHook(createPromptEvent("s-1"));
    expect(await beckon("dismiss", "s-1")).toEqual(
      failed("beckon: nothing to dismiss: proj does not need you"),
    );
  });
});

describe("beckon quiet", () => {
  test("turns alerts off and on, and shows what holds", async () => {
    await fixture.start();
    expect(await beckon("quiet")).toEqual(
      printed("Alerts are on. To turn them off: beckon quiet hour, tomorrow or on"),
    );
    const off = "Quiet: beckon shows no alerts. To end it: beckon quiet off";
    expect(await beckon("quiet", "on")).toEqual(printed(off));
    expect(await beckon("quiet")).toEqual(printed(off));
    expect((await beckon("status")).out).toContain(`\n${off}\n`);
    expect((await beckon("quiet", "hour")).out).toMatch(
      /^Quiet until \S*\s?\d\d:\d\d: beckon shows no alerts\. To end it: beckon quiet off\n$/,
    );
    expect((await beckon("quiet", "tomorrow")).out).toContain("08:00: beckon shows no alerts.");
    expect(await beckon("quiet", "off")).toEqual(printed("Alerts are on."));
  });

  test("off says so if the quiet hours go on", async () => {
    mkdirSync(fixture.paths.state, { recursive: true });
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toTimeString().slice(0, 5);
    writeFileSync(fixture.paths.config, JSON.stringify({ quietHours: { from: at(-1), to: at(2) } }));
    await fixture.start();
    expect((await beckon("quiet", "off")).out).toMatch(
      /^Quiet until .*\d\d:\d\d \(quiet hours\): beckon shows no alerts\. To change them: quietHours in config\.json\n$/,
    );
  });
});

describe("a wrong call", () => {
  test.each([
    [["mute"], "mute takes a session: its id, its first 4 characters or more, or its project."],
    [["mute", "a", "b"], 'mute takes one session, but got "b" too.'],
    [["dismiss", "a", "--off"], 'unknown option "--off": dismiss takes no options.'],
    [["snooze", "a", "0"], 'snooze takes a number of minutes from 1 to 10080, but got "0".'],
    [["snooze", "a", "5x"], 'snooze takes a number of minutes from 1 to 10080, but got "5x".'],
    [
      ["snooze", "a", "5", "6"],
      'snooze takes one session and, if you like, a number of minutes, but got "6" too.',
    ],
    [["snooze", "a", "5", "--off"], "snooze takes either a number of minutes or --off."],
    [["quiet", "loud"], 'quiet takes hour, tomorrow, on or off, but got "loud".'],
    [["quiet", "on", "off"], 'quiet takes hour, tomorrow, on or off, but got "off".'],
    [["mutt", "a"], 'unknown command "mutt": did you mean mute?'],
  ])("%j", async (args, error) => {
    expect(await beckon(...args)).toEqual({
      out: "",
      err: `beckon: ${error} See beckon ${args[0] === "mutt" ? "--help" : `help ${args[0]}`}.\n`,
      code: 2,
    });
  });

  test.each([[["mute", "s-1"]], [["quiet", "on"]], [["quiet"]]])(
    "%j while beckon does not run",
    async (args) => {
      expect(await beckon(...args)).toEqual(failed("beckon is not running. Start it with: beckon start"));
    },
  );
});
