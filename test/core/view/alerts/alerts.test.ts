/** Which alerts are shown, rule by rule. */
import { describe, expect, test } from "bun:test";
import { noPreferences } from "../../../../src/core/config/preferences.ts";
import { bash, call, createAskingTimeline, createTimeline, child as inChild } from "../../session/fixture.ts";
import {
  ago,
  ask,
  blocked,
  child,
  done,
  ended,
  hour,
  keyOf,
  minute,
  session,
  working,
} from "../menu/fixture.ts";
import {
  computeAlertsAfter,
  computeTestAlerts,
  failed,
  later,
  listReasons,
  listTitles,
  midnight,
  now,
  stopped,
  withAlerts,
} from "./fixture.ts";

const second = 1_000;

describe("blocked", () => {
  test("an ask alerts at once: urgent, with a sound, once", () => {
    const one = blocked("web", 0, { asks: [ask(0), ask(1, { id: "second" })] });
    const { show, suppressed: held } = computeTestAlerts([one]);
    expect(show).toMatchObject([
      { key: `${keyOf(one)}#second`, kind: "blocked", urgency: "urgent", sound: true, since: now.at - 1 },
      { key: `${keyOf(one)}#ask-0`, session: keyOf(one), since: now.at },
    ]);
    expect(held).toEqual([]);
  });
  for (const kind of ["permission", "question", "plan", "elicitation"] as const) {
    test(`${kind} alerts however old it is`, () => {
      const result = computeTestAlerts([blocked("web", 30 * hour, { asks: [ask(30 * hour, { kind })] })]);
      expect(result.show.map((alert) => alert.kind)).toEqual(["blocked"]);
      expect(result.nextChange).toBe(midnight);
    });
  }
  test("an ask whose dialog is not on the screen shows no alert", () => {
    expect(computeTestAlerts([blocked("web", 0, { asks: [ask(0, { hidden: true })] })]).show).toEqual([]);
  });
  test("the ask of a subagent alerts, also after the main turn is over", () => {
    const timeline = createAskingTimeline()
      .hook("PreToolUse", { ...inChild, ...call, tool_use_id: "toolu_c" })
      .hook("PermissionRequest", { ...inChild, ...bash })
      .hook("PostToolUse", call)
      .hook("Stop", { background_tasks: [{ id: "a1", type: "subagent", status: "running" }] });
    expect(listTitles(computeAlertsAfter(timeline, 0))).toEqual(["proj wants to use Bash"]);
  });
  test("an ask answered in the terminal removes its alert", () => {
    expect(computeAlertsAfter(createAskingTimeline(), 0).show).toHaveLength(1);
    expect(computeAlertsAfter(createAskingTimeline().hook("PostToolUse", call), 0).show).toEqual([]);
  });
  test("status file, reminder and request of one dialog share one alert", () => {
    const turn = createTimeline()
      .hook("UserPromptSubmit", { prompt: "go" })
      .file("waiting", "permission prompt");
    // The hook that names it can come 150 ms later.
    expect(computeAlertsAfter(turn, 149)).toMatchObject({
      show: [],
      nextChange: (turn.events[1]?.at ?? 0) + 150,
    });
    const named = createTimeline()
      .hook("UserPromptSubmit", { prompt: "go" })
      .file("waiting", "permission prompt")
      .hook("PermissionRequest", bash, 50);
    expect(listTitles(computeAlertsAfter(turn, 150))).toEqual(["proj needs your permission"]);
    expect(listTitles(computeAlertsAfter(named, 0))).toEqual(["proj wants to use Bash"]);
    expect(computeAlertsAfter(named, 0).show[0]?.key).toBe(computeAlertsAfter(turn, 150).show[0]?.key ?? "");
  });
  test("an ask shows no alert during the grace time", () => {
    const config = withAlerts({ graceMs: 3 * second });
    const early = computeTestAlerts([blocked("web", 2 * second)], { config });
    expect(early).toMatchObject({ show: [], nextChange: now.at + second });
    expect(listReasons(early)).toEqual(["you have 3000 ms to answer in the terminal"]);
    expect(computeTestAlerts([blocked("web", 3 * second)], { config }).show).toHaveLength(1);
  });
  test("three have an alert each; from the fourth on, one counts the rest and shows the list", () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, n) => blocked(`p${n}`, (count - n) * minute));
    const firstThree = [0, 1, 2].map((n) => `p${n} wants to use Bash`);
    expect(listTitles(computeTestAlerts(many(3)))).toEqual(firstThree);
    expect(listTitles(computeTestAlerts(many(4)))).toEqual([...firstThree, "1 more needs you, since 14:19"]);
    const { show } = computeTestAlerts(many(12));
    expect(show.map((alert) => alert.title)).toEqual([
      ...firstThree,
      "9 more need you, the longest since 14:11",
    ]);
    expect(show[3]).toMatchObject({
      key: "more:blocked",
      urgency: "urgent",
      session: keyOf(many(12)[3] ?? session("")),
      buttons: [{ label: "Show", action: { do: "list" } }],
    });
    expect(show[3]?.covers).toHaveLength(9);
    expect(show[3]?.body.split("\n")).toEqual([
      ...[3, 4, 5, 6, 7].map((n) => `p${n}: npm run deploy`),
      "and 4 more",
    ]);
    expect(listTitles(computeTestAlerts(many(12).slice(1)))[2]).toBe("p3 wants to use Bash");
  });
});

test("a line about one of several sessions is short enough not to be broken in two", () => {
  const many = Array.from({ length: 5 }, (_, n) =>
    blocked(`service-00${n}`, (5 - n) * minute, {
      asks: [ask((5 - n) * minute, { summary: `npm run deploy -- --only service-00${n} --env staging` })],
    }),
  );
  const lines = computeTestAlerts(many).show.at(-1)?.body.split("\n") ?? [];
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(Bun.stringWidth(line)).toBeLessThanOrEqual(46);
    expect(line).toMatch(/^service-00\d: npm run deploy/);
  }
});

describe("failed", () => {
  test("a turn that ended with an error alerts after settling: normal, with a sound", () => {
    const timeline = createTimeline()
      .hook("UserPromptSubmit", { prompt: "go" })
      .hook("StopFailure", { error: "rate_limit", last_assistant_message: "API Error: rate limited" });
    expect(computeAlertsAfter(timeline, 100).show).toEqual([]);
    const { show } = computeAlertsAfter(timeline, 300);
    expect(show).toMatchObject([
      { kind: "failed", urgency: "normal", sound: true, title: "proj stopped with an error" },
    ]);
    expect(computeAlertsAfter(timeline.hook("UserPromptSubmit", { prompt: "again" }), 300).show).toEqual([]);
  });
  test("not after half an hour, and not if it failed long before beckon started", () => {
    const { show, nextChange: next } = computeTestAlerts([failed("web", 20 * minute)]);
    expect(show).toHaveLength(1);
    expect(next).toBe(now.at + 10 * minute);
    expect(computeTestAlerts([failed("web", 30 * minute)])).toMatchObject({
      show: [],
      suppressed: [],
      nextChange: null,
    });
  });
  test("removed when the user ends the session", () => {
    const left = failed("web", minute);
    const end = { ...ago(0), reason: "prompt_input_exit", whileBusy: false };
    expect(computeTestAlerts([{ ...left, turn: { ...left.turn, ...ago(0) }, ended: end }]).show).toEqual([]);
  });
  test("has no grace time: nothing in the terminal would answer it", () => {
    const config = withAlerts({ graceMs: 60_000 });
    expect(computeTestAlerts([failed("web", second)], { config }).show).toHaveLength(1);
  });
  test("a reminder adds no second alert", () => {
    const asks = [ask(minute, { kind: "idle", tool: null, summary: "" })];
    expect(computeTestAlerts([failed("web", 2 * minute, { asks })]).show.map(({ kind }) => kind)).toEqual([
      "failed",
    ]);
    const config = withAlerts({ failed: false });
    expect(
      computeTestAlerts([failed("web", 2 * minute, { asks })], { config }).show.map(({ kind }) => kind),
    ).toEqual(["idle"]);
    expect(listReasons(computeTestAlerts([failed("web", 2 * minute)], { config }))).toEqual([
      "alerts.failed is off in the settings",
    ]);
  });
  test("when all fail at once: two alerts of their own, and one for the rest", () => {
    const all = Array.from({ length: 9 }, (_, n) => failed(`p${n}`, (9 - n) * second));
    expect(listTitles(computeTestAlerts(all))).toEqual([
      "p0 stopped with an error",
      "p1 stopped with an error",
      "7 more stopped with an error",
    ]);
  });
});

describe("died while busy", () => {
  const dead = (reason: string, since: number, more = {}) =>
    ended("web", since, { ended: { ...ago(since), reason, whileBusy: true }, last: ago(since), ...more });
  for (const reason of ["process gone", "file gone"]) {
    test(`${reason} in the middle of a turn`, () => {
      expect(computeTestAlerts([dead(reason, minute)]).show).toMatchObject([
        { kind: "failed", urgency: "normal", title: "web ended unexpectedly" },
      ]);
    });
  }
  for (const reason of ["prompt_input_exit", "clear", "logout", "other", "ended"]) {
    test(`not after a SessionEnd: ${reason}`, () => {
      expect(computeTestAlerts([dead(reason, minute)]).show).toEqual([]);
    });
  }
  test("not without a running turn, and not without hooks, which could not have sent a SessionEnd", () => {
    expect(
      computeTestAlerts([
        ended("web", minute, { ended: { ...ago(minute), reason: "process gone", whileBusy: false } }),
      ]).show,
    ).toEqual([]);
    const turn = { ...ago(minute), running: false, byHook: false, error: null };
    expect(computeTestAlerts([dead("process gone", minute, { turn })]).show).toEqual([]);
  });
  test("waits for a SessionEnd that may still arrive", () => {
    expect(computeTestAlerts([dead("process gone", second)])).toMatchObject({
      show: [],
      nextChange: now.at + second,
    });
    expect(computeTestAlerts([dead("process gone", 2 * second)]).show).toHaveLength(1);
    const killed = createAskingTimeline().internal({ kind: "gone", why: "process" }, 500);
    expect(computeAlertsAfter(killed, 2_000).show.map(({ kind }) => kind)).toEqual(["failed"]);
    expect(
      computeAlertsAfter(killed.late(200).hook("SessionEnd", { reason: "other" }, 100), 3_000).show,
    ).toEqual([]);
  });
  test("found dead at the start of beckon: alerts only if it was active recently", () => {
    const upSince = now.at - 3 * second;
    const found = (last: number) => [dead("process gone", 3 * second, { last: ago(last) })];
    expect(computeTestAlerts(found(5 * minute), { startedAt: upSince }).show).toHaveLength(1);
    expect(computeTestAlerts(found(5 * hour), { startedAt: upSince }).show).toEqual([]);
    expect(computeTestAlerts(found(5 * hour), { startedAt: now.at - hour }).show).toHaveLength(1);
  });
});

describe("idle and finished", () => {
  const idle = (project: string, since: number, more = {}) =>
    stopped(project, since + minute, {
      asks: [ask(since, { kind: "idle", tool: null, summary: "" })],
      ...more,
    });
  const finished = withAlerts({ finished: true });

  test("an idle alert is quiet: low, without a sound", () => {
    expect(computeTestAlerts([idle("web", 0)]).show).toMatchObject([
      { kind: "idle", urgency: "low", sound: false, title: "web is ready for your next prompt" },
    ]);
  });
  test("not after ten minutes", () => {
    expect(computeTestAlerts([idle("web", 9 * minute)])).toMatchObject({
      show: [{}],
      nextChange: now.at + minute,
    });
    expect(computeTestAlerts([idle("web", 10 * minute)]).show).toEqual([]);
  });
  test("finished is off by default, and quiet", () => {
    expect(computeTestAlerts([stopped("web", second)])).toMatchObject({ show: [], suppressed: [] });
    expect(computeTestAlerts([stopped("web", second)], { config: finished }).show).toMatchObject([
      { kind: "finished", urgency: "low", sound: false, title: "web is done" },
    ]);
    expect(computeTestAlerts([stopped("web", 10 * minute)], { config: finished }).show).toEqual([]);
  });
  test("finished waits until hooks and file have settled", () => {
    const timeline = createTimeline()
      .hook("UserPromptSubmit", { prompt: "go" })
      .file("busy", null, 50)
      .hook("Stop");
    const early = computeAlertsAfter(timeline, 100, { config: finished });
    const last = timeline.events.at(-1)?.at ?? 0;
    expect(early).toMatchObject({ show: [], nextChange: last + 300 });
    // The file still says busy: the two contradict each other.
    expect(computeAlertsAfter(timeline, 400, { config: finished })).toMatchObject({
      show: [],
      nextChange: last + 1_000,
    });
    expect(computeAlertsAfter(timeline.file("idle", null, 150), 300, { config: finished }).show).toHaveLength(
      1,
    );
  });
  test("a turn that goes on after its Stop is not finished", () => {
    const timeline = createTimeline()
      .hook("UserPromptSubmit", { prompt: "go" })
      .file("busy", null, 50)
      .hook("Stop");
    expect(computeAlertsAfter(timeline, 1_000, { config: finished }).show).toEqual([]);
  });
  test("an interrupted turn is not finished, nor is a resumed session", () => {
    const broken = createTimeline()
      .hook("UserPromptSubmit", { prompt: "go" })
      .file("busy", null, 50)
      .file("idle");
    expect(computeAlertsAfter(broken, 2_000, { config: finished }).show).toEqual([]);
    const resumed = createTimeline()
      .hook("UserPromptSubmit", { prompt: "go" })
      .hook("Stop")
      .hook("SessionStart", { source: "resume" });
    expect(computeAlertsAfter(resumed, 2_000, { config: finished }).show).toEqual([]);
  });
  test("not while a subagent runs, and not for the end of a subagent", () => {
    const children = [child("a1")];
    expect(computeTestAlerts([stopped("web", second, { children })], { config: finished }).show).toEqual([]);
    const timeline = createTimeline()
      .hook("UserPromptSubmit", { prompt: "go" })
      .hook("SubagentStart", inChild)
      .hook("SubagentStop", inChild);
    expect(computeAlertsAfter(timeline, 2_000, { config: finished })).toMatchObject({
      show: [],
      suppressed: [],
    });
  });
  test("a reminder after a finished alert adds none", () => {
    const one = computeTestAlerts([stopped("web", minute)], { config: finished });
    const two = computeTestAlerts([idle("web", 0)], { config: finished });
    expect(two.show.map(({ kind }) => kind)).toEqual(["finished"]);
    expect(two.show[0]?.key).toBe(one.show[0]?.key ?? "");
    const preferences = { ...noPreferences, dismissed: one.show.map(({ key }) => key) };
    expect(computeTestAlerts([idle("web", 0)], { config: finished, preferences }).show).toEqual([]);
    expect(computeTestAlerts([idle("web", 9.5 * minute)], { config: finished }).show).toEqual([]);
  });
  test("a turn of more than five minutes alerts at its end, quietly; a shorter one does not", () => {
    const turn = (minutes: number) => stopped("web", second, { prompted: ago(second + minutes * minute) });
    expect(computeTestAlerts([turn(4.9)]).show).toEqual([]);
    expect(computeTestAlerts([turn(5)]).show).toMatchObject([
      { kind: "finished", urgency: "low", title: "web is done" },
    ]);
    expect(computeTestAlerts([turn(60)], { config: withAlerts({ longTurnMinutes: 0 }) }).show).toEqual([]);
    expect(computeTestAlerts([turn(5)], { config: withAlerts({ longTurnMinutes: 10 }) }).show).toEqual([]);
  });
  test("a session that never had a prompt, as after /clear, is not reminded of", () => {
    expect(computeTestAlerts([idle("web", 0, { prompted: null })])).toMatchObject({
      show: [],
      suppressed: [],
    });
  });
  test("several are one quiet alert, the last first", () => {
    const { show } = computeTestAlerts([idle("web", minute), idle("api", 0), idle("docs", 2 * minute)]);
    expect(show).toMatchObject([
      { key: "more:done", urgency: "low", sound: false, title: "3 sessions are ready for your next prompt" },
    ]);
    expect(show[0]?.body).toBe("api: All tests pass.\nweb: All tests pass.\ndocs: All tests pass.");
    const both = computeTestAlerts([stopped("web", second), stopped("api", 0.5 * second)], {
      config: finished,
    });
    expect(listTitles(both)).toEqual(["2 sessions are done"]);
  });
  test("an unattended run ends with its turn, and alerts if the settings want it", () => {
    const config = withAlerts({ finished: true, unattended: true });
    const end = { ...ago(second), reason: "other", whileBusy: false };
    const run = stopped("web", second, { attended: false });
    const over = { ...run, turn: { ...run.turn, ...ago(0.5 * second) }, ended: end };
    expect(listTitles(computeTestAlerts([over], { config }))).toEqual(["web is done"]);
    expect(computeTestAlerts([over], { config }).show[0]?.key).toBe(
      computeTestAlerts([run], { config }).show[0]?.key ?? "",
    );
    expect(listReasons(computeTestAlerts([over], { config: finished }))).toEqual([
      "the session is unattended",
    ]);
  });
});

describe("suppressed, with the reason", () => {
  const one = blocked("web", minute);
  const key = keyOf(one);
  const day = 24 * hour;
  const quietHours = (from: string, to: string) => ({ ...withAlerts({}), quietHours: { from, to } });

  test.each([
    ["you muted this session", { preferences: { ...noPreferences, muted: [key] } }, null],
    ["the project web is muted", { preferences: { ...noPreferences, mutedProjects: ["web"] } }, null],
    ["the project web is muted", { config: { ...withAlerts({}), mutedProjects: ["web"] } }, null],
    [
      "you snoozed it until 14:35",
      { preferences: { ...noPreferences, snoozed: [{ session: key, until: now.at + 15 * minute }] } },
      15 * minute,
    ],
    ["quiet until 15:20", { preferences: { ...noPreferences, quietUntil: now.at + hour } }, hour],
    [
      "quiet until you turn it off",
      { preferences: { ...noPreferences, quietUntil: Number.MAX_SAFE_INTEGER } },
      null,
    ],
    ["quiet hours until 14:30", { config: quietHours("22:00", "14:30") }, 10 * minute],
    ["quiet hours until 08:00", { config: quietHours("14:20", "08:00") }, 10 * minute],
    ["your desktop is set to do not disturb", { doNotDisturb: true }, null],
    ["you are at desktop, which shows it", { findUserElsewhere: () => "desktop" }, null],
    ["you are looking at it", { visibleSessions: new Set([key]) }, null],
    ["you have just looked at it", { recentlySeen: new Set([`${key}#ask-60000`]) }, null],
    [
      "you have seen or dismissed it",
      { preferences: { ...noPreferences, dismissed: [`${key}#ask-60000`] } },
      null,
    ],
    ["alerts.blocked is off in the settings", { config: withAlerts({ blocked: false }) }, null],
  ])("%s", (reason, more, nextIn) => {
    const result = computeTestAlerts([one, blocked("other", day)], more);
    const mine = result.suppressed.find((one) => one.key.startsWith(key));
    expect(mine?.reason).toBe(reason);
    expect(result.show.map((alert) => alert.session)).not.toContain(key);
    expect(computeTestAlerts([one], more).nextChange).toBe(nextIn === null ? null : now.at + nextIn);
  });
  test("an unattended run, unless the settings want it", () => {
    const run = { ...one, attended: false };
    expect(listReasons(computeTestAlerts([run]))).toEqual(["the session is unattended"]);
    expect(computeTestAlerts([run], { config: withAlerts({ unattended: true }) }).show).toHaveLength(1);
    expect(computeTestAlerts([{ ...one, attended: null }]).show).toHaveLength(1);
  });
  test("an app that runs the agent and asks somebody, unless the settings want it", () => {
    const config = withAlerts({ sdkHosts: true });
    const waiting = { status: "waiting" as const, waitingFor: "permission", at: one.last.at, t: one.last.t };
    const run = { ...one, attended: false, file: waiting };
    expect(listReasons(computeTestAlerts([run]))).toEqual(["the session is unattended"]);
    expect(computeTestAlerts([run], { config }).show).toHaveLength(1);
    // `claude -p` asks nobody: its request is denied at once.
    const listed = listReasons(computeTestAlerts([{ ...run, file: null }], { config }));
    expect(listed).toEqual(["the session is unattended"]);
  });
  test("shown after the snooze, the quiet mode or the quiet hours", () => {
    const snoozed = { ...noPreferences, snoozed: [{ session: key, until: now.at + minute }] };
    expect(computeTestAlerts([one], { preferences: snoozed, now: later(minute) }).show).toHaveLength(1);
    const quiet = { ...noPreferences, quietUntil: now.at + minute };
    expect(computeTestAlerts([one], { preferences: quiet, now: later(minute) }).show).toHaveLength(1);
    const config = quietHours("22:00", "14:21");
    expect(computeTestAlerts([one], { config, now: later(minute) }).show).toHaveLength(1);
  });
  test("an alert is removed when the quiet hours start", () => {
    const config = quietHours("14:30", "20:00");
    expect(computeTestAlerts([one], { config })).toMatchObject({
      show: [{}],
      nextChange: now.at + 10 * minute,
    });
    expect(computeTestAlerts([one], { config, now: later(10 * minute) }).show).toEqual([]);
  });
  test("not by looking at the pane of another session, and not if the settings want alerts while looking", () => {
    expect(computeTestAlerts([one], { visibleSessions: new Set(["claude:other"]) }).show).toHaveLength(1);
    const config = withAlerts({ whileLooking: true });
    expect(computeTestAlerts([one], { visibleSessions: new Set([key]), config }).show).toHaveLength(1);
  });
  test("an end that the user saw shows no alert when they look away; an open dialog does", () => {
    const gone = failed("web", second);
    const { seen, show } = computeTestAlerts([gone], { visibleSessions: new Set([keyOf(gone)]) });
    expect(show).toEqual([]);
    expect(computeTestAlerts([gone], { preferences: { ...noPreferences, dismissed: seen } }).show).toEqual(
      [],
    );
    expect(seen).toHaveLength(1);
    expect(computeTestAlerts([one], { visibleSessions: new Set([key]) }).seen).toEqual([]);
  });
  test("a new ask alerts again after the last one was dismissed", () => {
    const preferences = { ...noPreferences, dismissed: [`${key}#ask-60000`] };
    const again = { ...one, asks: [...one.asks, ask(0)] };
    expect(computeTestAlerts([again], { preferences }).show.map((alert) => alert.key)).toEqual([
      `${key}#ask-0`,
    ]);
  });
  test("shown without a sound if the settings want none", () => {
    expect(computeTestAlerts([one], { config: withAlerts({ sound: false }) }).show).toMatchObject([
      { sound: false },
    ]);
  });
});

describe("no alert for", () => {
  test.each([
    ["a working session", working("web", minute)],
    ["a session without a prompt", session("web", { prompted: null })],
    ["a turn that ended without a Stop", done("web", second, { stopped: null })],
    ["a session that the user ended", ended("web", second)],
  ])("%s", (_, quiet) => {
    expect(computeTestAlerts([quiet], { config: withAlerts({ finished: true }) })).toMatchObject({
      show: [],
      suppressed: [],
      seen: [],
    });
  });
});

describe("an edit without a port", () => {
  const edit = (at: number, isBlocked = false) => ({
    tool: "Edit",
    path: "/p/web/a.ts",
    isBlocked,
    ...ago(at),
  });

  test("alerts quietly, and not any more after ten minutes", () => {
    const { show, nextChange } = computeTestAlerts([working("web", 0, { untracked: edit(minute) })]);
    expect(show).toMatchObject([
      { kind: "untracked", urgency: "low", sound: false, title: "web edits without a port" },
    ]);
    expect(show[0]?.body).toContain("a.ts");
    expect(nextChange).toBe(now.at + 9 * minute);
    expect(computeTestAlerts([working("web", 0, { untracked: edit(10 * minute) })]).show).toEqual([]);
  });
  test("does not alert if it was refused: the agent knows", () => {
    expect(computeTestAlerts([working("web", 0, { untracked: edit(minute, true) })]).show).toEqual([]);
  });
  test("of several sessions share one alert", () => {
    const sessions = ["web", "api"].map((name) => working(name, 0, { untracked: edit(minute) }));
    expect(listTitles(computeTestAlerts(sessions))).toEqual(["2 sessions edit without a port"]);
  });
});
