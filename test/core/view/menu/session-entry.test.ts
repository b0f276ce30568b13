import { describe, expect, test } from "bun:test";
import { defaultConfig } from "../../../../src/core/config/config.ts";
import { createDismissedAskKey, noPreferences } from "../../../../src/core/config/preferences.ts";
import type { Session } from "../../../../src/core/session/session.ts";
import {
  ago,
  ask,
  blocked,
  child,
  createTestMenu,
  done,
  ended,
  expectMenu,
  formatSubmenu,
  hour,
  keyOf,
  listEntries,
  listLabels,
  minute,
  now,
  working,
} from "./fixture.ts";

describe("the submenu of a session", () => {
  test("shows what is asked, and what can be done", () => {
    const api = blocked("api", 4 * minute, {
      title: "Ship it",
      gitBranch: "release/7",
      asks: [ask(4 * minute), ask(2 * minute, { agentId: "a1", summary: "rm -r build" })],
      children: [child("a1"), child("a2", { type: "", detail: null }), child("a3", { running: false })],
    });
    expect(formatSubmenu([api], api)).toEqual([
      "(Asks · Bash: npm run deploy)",
      "(Asks · Explore › Bash: rm -r build)",
      "(“Ship it”)",
      "(Branch release/7)",
      "(└ Explore · Grep)",
      "(└ Subagent · Thinking)",
      "---",
      "Go to terminal",
      "Snooze 15 min",
      "Snooze 1 hour",
      "[ ] Mute this session",
      "[ ] Mute project “api”",
      "Dismiss",
      "Copy session id",
      "Open transcript",
    ]);
  });

  test("of a machine that cannot be reached offers nothing that could not work", () => {
    const api = {
      ...blocked("api", 4 * minute, { transcriptPath: null }),
      machine: "devbox",
      unreachableSince: now.at - minute,
    };
    expect(listLabels(createTestMenu([api]).items).join("\n")).toContain("api on devbox");
    expect(listLabels(createTestMenu([api]).items).join("\n")).toContain("not reachable since");
    expect(formatSubmenu([api], api).filter((label) => !label.startsWith("("))).toEqual([
      "[ ] Mute this session",
      "[ ] Mute project “api”",
      "Dismiss",
      "Copy session id",
    ]);
  });

  test("repeats its only ask below its row just if that is too long for the row", () => {
    const labelsOf = (summary: string) => {
      const api = blocked("api", minute, { asks: [ask(minute, { summary })] });
      return formatSubmenu([api], api);
    };
    expect(labelsOf("npm run deploy")[0]).toBe("Go to terminal");
    const long = `npm run deploy -- ${"--verbose ".repeat(5)}--env staging`;
    expect(labelsOf(long)[0]).toStartWith("(Asks · Bash: npm run deploy -- --verbose");
  });

  test("shows what a session has used; while it works, only what changes seldom", () => {
    const tokens = { input: 1_000, output: 9_000, cacheRead: 1_200_000, cacheWrite: 20_000 };
    const used = {
      usage: { tokens, costMicros: 1_239_000 },
      context: { used: 84_000, window: 200_000 },
      tasks: [
        { id: "1", status: "completed" as const },
        { id: "2", status: "pending" as const },
      ],
    };
    const ready = done("site", minute, used);
    expect(formatSubmenu([ready], ready)).toContain("(1/2 tasks · context 42% · 1.2M tokens · $1.24)");
    const busy = working("site", minute, used);
    expect(formatSubmenu([busy], busy)).toContain("(1/2 tasks · context 42%)");
  });

  test("shows the subagents of a working session", () => {
    const children = ["a", "b", "c", "d", "e", "f"].map((id) => child(id));
    const api = working("api", minute, { children });
    expect(listLabels(createTestMenu([api]).items)[2]).toBe("◐ api · 1 min · Bash +6 subagents");
    expect(formatSubmenu([api], api).slice(0, 5)).toEqual([
      ...Array(4).fill("(└ Explore · Grep)"),
      "(└ 2 more)",
    ]);
  });

  test("shows the last response of a ready session in its row, and more of it below if it is long", () => {
    const site = done("site", minute, { lastResponse: "\n## **All** `green`\nDetails" });
    expect(listLabels(createTestMenu([site]).items)).toContain("○ site · 1 min · All green");
    expect(formatSubmenu([site], site)[0]).toBe("Go to terminal");
    const long = { ...site, lastResponse: `All ${"very ".repeat(11)}green.` };
    const row = listLabels(createTestMenu([long]).items).find((label) => label.startsWith("○"));
    expect(row).toBe(`○ site · 1 min · All ${"very ".repeat(11).trim()}…`);
    expect(formatSubmenu([long], long)[0]).toBe(`(Said “All ${"very ".repeat(11)}green.”)`);
  });

  test("shows the prompt of an interrupted session, not an older response", () => {
    const lastResponse = "All green";
    const lastPrompt = "Now deploy";
    const site = done("site", minute, {
      stopped: ago(5 * minute),
      prompted: ago(2 * minute),
      lastResponse,
      lastPrompt,
    });
    expect(listLabels(createTestMenu([site]).items)).toContain("○ site · 1 min · interrupted: Now deploy");
    expect(formatSubmenu([site], site).slice(0, 3)).toEqual(["(“Now deploy”)", "---", "Go to terminal"]);
    // It has never been heard to stop: the reply may be to this prompt.
    const other = { ...site, stopped: null };
    expect(listLabels(createTestMenu([other]).items)).toContain("○ site · 1 min · All green");
  });

  test("counts from the start of a subagent if only that works", () => {
    const turn = { ...ago(hour), running: false, byHook: true, error: null };
    const api = working("api", hour, { turn, children: [child("a1", { startedAt: now.at - 5 * minute })] });
    expect(listLabels(createTestMenu([api]).items)).toContain("◐ api · 5 min · Explore +1 subagent");
  });

  test("offers no terminal after the session has ended", () => {
    const gone = ended("gone", minute);
    expect(formatSubmenu([gone], gone)).toEqual(["Copy session id", "Open transcript"]);
  });

  test("offers no transcript and no project if there is none", () => {
    const bare = done("x", minute, { transcriptPath: null, firstCwd: null, project: null });
    expect(formatSubmenu([bare], bare)).toEqual([
      "Go to terminal",
      "Snooze 15 min",
      "Snooze 1 hour",
      "[ ] Mute this session",
      "Copy session id",
    ]);
  });

  test("keeps its ids when the session changes, so that an open menu stays open", () => {
    const ids = (one: Session): string[] => listEntries(createTestMenu([one]).items).map(({ id }) => id);
    const [before, after] = [ids(blocked("api", minute)), ids(working("api", minute))];
    const gone = before.filter((id) => !after.includes(id)).map((id) => id.split("/")[0]);
    expect(gone).toEqual(["heading", "dismiss", "next"]);
  });

  test("has the action for each label", () => {
    const api = blocked("api", minute);
    const actions = listEntries(createTestMenu([api]).items).flatMap(({ id, action }) =>
      id.endsWith(keyOf(api)) && action ? [action] : [],
    );
    const named = { session: keyOf(api) };
    expect(actions).toEqual([
      { do: "focus", ...named },
      { do: "snooze", ...named, minutes: 15 },
      { do: "snooze", ...named, minutes: 60 },
      { do: "mute", ...named, on: true },
      { do: "mute-project", project: "api", on: true },
      { do: "dismiss", ...named },
      { do: "copy-id", ...named },
      { do: "transcript", ...named },
    ]);
  });
});

describe("a session that the user set aside does not count", () => {
  const api = blocked("api", 4 * minute);
  const asideAs = (why: string, more: object, one = api): void => {
    expectMenu(
      [one],
      ["(Nothing needs you)", "---", "(Set aside (1))", `◌ api · 4 min · Bash: npm run deploy · ${why} >`],
      more,
    );
    expect(createTestMenu([one], more).icon).toEqual({ phase: "calm", count: 0 });
  };

  test("muted session", () => {
    const preferences = { ...noPreferences, muted: [keyOf(api)] };
    asideAs("muted", { preferences });
    expect(formatSubmenu([api], api, { preferences })).toContain("[x] Mute this session");
  });

  test("muted project", () => {
    const preferences = { ...noPreferences, mutedProjects: ["api"] };
    asideAs("muted", { preferences });
    expect(formatSubmenu([api], api, { preferences })).toContain("[x] Mute project “api”");
  });

  test("project muted in the settings, where only the settings can unmute it", () => {
    const config = { ...defaultConfig, mutedProjects: ["api"] };
    asideAs("muted", { config });
    const entry = listEntries(createTestMenu([api], { config }).items).find(({ id }) =>
      id.startsWith("mute-project/"),
    );
    expect(entry).toMatchObject({
      label: "Mute project “api” (in settings)",
      checked: true,
      action: { do: "settings" },
    });
  });

  test("snoozed until the snooze ends", () => {
    const preferences = {
      ...noPreferences,
      snoozed: [{ session: keyOf(api), until: now.at + 15 * minute + 500 }],
    };
    asideAs("snoozed until 14:29", { preferences });
    expect(formatSubmenu([api], api, { preferences })).toContain("End snooze (until 14:29)");
    const later = { at: now.at + 15 * minute + 500, t: now.t + 15 * minute + 500 };
    expect(createTestMenu([api], { preferences, now: later }).icon).toEqual({ phase: "blocked", count: 1 });
  });

  test("dismissed until it asks again", () => {
    const preferences = {
      ...noPreferences,
      dismissed: [createDismissedAskKey(keyOf(api), `ask-${4 * minute}`)],
    };
    asideAs("dismissed", { preferences });
    const again = { ...api, asks: [...api.asks, ask(minute, { summary: "rm x" })] };
    expect(listLabels(createTestMenu([again], { preferences }).items)[1]).toBe(
      "● api · 1 min · Bash: rm x +1",
    );
  });

  test("unattended, unless the settings want alerts for it", () => {
    const run = { ...api, attended: false };
    asideAs("unattended", {}, run);
    const config = { ...defaultConfig, alerts: { ...defaultConfig.alerts, unattended: true } };
    expect(createTestMenu([run], { config }).icon.count).toBe(1);
  });

  test("a working session shows that it is muted", () => {
    const web = working("web", minute);
    const preferences = { ...noPreferences, muted: [keyOf(web)] };
    expect(listLabels(createTestMenu([web], { preferences }).items)).toContain(
      "◐ web · 1 min · Bash · muted",
    );
  });
});
