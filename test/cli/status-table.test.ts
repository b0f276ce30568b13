import { describe, expect, test } from "bun:test";
import { stripControls, truncateToColumns, wrapText } from "../../src/cli/output.ts";
import { formatStatusTable } from "../../src/cli/status-table.ts";
import { formatAge } from "../../src/core/view/figures.ts";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { ask, asking, child, failed, minute, now, over, placed, session, working } from "./sessions.ts";

const draw = (sessions: SessionView[], columns = 100, colour = false, listsEnded = false) =>
  formatStatusTable(sessions, { now, columns, colour, home: "/home/dev", listsEnded });
/** As `--all` does. */
const drawAll = (sessions: SessionView[], columns = 100) => draw(sessions, columns, false, true);
const many = [
  asking("docs", {
    title: "Rewrite the guide",
    since: now - 3 * minute,
    ...placed("/dev/pts/2", { TERM_PROGRAM: "kitty" }),
  }),
  asking("shop-api", {
    since: now - 12 * minute,
    asks: [ask(), ask({ tool: "Write", summary: "a.ts" })],
    ...placed("/dev/pts/4", { TMUX_PANE: "%3" }),
  }),
  working("beckon", {
    since: now - 8_000,
    children: [child()],
  }),
  working("infra", {
    since: now - 200 * minute,
    gitBranch: "fix/a-very-long-branch-name-for-the-terraform-state",
  }),
  session("blog", { since: now - 41 * minute, lastResponse: "\n**Done.** The footer sticks.\nMore." }),
  over("old", { since: now - 26 * 60 * minute }),
];

describe("the table", () => {
  test("lists groups, names, times, activities, terminals and ids", () => {
    expect(draw(many, 110)).toEqual([
      "● 2 need you   ◐ 2 working   ○ 1 ready   · 1 ended",
      "",
      `● shop-api (main)                  12m  Permission for Bash: npm run deploy  tmux %3 · pts/4  ${id("shop-api")}`,
      "                                        also Write: a.ts",
      `● docs (main)                       3m  Permission for Bash: npm run deploy  kitty · pts/2    ${id("docs")}`,
      `◐ infra (fix/a-very-long-bran…  3h 20m  Bash                                                  ${id("infra")}`,
      `◐ beckon (main)                     8s  Bash                                                  ${id("beckon")}`,
      "                                        └ Explore · 1m · Grep",
      `○ blog (main)                      41m  Done. The footer sticks.                              ${id("blog")}`,
      "· 1 ended: beckon status --all",
    ]);
  });
  const id = (project: string) => session(project).sessionId.slice(0, 8);

  test("says what to do if there is no session", () => {
    expect(draw([])).toEqual(["No sessions. Start an agent, and it appears here."]);
  });

  test("begins with how many sessions need you", () => {
    const first = (...sessions: SessionView[]) => draw(sessions)[0];
    expect(first(asking("a"))).toBe("● 1 needs you");
    expect(first(asking("a"), asking("b"), working("c"))).toBe("● 2 need you   ◐ 1 working");
    expect(first(working("c"), session("d"))).toBe("nothing needs you   ◐ 1 working   ○ 1 ready");
    expect(first(session("d"), failed("e"))).toBe("nothing needs you   ✗ 1 failed   ○ 1 ready");
    expect(first(failed("e", { group: "ready", silence: "dismissed" }))).toBe(
      "nothing needs you   ○ 1 ready",
    );
  });

  test("of a moment of the past says so", () => {
    const past = (...sessions: SessionView[]) =>
      formatStatusTable(sessions, { now, columns: 100, colour: false, home: "", isPast: true });
    expect(past(asking("a"), asking("b"))[0]).toBe("● 2 needed you");
    expect(past(asking("a"))[0]).toBe("● 1 needed you");
    expect(past(session("d"))[0]).toBe("nothing needed you   ○ 1 ready");
    expect(past(session("e", { group: "needs_you" })).join("\n")).not.toContain("needs you");
    expect(past()).toEqual(["No sessions then."]);
  });

  test("lists sessions that need you first, longest waiting on top", () => {
    const waited = (project: string, minutes: number) => asking(project, { since: now - minutes * minute });
    const rows = drawAll([
      session("d"),
      working("c"),
      failed("b"),
      waited("a2", 2),
      waited("a9", 9),
      waited("a5", 5),
      over("e"),
    ]).slice(2);
    expect(rows.map((line) => line.split(" ")[1])).toEqual(["a9", "a5", "a2", "b", "c", "d", "e"]);
  });

  test("keeps its order while sessions work: an event moves no row", () => {
    const started = (project: string, minutes: number) =>
      working(project, { since: now - minutes * minute, lastEventAt: now - minutes * 1_000 });
    expect(
      draw([started("b", 5), started("c", 1), started("a", 9)])
        .slice(2)
        .map((line) => line.split(" ")[1]),
    ).toEqual(["a", "b", "c"]);
  });

  test("distinguishes two sessions of one project as the menu does, at any width", () => {
    const twins = (more: Partial<SessionView>[], columns: number) =>
      draw(
        more.map((one, n) =>
          working("checkout-api", { sessionId: `${n}`.repeat(8), cwd: "/w/checkout-api", ...one }),
        ),
        columns,
      )
        .slice(2)
        .map((line) => line.slice(2).split(/ {2}/)[0]);
    const titles = [{ title: "Fix the cart" }, { title: "Write docs" }];
    expect(twins(titles, 110)).toEqual(["checkout-api “Fix the cart”", "checkout-api “Write docs”"]);
    expect(twins(titles, 60)).toEqual(["chec…-api “Fix the cart”", "check…t-api “Write docs”"]);
    const branches = [{ gitBranch: "main" }, { gitBranch: "fix" }];
    expect(twins(branches, 110)).toEqual(["checkout-api (main)", "checkout-api (fix)"]);
    const prompts = [{ lastPrompt: "run it" }, { lastPrompt: "stop it" }];
    expect(twins(prompts, 110)).toEqual(["checkout-api “run it”", "checkout-api “stop it”"]);
  });

  test("names the agent of each session if there are several agents, at any width", () => {
    const sessions = [session("api"), session("site", { provider: "other" })];
    for (const columns of [40, 80, 200]) {
      const text = draw(sessions, columns).join("\n");
      expect([text.includes("claude"), text.includes("other")]).toEqual([true, true]);
    }
    expect(draw([session("api")], 200).join("\n")).not.toContain("claude");
  });

  test("names the machine of a session that runs on another one, at any width, and says that it is not reachable", () => {
    const there = {
      machine: "devbox",
      reachable: false,
      unreachableSince: now,
      silence: "not reachable since 14:02",
      silenceKind: "unreachable" as const,
    };
    const sessions = [
      working("checkout-api"),
      working("checkout-api", { ...there, gitBranch: "fix", sessionId: "b".repeat(8) }),
      working("checkout-api", { ...there, gitBranch: "main", sessionId: "c".repeat(8) }),
    ];
    for (const columns of [60, 80, 110, 200]) {
      const lines = draw(sessions, columns);
      expect(lines.filter((line) => line.includes(" on devbox "))).toHaveLength(2);
    }
    const lines = draw(sessions, 110);
    expect(lines.filter((line) => line.includes("(not reachable since 14:02)"))).toHaveLength(2);
    expect(lines.find((line) => line.includes("(fix)"))).toContain("checkout-api (fix) on devbox");
  });

  test("folds the sessions that ended into one line, and lists them all with --all", () => {
    const ended = Array.from({ length: 9 }, (_, n) => over(`p${n}`, { since: now - n * minute }));
    expect(draw([...ended, working("live")]).slice(2)).toEqual([
      expect.stringMatching(/^◐ live /),
      "· 9 ended: beckon status --all",
    ]);
    expect(drawAll([...ended, working("live")]).slice(2)).toEqual([
      expect.stringMatching(/^◐ live /),
      ...ended.map((_, n) => expect.stringMatching(new RegExp(`^· p${n} .*ended`))),
    ]);
    expect(drawAll([over("c", { endReason: "clear" })]).at(-1)).toContain("cleared");
    expect(draw([working("live")]).join("\n")).not.toContain("ended");
  });
});

describe("the activity of a session", () => {
  const what = (given: SessionView) => drawAll([given], 200)[2]?.split(/ {2,}/)[2];
  const said = (detail: string | null) => ({ status: { kind: "attention", detail } as const });
  const idle = (detail: string | null) => ({ status: { kind: "idle", detail } as const });

  test.each<[SessionView, string]>([
    [asking("a"), "Permission for Bash: npm run deploy"],
    [asking("a", { asks: [ask({ tool: null, summary: "" })], ...said("Permission") }), "Permission"],
    [
      asking("a", { asks: [ask({ kind: "plan", summary: "1. Do a" })], ...said("Plan to approve") }),
      "Plan to approve: 1. Do a",
    ],
    [
      asking("a", { asks: [ask({ kind: "question", summary: "Red?" })], ...said("Question: Red?") }),
      "Question: Red?",
    ],
    [
      asking("a", { asks: [ask({ kind: "idle", summary: "x" }), ask()] }),
      "Permission for Bash: npm run deploy",
    ],
    [
      asking("a", { asks: [ask({ kind: "question", summary: "Red?", questions: 2 })] }),
      "Question 1 of 2: Red?",
    ],
    [working("a", { status: { kind: "working", detail: null } }), "Thinking"],
    [
      asking("a", { asks: [ask({ tool: "Edit", summary: "/home/dev/.zshrc" })] }),
      "Permission for Edit: ~/.zshrc",
    ],
    [
      asking("a", { asks: [ask({ summary: "cat /home/dev/.zshrc" })] }),
      "Permission for Bash: cat /home/dev/.zshrc",
    ],
    [working("a", { status: { kind: "working", detail: "Compacting" } }), "Compacting"],
    [session("a"), "done"],
    [session("a", { turnCount: 0 }), "ready"],
    [session("a", { lastResponse: "## `Done`" }), "Done"],
    [
      session("a", { lastResponse: "Old", lastPrompt: "\nFix it\nnow", interrupted: true }),
      "interrupted: Fix it",
    ],
    [session("a", { lastResponse: "Old", interrupted: true }), "interrupted"],
    [session("a", { ...idle("background: npm run dev"), interrupted: true }), "background: npm run dev"],
    [session("a", { ...idle("rate_limit"), error: "rate_limit" }), "failed: rate_limit"],
    [session("a", idle("background: npm run dev")), "background: npm run dev"],
    [session("a", { silence: "muted", turnCount: 0 }), "(muted) ready"],
    [working("a", { silence: "snoozed until 14:20" }), "(snoozed until 14:20) Bash"],
    [failed("a", { silence: "muted" }), "(muted) failed: API Error: 529 Overloaded"],
    [over("a"), "ended"],
    [over("a", { died: true }), "ended unexpectedly"],
    [over("a", { died: true, group: "failed" }), "ended unexpectedly"],
    [over("a", { state: "stale" }), "silent for hours"],
  ])("%#", (given, expected) => expect(what(given)).toBe(expected));

  test("a long ask takes up to three lines, everything else one", () => {
    const summary = "Which colour should the header of the landing page have, and why would that be so?";
    const detail = `Question: ${summary}`;
    const lines = draw(
      [asking("a", { asks: [ask({ kind: "question", summary })], ...said(detail), sessionId: "" })],
      60,
    ).slice(2);
    expect(lines).toHaveLength(3);
    expect(
      lines
        .map((line) => line.slice(14))
        .join(" ")
        .replaceAll(/ +/g, " "),
    ).toBe(` ${detail}`);
    expect(draw([session("a", { lastResponse: summary })], 60)).toHaveLength(3);
  });

  test("further asks and subagents are listed below, four at most", () => {
    const asks = Array.from({ length: 9 }, (_, n) => ask({ tool: `T${n}` }));
    const below = draw([asking("a", { asks })])
      .slice(3)
      .map((line) => line.trim());
    expect(below).toEqual([
      "also T1: npm run deploy",
      "also T2: npm run deploy",
      "also T3: npm run deploy",
      "also T4: npm run deploy",
      "and 4 more",
    ]);
  });
});

describe("the terminal of a session", () => {
  const where = (tty: string, env: Record<string, string> = {}) =>
    draw([working("a", placed(tty, env))], 200)[2]?.split(/ {2,}/)[3];

  test.each<[string, string, Record<string, string>]>([
    ["tmux %3 · pts/4", "/dev/pts/4", { TMUX_PANE: "%3" }],
    ["pts/4", "/dev/pts/4", {}],
    ["pts/4 over SSH", "/dev/pts/4", { SSH_CONNECTION: "10.0.0.1 5 10.0.0.2 22" }],
  ])("%s", (shown, tty, env) => expect(where(tty, env)).toBe(shown));
});

describe("at any width", () => {
  const twenty = Array.from({ length: 20 }, (_, n) => {
    const name = ["shop-api", "日本語プロジェクト", "a-project-with-a-rather-long-name", "x"][n % 4] ?? "";
    const summary = "find . -name '*.ts' | xargs grep -l 'something' 🙂 ".repeat(1 + (n % 5));
    const more = {
      title: "検索を速くする ".repeat(n % 3),
      since: now - n ** 3 * 10_000,
      ...placed(`/dev/pts/${n}`, { TMUX_PANE: `%${n}` }),
    };
    return n % 3 === 0
      ? asking(`${name}${n}`, { asks: [ask({ summary })], ...more })
      : n % 3 === 1
        ? working(`${name}${n}`, more)
        : session(`${name}${n}`, { ...more, lastResponse: summary });
  });

  test.each([40, 60, 80, 110, 200])("no line of twenty sessions is wider than %d columns", (columns) => {
    const lines = draw(twenty, columns);
    expect(lines.length).toBeGreaterThanOrEqual(22);
    expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(columns);
  });

  test.each([60, 80, 110, 200])(
    "the columns stand in line, wide characters or not, in %d columns",
    (columns) => {
      const rows = draw(twenty, columns)
        .slice(2)
        .filter((line) => /^[●◐○·] /.test(line));
      const ends = rows.map((line) => Bun.stringWidth(/^.*?\d+[smd](?= )/.exec(line)?.[0] ?? ""));
      expect(rows).toHaveLength(20);
      expect(new Set(ends).size).toBe(1);
    },
  );

  test("title, terminal and branch go first; the id and the activity stay", () => {
    const given = [
      asking("shop-api", { title: "Add checkout", ...placed("/dev/pts/4", { TMUX_PANE: "%3" }) }),
    ];
    const id = given[0]?.sessionId.slice(0, 8) ?? "";
    const shows = (columns: number) => {
      const row = draw(given, columns)[2] ?? "";
      return ["Add checkout", "pts/4", "(main)", id].filter((part) => row.includes(part));
    };
    expect(shows(120)).toEqual(["Add checkout", "pts/4", "(main)", id]);
    expect(shows(85)).toEqual(["pts/4", "(main)", id]);
    expect(shows(75)).toEqual(["(main)", id]);
    expect(shows(50)).toEqual([id]);
    expect(draw(given, 50).join("\n")).toMatch(/\n +└ tmux %3 · pts\/4$/);
    expect(draw(given, 40).join("\n")).toEndWith(`\n  └ ${id} · tmux %3 · pts/4`);
    for (const columns of [40, 50]) {
      const text = draw(given, columns).join(" ").replaceAll(id, "").replaceAll(/ +/g, " ");
      expect(text).toContain("Permission for Bash: npm run deploy");
    }
  });

  test("the id of every live session is shown", () => {
    for (let columns = 40; columns <= 200; columns++) {
      const text = draw([...twenty, ...many.slice(0, 5)], columns).join("\n");
      for (const { sessionId } of [...twenty, ...many.slice(0, 5)]) {
        expect(text).toContain(sessionId.slice(0, 8));
      }
    }
  });

  test("no line is wider than the window", () => {
    const every = [...many, failed("f"), asking("m", { silence: "muted" })];
    for (let columns = 40; columns <= 120; columns++) {
      for (const line of [...draw(every, columns), ...draw([], columns)]) {
        expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
      }
    }
    expect(draw(every, 50).slice(0, 2)).toEqual([
      "● 2 need you   ✗ 1 failed   ◌ 1 set aside",
      "◐ 2 working   ○ 1 ready   · 1 ended",
    ]);
  });

  test("a dangerous ask has a ⚠", () => {
    const asks = [
      ask({ dangers: ["deletes without asking (rm -rf)"], summary: "rm -rf build" }),
      ...["a", "b", "c", "d"].map((summary) => ask({ tool: "Write", summary })),
      ask({ dangers: ["publishes for everybody (npm publish)"], summary: "npm publish" }),
    ];
    const given = [asking("shop", { asks }), asking("muted", { asks, silence: "snoozed until tomorrow" })];
    for (const columns of [20, 60, 200]) {
      expect(draw(given, columns).join("\n").match(/⚠ /g)).toHaveLength(4);
    }
    expect(draw(given, 200).join("\n")).toContain("⚠ Permission for Bash: rm -rf build");
    expect(draw([asking("shop")]).join("\n")).not.toContain("⚠");
  });

  test("shows tasks, context, tokens and cost where there is room", () => {
    const tokens = {
      input: 1_000,
      output: 9_000,
      cacheRead: 1_200_000,
      cacheWrite: 20_000,
      cached: 1_200_000,
    };
    const used = {
      tokens,
      costUsd: 1.239,
      context: { used: 84_000, window: 200_000 },
      tasks: { done: 3, total: 7, list: [] },
    };
    const sessions = [working("shop", used), working("blog", { tokens }), session("empty")];
    const wide = draw(sessions, 160).join("\n");
    expect(wide).toContain("  3/7 tasks · context 42% · 1.2M tokens · $1.24  ");
    expect(wide).toContain("  1.2M tokens · cost unknown  ");
    expect(draw(sessions, 70).join("\n")).not.toContain("tokens");
    const full = { status: { kind: "working", detail: "x".repeat(60) } } as const;
    expect(draw([working("shop", { ...used, ...full })], 110).join("\n")).not.toContain("tokens");
  });

  test("columns are not wider than their content", () => {
    expect(draw([working("a", { gitBranch: null })], 200)[2]).toBe(
      `◐ a  5m  Bash  ${session("a").sessionId.slice(0, 8)}`,
    );
  });
});

describe("text from an agent", () => {
  const evil =
    "\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u001b[0m\r\nnext\u009b5m\u202e\u2066\0\t\u2028end\ud800";

  test("never contains control characters, in any field", () => {
    const env = { TERM_PROGRAM: evil, TMUX_PANE: evil };
    const said = {
      project: evil,
      gitBranch: evil,
      title: evil,
      lastResponse: evil,
      children: [child({ agentId: evil, name: evil, type: evil, detail: evil })],
      ...placed(evil, env),
    };
    const asks = [ask({ tool: evil, summary: evil }), ask({ tool: evil, summary: evil })];
    const sessions = [
      asking("a", { ...said, asks, status: { kind: "attention", detail: evil } }),
      working("b", { ...said, status: { kind: "working", detail: evil } }),
      session("c", said),
      session("d", { ...said, sessionId: evil, project: null, cwd: null }),
    ];
    for (const columns of [60, 200]) {
      for (const line of draw(sessions, columns)) {
        expect(line).not.toMatch(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/u);
        expect(line.isWellFormed()).toBe(true);
      }
    }
    expect(draw(sessions, 200).join("")).toContain("red");
  });

  test("is truncated by the width of its characters, never inside one", () => {
    expect(truncateToColumns("日本語", 6)).toBe("日本語");
    expect(truncateToColumns("日本語", 5)).toBe("日本…");
    expect(truncateToColumns("日本語", 4)).toBe("日…");
    expect(truncateToColumns("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3)).toBe("👩‍👩‍👧‍👦…");
    expect(stripControls("a\u001b[31mb\u001b[0m\nc")).toBe("ab c");
    expect(wrapText("one two three", 7, 3)).toEqual(["one two", "three"]);
    expect(wrapText("onetwothreefour", 5, 2)).toEqual(["onetw", "othr…"]);
    expect(wrapText("日本語日本語", 5, 9)).toEqual(["日本", "語日", "本語"]);
  });
});

describe("colours", () => {
  test("are there only if wanted, and change no text", () => {
    const plain = draw(many, 110);
    expect(plain.join("")).not.toContain("\u001b");
    const painted = draw(many, 110, true);
    expect(painted.join("")).toContain("\u001b[38;5;130m");
    expect(painted.map((line) => Bun.stripANSI(line).trimEnd())).toEqual(plain);
  });
});

test.each([
  [-5, "0s"],
  [59_999, "59s"],
  [minute, "1m"],
  [59 * minute, "59m"],
  [65 * minute, "1h 05m"],
  [24 * 60 * minute, "1d"],
  [1_000 * 24 * 60 * minute, "1000d"],
])("%d ms is %s", (ms, text) => expect(formatAge(ms)).toBe(text));
