/** When an alert goes to a channel. */
import { describe, expect, test } from "bun:test";
import { escalate } from "../../src/channels/escalation.ts";
import type { ChannelSettings } from "../../src/core/config/channels.ts";
import { parseConfig } from "../../src/core/config/config.ts";
import type { PresenceReading } from "../../src/core/interfaces/index.ts";
import type { Ask, Session } from "../../src/core/session/session.ts";
import type { JudgedCause } from "../../src/core/view/alerts/alerts.ts";

const at = 1_790_000_000_000;
const createSettings = (fields: object = {}): ChannelSettings => {
  const { config, problems } = parseConfig({ channels: { phone: { type: "ntfy", topic: "t", ...fields } } });
  expect(problems).toEqual([]);
  return config.channels.phone as ChannelSettings;
};

interface Situation {
  readonly ageSeconds?: number;
  readonly presence?: PresenceReading | null;
  readonly kind?: JudgedCause["kind"];
  readonly ask?: Ask["kind"] | null;
  readonly project?: string;
  readonly cwd?: string;
  readonly isSuppressed?: boolean;
  readonly minuteOfDay?: number;
  /** The user looks at the pane of the session. */
  readonly isVisible?: boolean;
}

const present: PresenceReading = { idleMs: 1_000, isLocked: false };
const unknown: PresenceReading = { idleMs: null, isLocked: null };
const locked: PresenceReading = { idleMs: 1_000, isLocked: true };
const idle: PresenceReading = { idleMs: 600_000, isLocked: false };

function decide(settings: ChannelSettings, situation: Situation = {}) {
  const { ageSeconds = 1, presence = present, kind = "blocked", ask = "permission" } = situation;
  const { project = "shop", cwd = "/home/me/shop", isSuppressed = false, minuteOfDay = 600 } = situation;
  const { isVisible = false } = situation;
  const since = { at: at - ageSeconds * 1_000, t: 1_000_000 - ageSeconds * 1_000 };
  return escalate(
    {
      kind,
      ask: ask === null ? null : ({ kind: ask } as Ask),
      since,
      session: { agent: "claude", sessionId: "s1", project, firstCwd: cwd, cwd } as Session,
      isSuppressed,
    },
    settings,
    { at, t: 1_000_000, minuteOfDay },
    { presence, visibleSessions: new Set(isVisible ? ["claude:s1"] : []) },
  );
}

const isDue = (settings: ChannelSettings, situation?: Situation) => decide(settings, situation).isDue;

describe("by default", () => {
  const settings = createSettings();
  test.each([
    ["away by the lock", locked],
    ["away by two minutes without input", idle],
  ])("%s: at once", (_, presence) => {
    expect(isDue(settings, { presence })).toBe(true);
  });

  test("at the desk: after two minutes without an answer", () => {
    expect(decide(settings, { ageSeconds: 1 })).toEqual({ isDue: false, checkAt: at + 5_000 });
    expect(decide(settings, { ageSeconds: 118 })).toEqual({ isDue: false, checkAt: at + 2_000 });
    expect(isDue(settings, { ageSeconds: 120 })).toBe(true);
  });

  test("unknown counts as present, also without a desktop", () => {
    for (const presence of [unknown, null]) {
      expect(isDue(settings, { presence })).toBe(false);
      expect(isDue(settings, { presence, ageSeconds: 121 })).toBe(true);
    }
  });

  test("a moment is left for a rule to answer and for the request to be named", () => {
    expect(decide(settings, { presence: locked, ageSeconds: 0.1 })).toEqual({
      isDue: false,
      checkAt: at + 300,
    });
  });

  test("permissions, questions, plans, forms and failures are sent, ends of turns are not", () => {
    const away = { presence: locked };
    for (const ask of ["permission", "question", "plan", "elicitation"] as const)
      expect(isDue(settings, { ...away, ask })).toBe(true);
    expect(isDue(settings, { ...away, kind: "failed", ask: null })).toBe(true);
    expect(isDue(settings, { ...away, kind: "finished", ask: null })).toBe(false);
    expect(isDue(settings, { ...away, kind: "idle", ask: "idle" })).toBe(false);
  });
});

describe("while you look at the pane of the session", () => {
  const settings = createSettings();
  const overdue = { ageSeconds: 600, isVisible: true };

  test("at the desk: the alert waits until you look away", () => {
    expect(decide(settings, overdue)).toEqual({ isDue: false, checkAt: at + 5_000 });
    expect(isDue(settings, { ...overdue, isVisible: false })).toBe(true);
  });

  test.each([
    ["the screen is locked", locked],
    ["there is no input any more", idle],
    ["it is unknown whether there is input", unknown],
    ["presence cannot be read", null],
  ])("it does not wait if %s", (_, presence) => {
    expect(isDue(settings, { ...overdue, presence })).toBe(true);
  });

  test("a channel that always sends does not wait", () => {
    expect(isDue(createSettings({ when: "always" }), overdue)).toBe(true);
  });
});

describe("rules", () => {
  test("always: after that time, whether you are at the desk or not", () => {
    const settings = createSettings({ when: "always", afterSeconds: 30 });
    expect(isDue(settings, { presence: locked })).toBe(false);
    expect(decide(settings, { presence: present, ageSeconds: 10 }).checkAt).toBe(at + 20_000);
    expect(isDue(settings, { ageSeconds: 30 })).toBe(true);
  });

  test("awaySeconds: how long without input means away", () => {
    expect(isDue(createSettings({ awaySeconds: 700 }), { presence: idle })).toBe(false);
    expect(isDue(createSettings({ awaySeconds: 5 }), { presence: { idleMs: 5_000, isLocked: null } })).toBe(
      true,
    );
  });

  test("hours: nothing outside of them, and it is checked again when they begin", () => {
    const settings = createSettings({ hours: { from: "08:00", to: "22:00" } });
    expect(isDue(settings, { presence: locked, minuteOfDay: 600 })).toBe(true);
    const night = decide(settings, { presence: locked, minuteOfDay: 7 * 60 + 50 });
    expect(night.isDue).toBe(false);
    expect(night.checkAt).toBeGreaterThan(at);
  });

  test("projects: by name, or by folder", () => {
    const byName = createSettings({ projects: ["shop"] });
    expect(isDue(byName, { presence: locked })).toBe(true);
    expect(isDue(byName, { presence: locked, project: "blog" })).toBe(false);
    const byFolder = createSettings({ projects: { "/home/me/shop": "1234" } });
    expect(isDue(byFolder, { presence: locked })).toBe(true);
    expect(isDue(byFolder, { presence: locked, cwd: "/home/me/shop/api" })).toBe(true);
    expect(isDue(byFolder, { presence: locked, cwd: "/home/me/shop-2" })).toBe(false);
  });

  test("asks: only these", () => {
    const settings = createSettings({ asks: ["plan", "finished"] });
    expect(isDue(settings, { presence: locked })).toBe(false);
    expect(isDue(settings, { presence: locked, ask: "plan" })).toBe(true);
    expect(isDue(settings, { presence: locked, kind: "finished", ask: null })).toBe(true);
  });

  test("nothing for what is muted, snoozed or in quiet hours", () => {
    expect(decide(createSettings(), { presence: locked, isSuppressed: true })).toEqual({
      isDue: false,
      checkAt: null,
    });
  });
});
