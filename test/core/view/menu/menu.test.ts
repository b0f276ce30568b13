import { describe, expect, test } from "bun:test";
import { applyPreference, noPreferences, prunePreferences } from "../../../../src/core/config/preferences.ts";
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
  facts,
  formatMenu,
  formatSubmenu,
  hour,
  keyOf,
  listEntries,
  listLabels,
  minute,
  now,
  working,
} from "./fixture.ts";

test("a demo says in its menu and its title that it is one", () => {
  const menu = createTestMenu([blocked("api", minute)], { facts: { ...facts, isDemo: true } });
  expect(menu.title).toBe("beckon demo: 1 needs you");
  expect(listLabels(menu.items)[0]).toBe("Demo with invented sessions");
});

describe("the menu lists", () => {
  test("no sessions", () => {
    expectMenu([], ["(No sessions yet)"]);
    expect(createTestMenu([])).toMatchObject({
      icon: { phase: "calm", count: 0 },
      title: "beckon: nothing needs you",
      tooltip: "beckon: nothing needs you",
      nextChange: null,
    });
  });

  test("how to connect an agent at the top, on the first run", () => {
    const first = { facts: { ...facts, unconnected: [{ id: "claude", name: "Claude Code" }] } };
    expectMenu([], ["Connect Claude Code…", "---", "(Nothing needs you)"], first);
  });

  test("a blocked session with how long it has waited and for what", () => {
    expectMenu(
      [blocked("beckon", 4 * minute)],
      ["(Needs you (1))", "● beckon · 4 min · Bash: npm run deploy >", "Next waiting"],
    );
    expect(createTestMenu([blocked("beckon", 4 * minute)])).toMatchObject({
      icon: { phase: "blocked", count: 1 },
      title: "beckon: 1 needs you",
      tooltip: "beckon: 1 needs you\nbeckon · 4 min · Bash: npm run deploy",
    });
  });

  test("the agent of each session, if there are several agents", () => {
    const other = { ...blocked("site", 3 * minute), agent: "other" };
    expectMenu(
      [blocked("api", 4 * minute), other],
      [
        "(Needs you (2))",
        "● api · claude · 4 min · Bash: npm run deploy >",
        "● site · other · 3 min · Bash: npm run deploy >",
        "Next waiting",
      ],
    );
  });

  test("blocked sessions first, the longest waiting on top, then working, ready and ended ones", () => {
    const sessions = [
      ended("gone", 2 * hour),
      done("site", 3 * minute),
      working("api", 12 * minute),
      blocked("new", 10_000),
      blocked("old", 3 * hour),
      done("docs", 26 * hour),
      working("slow", 2 * hour, { detail: null }),
    ];
    const menu = createTestMenu(sessions);
    expectMenu(sessions, [
      "(Needs you (2))",
      "● old · 3 h · Bash: npm run deploy >",
      "● new · now · Bash: npm run deploy >",
      "Next waiting",
      "---",
      "(Working (2))",
      "◐ slow · 2 h · Thinking >",
      "◐ api · 12 min · Bash >",
      "---",
      "(Ready (2))",
      "○ site · 3 min · done >",
      "○ docs · 1 day · done >",
      "---",
      "Ended (1) >",
    ]);
    expect(menu.title).toBe("beckon: 2 need you, 2 working");
    expect(menu.icon).toEqual({ phase: "blocked", count: 2 });
    expect(formatSubmenu(sessions, "ended")).toEqual(["· gone · 2 h · ended >"]);
  });

  test.each([
    ["a permission without a summary", ask(0, { summary: "" }), "Permission for Bash"],
    ["an unnamed permission", ask(0, { tool: null, summary: "" }), "Permission"],
    ["a question", ask(0, { kind: "question", summary: "Which colour?" }), "Question: Which colour?"],
    [
      "several questions",
      ask(0, { kind: "question", summary: "Which colour?", questions: 2 }),
      "Question 1 of 2: Which colour?",
    ],
    ["a command that starts with a comment", ask(0, { summary: "# rm -rf /" }), "Bash: # rm -rf /"],
    ["a plan, without its Markdown", ask(0, { kind: "plan", summary: "# Move it" }), "Plan: Move it"],
    ["a plan without a summary", ask(0, { kind: "plan", summary: "" }), "Plan to approve"],
    ["an MCP server's request", ask(0, { kind: "elicitation", summary: "Token?" }), "MCP input: Token?"],
    ["a subagent's request", ask(0, { agentId: "a1" }), "Explore › Bash: npm run deploy"],
  ])("%s", (_, open, text) => {
    const asking = blocked("api", 0, { asks: [open], children: [child("a1")] });
    expect(listLabels(createTestMenu([asking]).items)[1]).toBe(`● api · now · ${text}`);
  });

  test("an idle session as done, and no hidden ask", () => {
    const idle = done("api", 2 * minute, { asks: [ask(minute, { kind: "idle" })] });
    const hidden = working("web", 2 * minute, { asks: [ask(minute, { hidden: true })] });
    expect(createTestMenu([idle, hidden]).icon).toEqual({ phase: "working", count: 0 });
    expect(listLabels(createTestMenu([idle, hidden]).items)).toContain("○ api · 2 min · done");
  });

  const failed = (project: string, since: number) =>
    done(project, since, { turn: { ...ago(since), running: false, byHook: true, error: "rate limit" } });

  test("a dismissed failure among the ready sessions, until it fails again", () => {
    const first = failed("api", hour);
    const dismiss = { do: "dismiss", session: keyOf(first) } as const;
    const seen = applyPreference(
      noPreferences,
      dismiss,
      { at: now.at, tomorrow: 0 },
      { session: () => first },
    );
    expect(listLabels(createTestMenu([first], { preferences: seen }).items)).toContain(
      "○ api · 1 h · failed: rate limit · dismissed",
    );
    expect(prunePreferences(seen, now.at, [first])).toBe(seen);
    expect(listLabels(createTestMenu([failed("api", minute)], { preferences: seen }).items)).toContain(
      "✗ api · 1 min · failed: rate limit",
    );
  });

  test("failed sessions in a group before working and ready ones, the newest on top", () => {
    const sessions = [
      done("site", minute),
      failed("old", hour),
      failed("new", minute),
      working("web", minute),
      blocked("api", 2 * minute),
    ];
    expectMenu(sessions, [
      "(Needs you (1))",
      "● api · 2 min · Bash: npm run deploy >",
      "Next waiting",
      "---",
      "(Failed (2))",
      "✗ new · 1 min · failed: rate limit >",
      "✗ old · 1 h · failed: rate limit >",
      "---",
      "(Working (1))",
      "◐ web · 1 min · Bash >",
      "---",
      "(Ready (1))",
      "○ site · 1 min · done >",
    ]);
    expect(createTestMenu(sessions).title).toBe("beckon: 1 needs you, 2 failed, 1 working");
    expect(createTestMenu(sessions).tooltip).toContain("new · 1 min · failed: rate limit");
    expect(createTestMenu([failed("a", 0), working("b", 0)]).icon).toEqual({ phase: "failed", count: 0 });
    expect(createTestMenu([failed("a", 0), blocked("b", 0)]).icon).toEqual({ phase: "blocked", count: 1 });
  });

  test("background tasks, new sessions, and sessions that died or were cleared", () => {
    expect(
      listLabels(
        createTestMenu([
          done("b", 2 * minute, { background: "npm run dev" }),
          done("c", 3 * minute, { prompted: null }),
          ended("d", minute, { ended: { ...ago(minute), reason: "process gone", whileBusy: true } }),
          ended("e", 2 * minute, { ended: { ...ago(2 * minute), reason: "other", whileBusy: true } }),
          ended("f", 3 * minute, { ended: { ...ago(3 * minute), reason: "clear", whileBusy: false } }),
        ]).items,
      ).filter((label) => /^[○·✗]/.test(label)),
    ).toEqual([
      "✗ d · 1 min · ended unexpectedly",
      "○ b · 2 min · background: npm run dev",
      "○ c · 3 min · ready",
      "· e · 2 min · ended",
      "· f · 3 min · cleared",
    ]);
  });

  test("an old session whose process is alive, and for a day one that beckon cannot see", () => {
    const far = { place: null };
    const sessions = [
      done("here", 30 * hour),
      done("far", 9 * hour, far),
      done("lost", 33 * hour, far),
      ended("over", 25 * hour),
    ];
    expectMenu(sessions, [
      "(Nothing needs you)",
      "---",
      "(Ready (1))",
      "○ here · 1 day · done >",
      "---",
      "Ended (1) >",
    ]);
    expect(formatSubmenu(sessions, "ended")).toEqual(["· far · 9 h · silent for hours >"]);
  });
});

describe("many sessions", () => {
  const many = (count: number, make: (name: string, since: number) => Session): Session[] =>
    Array.from({ length: count }, (_, index) => make(`p${index}`, (count - index) * minute));

  test("twenty that need you: eight in the menu, the others in a submenu", () => {
    const lines = formatMenu(createTestMenu(many(20, blocked)).items).split("\n");
    expect(lines.slice(0, 3)).toEqual([
      "(Needs you (20))",
      "● p0 · 20 min · Bash: npm run deploy >",
      "● p1 · 19 min · Bash: npm run deploy >",
    ]);
    expect(lines.slice(8, 12)).toEqual([
      "● p7 · 13 min · Bash: npm run deploy >",
      "12 more… >",
      "Next waiting",
      "---",
    ]);
    expect(formatSubmenu(many(20, blocked), "more/needs_you")).toHaveLength(12);
    expect(createTestMenu(many(20, blocked)).tooltip.split("\n").at(-1)).toBe("and 16 more");
  });

  test('nine that need you are all listed: "1 more…" would take as much room', () => {
    expect(formatMenu(createTestMenu(many(9, blocked)).items)).not.toContain("more…");
  });

  test("with many sessions in every group the menu still fits a small screen, and no group disappears", () => {
    const named = (prefix: string, make: typeof done) =>
      Array.from({ length: 40 }, (_, n) => make(`${prefix}${n}`, (n + 1) * minute));
    const fail = (project: string, since: number) =>
      done(project, since, { turn: { ...ago(since), running: false, byHook: true, error: "x" } });
    const { items } = createTestMenu([
      ...named("a", blocked),
      ...named("b", fail),
      ...named("c", working),
      ...named("d", done),
    ]);
    expect(items.length).toBeLessThanOrEqual(34);
    const listed = items.flatMap((item) =>
      item.id.startsWith("session/") && "label" in item ? item.label[0] : [],
    );
    expect(listed.join("")).toBe("●●●●●●●●✗✗✗◐◐◐○○");
  });

  test("a thousand sessions do not make a thousand entries", () => {
    const menu = createTestMenu(many(1_000, done));
    expect(listEntries(menu.items).filter(({ id }) => id.startsWith("session/"))).toHaveLength(35);
    expect(listLabels(menu.items)).toContain("and 965 more: run beckon status");
  });

  test("only the newest ten ended sessions", () => {
    const lines = formatSubmenu(many(30, ended), "ended");
    expect(lines).toHaveLength(10);
    expect(lines[0]).toStartWith("· p29 · 1 min");
  });
});

describe("the rest of the menu", () => {
  const quiet = (quietUntil: number | null, more = {}): string[] =>
    formatMenu(
      createTestMenu([], { preferences: { ...noPreferences, quietUntil }, ...more }).items.filter(
        ({ id }) => id === "quiet",
      ),
      () => true,
    )
      .split("\n")
      .map((line) => line.trim());
  const modes = ["[ ] For 1 hour", "[ ] Until tomorrow", "[ ] Until I turn it off"];

  test("quiet off, until a time, and until it is turned off", () => {
    expect(quiet(null)).toEqual(["Quiet >", "[x] Off", ...modes]);
    expect(quiet(now.at - 1)).toEqual(["Quiet >", "[x] Off", ...modes]);
    expect(quiet(now.at + 6 * minute)).toEqual([
      "Quiet until 14:20 >",
      "[ ] Off",
      "[x] (Until 14:20)",
      ...modes,
    ]);
    expect(quiet(Number.MAX_SAFE_INTEGER)).toEqual([
      "Quiet until turned off >",
      "[ ] Off",
      "[ ] For 1 hour",
      "[ ] Until tomorrow",
      "[x] Until I turn it off",
    ]);
  });

  test("the quiet hours of the settings while they are on", () => {
    const hours = { facts: { ...facts, quietHoursEnd: now.at + 6 * minute } };
    expect(quiet(null, hours)).toEqual([
      "Quiet hours >",
      "(Quiet hours until 14:20 (in settings))",
      "[x] Off",
      ...modes,
    ]);
  });

  test("the icon shows blocked sessions also while quiet", () => {
    const preferences = { ...noPreferences, quietUntil: Number.MAX_SAFE_INTEGER };
    expect(createTestMenu([blocked("api", 0)], { preferences }).icon).toEqual({ phase: "blocked", count: 1 });
  });

  test("the dashboard if there is one, and problems with the settings", () => {
    const problems = [
      "config.json: alerts.sound must be true or false, not “loud”: the last good one is used",
    ];
    expect(formatMenu(createTestMenu([], { facts: { ...facts, dashboard: true, problems } }).items)).toBe(
      [
        "! config.json: alerts.sound must be true or false, not “loud”: the last good…",
        "---",
        "(No sessions yet)",
        "---",
        "Quiet >",
        "Open dashboard",
        "Settings…",
        "About beckon 1.2.3",
        "Quit",
      ].join("\n"),
    );
  });
});

describe("time alone", () => {
  test.each([
    ["now becomes 1 min", 20_000, minute],
    ["4 min becomes 5", 4 * minute, minute],
    ["2 h becomes 3", 2 * hour + 10 * minute, 50 * minute],
    ["1 day becomes 2", 30 * hour, 18 * hour],
  ])("%s, and nextChange says when", (_, since, after) => {
    expect(createTestMenu([done("api", since)]).nextChange).toBe(now.at + after);
  });

  test("between full minutes nothing changes", () => {
    const sessions = [
      blocked("api", 4 * minute + 1),
      working("web", 59 * minute + 59_000),
      ended("x", 24 * hour - 1),
    ];
    const at = (ms: number) => createTestMenu(sessions, { now: { at: now.at + ms, t: now.t + ms } });
    expect(at(59_999)).toEqual(at(0));
    expect(at(minute).items).not.toEqual(at(0).items);
    expect(at(0).nextChange).toBe(now.at + minute);
  });

  test("a snooze and a quiet mode end exactly, not at a full minute", () => {
    const until = now.at + 12_345;
    const api = done("api", 2 * hour);
    expect(createTestMenu([], { preferences: { ...noPreferences, quietUntil: until } }).nextChange).toBe(
      until,
    );
    expect(
      createTestMenu([api], { preferences: { ...noPreferences, snoozed: [{ session: keyOf(api), until }] } })
        .nextChange,
    ).toBe(until);
  });
});
