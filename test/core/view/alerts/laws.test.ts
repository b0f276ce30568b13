/** Laws of the alerts, for any sessions, preferences, settings and times. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { defaultConfig, parseConfig } from "../../../../src/core/config/config.ts";
import { dismissAlerts, noPreferences } from "../../../../src/core/config/preferences.ts";
import { listAlertKeys } from "../../../../src/core/session/keys.ts";
import type { Ask, Session } from "../../../../src/core/session/session.ts";
import { settle } from "../../../../src/core/session/settle.ts";
import type { AlertsInput, ComputedAlerts } from "../../../../src/core/view/alerts/alerts.ts";
import { ago, ask, child, hour, keyOf, minute, session } from "../menu/fixture.ts";
import { computeTestAlerts, later, now } from "./fixture.ts";

const ms = fc.oneof(
  fc.constantFrom(0, 1, 299, 300, 1_000, 2_000, 10 * minute, 30 * minute),
  fc.integer({ min: 0, max: 9 * hour }),
);
const moments = ms.map(ago);
const projects = ["web", "api", "docs", ""];

const asks: fc.Arbitrary<readonly Ask[]> = fc
  .array(
    fc.record({
      since: ms,
      kind: fc.constantFrom<Ask["kind"][]>("permission", "question", "plan", "elicitation", "idle"),
      hidden: fc.boolean(),
      agentId: fc.constantFrom(null, "a1"),
    }),
    { maxLength: 4 },
  )
  .map((list) => list.map(({ since, ...more }, n) => ask(since, { ...more, id: `ask-${n}` })));

const sessions: fc.Arbitrary<readonly Session[]> = fc
  .array(
    fc.record({
      project: fc.constantFrom(...projects),
      asks,
      turn: fc.record({
        when: moments,
        running: fc.boolean(),
        byHook: fc.boolean(),
        error: fc.constantFrom(null, "overloaded"),
      }),
      stopped: fc.option(moments),
      isStop: fc.boolean(),
      moved: moments,
      last: moments,
      file: fc.option(
        fc.record({ when: moments, status: fc.constantFrom("idle", "busy", "waiting", "shell") }),
      ),
      settled: fc.boolean(),
      ended: fc.option(
        fc.record({
          when: moments,
          reason: fc.constantFrom("other", "process gone", "file gone"),
          whileBusy: fc.boolean(),
        }),
        { freq: 3 },
      ),
      attended: fc.constantFrom(null, true, false),
      children: fc.constantFrom([], [child("a1")], [child("a1", { running: false })]),
    }),
    { maxLength: 12 },
  )
  .map((list) =>
    list.map(({ project, turn, file, ended, isStop, ...more }, n): Session => {
      const { when, ...run } = turn;
      return {
        ...session(project, { ...more, turn: { ...when, ...run } }),
        sessionId: `s${n}`,
        stopped: isStop ? when : more.stopped,
        file: file && { ...file.when, status: file.status as "idle", waitingFor: null },
        ended: ended && { ...ended.when, reason: ended.reason, whileBusy: ended.whileBusy },
        asks: ended ? [] : more.asks,
      };
    }),
  );

const flags = fc.record({
  blocked: fc.boolean(),
  failed: fc.boolean(),
  idle: fc.boolean(),
  finished: fc.boolean(),
  sound: fc.boolean(),
  unattended: fc.boolean(),
  sdkHosts: fc.boolean(),
  longTurnMinutes: fc.constantFrom(0, 5),
  quotaPercent: fc.constant(0),
  contextPercent: fc.constant(0),
  presentSeconds: fc.constant(30),
  whileLooking: fc.boolean(),
  graceMs: fc.constantFrom(0, 500, 60_000),
});

const subset = fc.subarray(Array.from({ length: 12 }, (_, n) => `claude:s${n}`));
const until = fc.integer({ min: -2 * hour, max: 2 * hour }).map((by) => now.at + by);

const inputs = fc
  .record({
    sessions,
    alerts: flags,
    quietHours: fc.constantFrom(null, { from: "14:00", to: "15:00" }, { from: "14:30", to: "14:10" }),
    muted: subset,
    mutedProjects: fc.subarray(projects),
    snoozed: fc.array(fc.record({ session: subset.map(([one = "x"]) => one), until }), { maxLength: 3 }),
    quietUntil: fc.option(until, { freq: 2 }),
    looking: subset,
    doNotDisturb: fc.integer({ min: 0, max: 5 }).map((one) => one === 0),
    startedAt: until,
  })
  .map(
    ({ alerts, quietHours, muted, mutedProjects, snoozed, quietUntil, looking, ...more }) =>
      ({
        ...more,
        config: { ...defaultConfig, alerts, quietHours },
        preferences: { ...noPreferences, muted, mutedProjects, snoozed, quietUntil },
        visibleSessions: new Set(looking),
        recentlySeen: new Set(),
      }) satisfies Partial<AlertsInput>,
  );

type Input = typeof inputs extends fc.Arbitrary<infer Of> ? Of : never;
const alertsFor = (input: Input, more: Partial<AlertsInput> = {}) =>
  computeTestAlerts(input.sessions, { ...input, ...more });
const listKeys = ({ show }: ComputedAlerts) => show.flatMap(({ key, covers }) => covers ?? [key]);
const runs = { numRuns: 1_000 };
const checkLaw = (law: (input: Input) => void) => fc.assert(fc.property(inputs, law), runs);

describe("for any sessions, preferences and settings", () => {
  test("an alert is shown or suppressed, never both, and never twice", () => {
    checkLaw((input) => {
      const found = alertsFor(input);
      const keys = listKeys(found);
      const all = [...keys, ...found.suppressed.map(({ key }) => key)];
      expect(new Set(all).size).toBe(all.length);
      expect(new Set(found.show.map(({ key }) => key)).size).toBe(found.show.length);
      const known = new Set(input.sessions.flatMap((one) => listAlertKeys(settle(one, now.t))));
      for (const key of all) expect(known).toContain(key);
      for (const { covers } of found.show) if (covers) expect(covers.length).toBeGreaterThan(0);
      expect(found.show.length).toBeLessThanOrEqual(4 + 3 + 1);
    });
  });

  test("nothing is shown that is muted, dismissed, looked at or unattended", () => {
    checkLaw((input) => {
      const keys = listKeys(alertsFor(input));
      const owner = (key: string) => input.sessions.find((one) => key.startsWith(`${keyOf(one)}#`));
      for (const key of keys) {
        const one = owner(key);
        expect(input.preferences.muted).not.toContain(one && keyOf(one));
        const { unattended, sdkHosts } = input.config.alerts;
        const isAskedByHost = sdkHosts && one?.file?.status === "waiting";
        if (!unattended && !isAskedByHost) expect(one?.attended).not.toBe(false);
        if (!input.config.alerts.whileLooking)
          expect(input.visibleSessions.has(one ? keyOf(one) : "")).toBe(false);
      }
      const quiet = alertsFor(input, { preferences: dismissAlerts(input.preferences, keys) });
      expect(quiet.show).toEqual([]);
      expect(alertsFor(input, { doNotDisturb: true }).show).toEqual([]);
    });
  });

  test("the order of the sessions does not matter", () => {
    checkLaw((input) => {
      expect(alertsFor({ ...input, sessions: input.sessions.toReversed() })).toEqual(alertsFor(input));
    });
  });

  test("nothing changes by itself before nextChange, which is in the future", () => {
    const whole = fc.integer({ min: 0, max: 99 });
    fc.assert(
      fc.property(inputs, whole, (input, percent) => {
        const found = alertsFor(input);
        const { nextChange: next } = found;
        if (next !== null) expect(next).toBeGreaterThan(now.at);
        const most = (next ?? now.at + 2 * hour) - now.at;
        const then = later(Math.floor((most * percent) / 100));
        expect(alertsFor(input, { now: then }).show).toEqual(found.show);
      }),
      runs,
    );
  });

  test("only blocked and failed alerts have a sound", () => {
    checkLaw((input) => {
      for (const { kind, sound, urgency } of alertsFor(input).show) {
        if (kind === "idle" || kind === "finished") expect([sound, urgency]).toEqual([false, "low"]);
        else expect(sound).toBe(input.config.alerts.sound);
      }
    });
  });

  test("alerts work with the settings of any JSON", () => {
    fc.assert(
      fc.property(
        inputs,
        fc.jsonValue(),
        (input, value) => void alertsFor(input, { config: parseConfig(value).config }),
      ),
      { numRuns: 200 },
    );
  });
});
