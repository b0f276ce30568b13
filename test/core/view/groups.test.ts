import { describe, expect, test } from "bun:test";
import { defaultConfig } from "../../../src/core/config/config.ts";
import {
  applyPreference,
  createDismissedAskKey,
  createDismissedFailureKey,
  noPreferences,
  prunePreferences,
} from "../../../src/core/config/preferences.ts";
import type { Session } from "../../../src/core/session/session.ts";
import { createAges } from "../../../src/core/view/ages.ts";
import { findDeadPredecessors, type GroupContext, groupSession } from "../../../src/core/view/groups.ts";
import { createSessionView } from "../../../src/core/view/session-view.ts";
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
  now,
  session,
  working,
} from "./menu/fixture.ts";

const waiting = blocked("api", minute);
const failed = done("api", minute, { turn: { ...ago(minute), running: false, byHook: true, error: "529" } });
const dieAtWork = (since: number, more: Partial<Session> = {}) =>
  ended("api", since, { ended: { ...ago(since), reason: "process gone", whileBusy: true }, ...more });
const remote = { place: null };

function groupOf(session: typeof waiting, context: Partial<GroupContext> = {}) {
  const all = { preferences: noPreferences, config: defaultConfig, ages: createAges(now), ...context };
  const { group, silence } = groupSession(session, all);
  return silence === null ? group : `${group}, ${silence.kind}`;
}

describe("a session is in the group", () => {
  test.each([
    ["needs_you", waiting],
    ["needs_you", blocked("api", 9 * hour, { last: ago(9 * hour), ...remote })],
    ["working", working("api", minute)],
    ["working", done("api", minute, { children: [child("a1")] })],
    ["working", working("api", minute, { asks: [ask(minute, { hidden: true })] })],
    ["failed", failed],
    ["ready", done("api", minute)],
    ["ready", done("api", minute, { asks: [ask(minute, { kind: "idle" })] })],
    ["failed", dieAtWork(minute)],
    ["failed", dieAtWork(20 * hour)],
    ["ended", dieAtWork(25 * hour)],
    ["ended", dieAtWork(minute, { attended: false })],
    ["ended", dieAtWork(minute, { turn: { ...ago(minute), running: false, byHook: false, error: null } })],
    ["ended", ended("api", minute)],
    ["set_aside, unattended", blocked("api", minute, { attended: false })],
  ])("%s", (group, session) => {
    expect(groupOf(session)).toBe(group);
  });

  test("ready, not ended, after eight idle hours while its process is alive", () => {
    expect(groupOf(done("api", 9 * hour))).toBe("ready");
  });

  test("ended after eight silent hours where beckon cannot see its process", () => {
    expect(groupOf(done("api", 8 * hour - minute, remote))).toBe("ready");
    expect(groupOf(done("api", 8 * hour, remote))).toBe("ended");
    expect(groupOf(working("api", 8 * hour, { last: ago(8 * hour), ...remote }))).toBe("ended");
  });
});

describe("what the user set aside", () => {
  const key = keyOf(waiting);
  test.each([
    ["muted", { muted: [key] }],
    ["muted", { mutedProjects: ["api"] }],
    ["snoozed", { snoozed: [{ session: key, until: now.at + 1 }] }],
    ["dismissed", { dismissed: [createDismissedAskKey(key, "ask-60000")] }],
  ])("is set_aside while it waits: %s", (why, given) => {
    const preferences = { ...noPreferences, ...given };
    expect(groupOf(waiting, { preferences })).toBe(`set_aside, ${why}`);
  });

  test("needs you again when the snooze is over, or when a new ask opens after a dismissal", () => {
    const snoozed = [{ session: key, until: now.at }];
    expect(groupOf(waiting, { preferences: { ...noPreferences, snoozed } })).toBe("needs_you");
    const dismissed = [createDismissedAskKey(key, "ask-60000")];
    const twice = blocked("api", minute, { asks: [ask(minute), ask(0)] });
    expect(groupOf(twice, { preferences: { ...noPreferences, dismissed } })).toBe("needs_you");
  });

  test("keeps its group while it works or has failed", () => {
    const preferences = { ...noPreferences, muted: [key] };
    expect(groupOf(working("api", minute), { preferences })).toBe("working, muted");
    expect(groupOf(failed, { preferences })).toBe("failed, muted");
  });

  test("is ended after its death was dismissed", () => {
    const died = dieAtWork(minute);
    const preferences = applyPreference(
      noPreferences,
      { do: "dismiss", session: keyOf(died) },
      { at: now.at, tomorrow: 0 },
      { session: () => died },
    );
    expect(groupOf(died, { preferences })).toBe("ended");
    expect(prunePreferences(preferences, now.at, [died])).toBe(preferences);
  });

  test("is ready after its failure was dismissed", () => {
    const dismissed = [createDismissedFailureKey(key, failed)];
    expect(groupOf(failed, { preferences: { ...noPreferences, dismissed } })).toBe("ready, dismissed");
  });

  test("needs you if unattended sessions are to alert", () => {
    const config = { ...defaultConfig, alerts: { ...defaultConfig.alerts, unattended: true } };
    expect(groupOf(blocked("api", minute, { attended: false }), { config })).toBe("needs_you");
  });
});

test("a session that died is resolved by the next one in its terminal, not by one elsewhere", () => {
  const died = dieAtWork(minute);
  const inPane = (tty: string, pane: string) => {
    const place = {
      local: true,
      pid: 8,
      procStart: "2",
      tty,
      terminalSessionId: null,
      env: { TMUX_PANE: pane },
    };
    return session("api", { sessionId: "next", place });
  };
  const before = { ...died, place: inPane("/dev/pts/1", "%1").place };
  expect(findDeadPredecessors([before, waiting], inPane("/dev/pts/1", "%1"))).toEqual([before]);
  expect(findDeadPredecessors([before, waiting], inPane("/dev/pts/2", "%2"))).toEqual([]);
  expect(findDeadPredecessors([before, waiting], inPane("/dev/pts/1", "%3"))).toEqual([]);
});

test("a snapshot names the group, and why there is no alert", () => {
  const formatTime = () => "14:20";
  const snoozed = [{ session: keyOf(waiting), until: now.at + hour }];
  const context = { preferences: { ...noPreferences, snoozed }, config: defaultConfig, formatTime };
  expect(createSessionView(waiting, now, context)).toMatchObject({
    group: "set_aside",
    silence: "snoozed until 14:20",
  });
  expect(createSessionView(ended("b", minute), now, context)).not.toHaveProperty("silence");
});
