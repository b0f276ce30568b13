/** What `beckon status --watch` draws. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { makeLineVisible } from "../../../src/core/text/visible.ts";
import type { SessionView } from "../../../src/core/view/session-view.ts";
import { child, failed, minute, now, over, placed, session, working } from "../sessions.ts";
import { answerable, asks, openScreen } from "./harness.ts";

const list: readonly SessionView[] = [
  {
    ...asks("shop-api", answerable("1", { lines: ["npm publish --dry-run"] })),
    since: now - 3 * minute,
    ...placed("/dev/pts/7", { TMUX_PANE: "%4", TMUX: "x" }),
  },
  {
    ...asks(
      "infra",
      answerable("2", {
        lines: ["rm -rf build", "npm run build"],
        dangers: ["deletes without asking (rm -rf)"],
      }),
    ),
    gitBranch: "redesign",
    since: now - minute,
  },
  failed("billing"),
  working("beckon", {
    children: [child()],
  }),
  session("shop-web", {
    lastPrompt: "Fix the cart",
    lastResponse: "Fixed the cart total.\n\nAll tests pass.",
  }),
  over("blog"),
];
const drawn = (screen: ReturnType<typeof openScreen>) => screen.screen().map((line) => line.trimEnd());

test("two sessions of one project are distinguished in the list, above the details and in messages", () => {
  const twin = (sessionId: string, title: string) =>
    working("shop-api", { sessionId, title, cwd: "/home/dev/shop-api" });
  const screen = openScreen([twin("1".repeat(8), "Fix the cart"), twin("2".repeat(8), "Write docs")]);
  expect(drawn(screen).slice(2, 4)).toEqual([
    expect.stringMatching(/^▸ ◐ shop-api “Fix the cart” +5m {2}Bash/),
    expect.stringMatching(/^ {2}◐ shop-api “Write docs” +5m {2}Bash/),
  ]);
  expect(drawn(screen).find((line) => line.startsWith("──"))).toStartWith(
    "── shop-api “Fix the cart” (main) · ",
  );
  screen.press("enter");
  expect(drawn(screen).at(-1)).toBe("Going to shop-api “Fix the cart” …");
});

test("80×24 has the list, the selected session's request, and the keys", () => {
  const id = (project: string) => list.find((known) => known.project === project)?.sessionId.slice(0, 8);
  const row = (left: string, project: string) => `${left.padEnd(72)}${id(project)}`;
  expect(drawn(openScreen(list))).toEqual([
    "● 2 need you   ✗ 1 failed   ◐ 1 working   ○ 1 ready   · 1 ended",
    "",
    row("▸ ● shop-api (main)   3m  Bash: npm publish --dry-run", "shop-api"),
    row("  ● infra (redesign)  1m  ⚠ Bash: rm -rf build npm run build", "infra"),
    row("  ✗ billing (main)    5m  failed: API Error: 529 Overloaded", "billing"),
    row("  ◐ beckon (main)     5m  Bash", "beckon"),
    row("  ○ shop-web (main)   5m  Fixed the cart total.", "shop-web"),
    "  · 1 ended: press e",
    `── shop-api (main) · tmux %4 · ${id("shop-api")} ───────────────────────────────── 1/5 ──`,
    "Run a command",
    "  npm publish --dry-run",
    "",
    "Folder: ~/shop-api",
    ...Array<string>(10).fill(""),
    "a allow   d deny   Enter go there   / filter   m mute   ? help   q quit",
  ]);
});

describe("a narrow and low terminal", () => {
  test("40×12 has the counts, five sessions, the request and the keys", () => {
    const screen = openScreen(list, { columns: 40, rows: 12 });
    screen.press("j");
    const lines = drawn(screen);
    expect(lines[0]).toBe("● 2  ✗ 1  ◐ 1  ○ 1  · 1");
    expect(lines.filter((line) => /^[▸ ] [●✗◌◐○·] /.test(line))).toHaveLength(5);
    expect(lines.slice(6)).toEqual([
      expect.stringMatching(/^── infra \(redesign\) · .* 2\/5 ──$/),
      "Run a command",
      "⚠ deletes without asking (rm -rf)",
      "  rm -rf build",
      "  … 3 more lines",
      "a allow  d deny  ? help  q quit",
    ]);
  });
});

test("without a session it says what to do", () => {
  expect(openScreen([]).text()).toContain("No sessions. Start an agent, and it appears here.");
});

test("the last response, an error and subagents are shown below the list", () => {
  const screen = openScreen(list);
  screen.press("j", "j");
  expect(screen.text()).toContain("\nfailed: API Error: 529 Overloaded\n");
  screen.press("j");
  expect(screen.text()).toContain("\n└ Explore · 1m · Grep\n");
  screen.press("j");
  expect(screen.text()).toContain("\nPrompt: Fix the cart\n\nFixed the cart total.\n\nAll tests pass.\n");
});

test("notices are shown above the list, in a part of the screen only", () => {
  const screen = openScreen(list);
  const notices = [
    "Quiet until 14:20: beckon shows no alerts.",
    "Claude Code's hooks are not registered.",
    "One more.",
    "And another.",
  ];
  screen.receive(list, { notices: notices.slice(0, 1) });
  expect(drawn(screen)[1]).toBe("Quiet until 14:20: beckon shows no alerts.");
  screen.receive(list, { notices });
  expect(drawn(screen).slice(1, 4)).toEqual([...notices.slice(0, 2), "More to know: beckon status"]);
});

test("a long command continues on the next line, with every character of it", () => {
  const long = `echo ${"  two  spaces ".repeat(20)}end`;
  const screen = openScreen([asks("shop", answerable("1", { lines: [long], dangers: ["x"] }))], {
    columns: 40,
    rows: 24,
  });
  screen.press("a");
  const text = screen
    .screen()
    .slice(4, -2)
    .filter((line) => line !== "")
    .map((line, n) => line.slice(n === 0 ? 2 : "⤷ ".length))
    .join("");
  expect(text).toBe(long);
});

test("whatever a command contains, every visible character of it is on the screen", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc
      .array(fc.constantFrom("👩‍👩‍👧‍👦", "漢", "e\u0301", "🇩🇪", " ", "a", "\u200d", "️"), { maxLength: 200 })
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(anyText, fc.integer({ min: 20, max: 100 }), (command, columns) => {
      const shown = makeLineVisible(command, true);
      const asked = { lines: [shown], dangers: ["x"] };
      const screen = openScreen([asks("shop", answerable("1", asked))], { columns, rows: 200 });
      screen.press("a");
      const lines = screen.screen().slice(4, -2);
      const last = lines.findLastIndex((line) => line !== "");
      const text = lines.slice(0, last + 1).map((line) => line.slice(2));
      expect(text.join("")).toBe(shown);
    }),
  );
});

test("without colours, nothing but text is drawn", () => {
  expect(openScreen(list).text()).not.toContain("\u001b");
  const coloured = openScreen(list, { columns: 80, rows: 24 }, true).text();
  expect(coloured).toContain("\u001b[7m▸ ● shop-api");
});

describe("whatever agents write, the terminal gets text only", () => {
  const nasty = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.constantFrom(
      "\u001b]0;owned\u0007",
      "\u001b[2J\u001b[31m",
      "\u009b31m",
      "a\r\nb\u2028c",
      "\u202egpj.exe",
      "漢字".repeat(30),
      "👩‍👩‍👧‍👦".repeat(20),
      "x".repeat(300),
      "e\u0301".repeat(80),
      "\ud800",
    ),
  );
  const randomSession = fc.record({
    project: nasty,
    gitBranch: nasty,
    title: nasty,
    sessionId: fc.uuid(),
    lastPrompt: nasty,
    lastResponse: nasty,
    detail: nasty,
    line: nasty,
    group: fc.constantFrom("needs_you", "failed", "set_aside", "working", "ready", "ended" as const),
  });
  const key = fc.constantFrom(
    ..."jkadegG?/ymsx12q ".split(""),
    "enter",
    "escape",
    "tab",
    "pagedown",
    "pageup",
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours that beckon itself writes
  const ownCodes = /\u001b\[(?:0|1|7|38;5;(?:29|130|161|243))m/g;

  test.each([true, false])("colours %p", (colour) => {
    fc.assert(
      fc.property(
        fc.array(randomSession, { maxLength: 12 }),
        fc.array(key, { maxLength: 12 }),
        fc.integer({ min: 20, max: 140 }),
        fc.integer({ min: 3, max: 40 }),
        nasty,
        (rows, keys, columns, height, message) => {
          const sessions = rows.map(({ detail, line, group, ...fields }) =>
            session("x", {
              ...fields,
              group,
              status: { kind: "working", detail },
              error: group === "failed" ? detail : null,
              cwd: `/${detail}`,
              children: [child({ agentId: "c", name: detail, type: detail, detail: line })],
              ...placed(detail, { TERM_PROGRAM: detail }),
              asks:
                group === "needs_you"
                  ? [
                      answerable(fields.sessionId, {
                        heading: detail,
                        lines: [line, detail],
                        dangers: [line],
                      }),
                    ]
                  : [],
            }),
          );
          const screen = openScreen(sessions, { columns, rows: height }, colour);
          screen.receive(sessions, { notices: [message] });
          const check = () => {
            const lines = screen.screen();
            expect(lines).toHaveLength(height);
            for (const line of lines) {
              const text = line.replace(ownCodes, "");
              expect(text).not.toMatch(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u);
              expect(text.isWellFormed()).toBe(true);
              expect(Bun.stringWidth(text)).toBeLessThanOrEqual(columns);
            }
          };
          check();
          for (const pressed of keys) {
            screen.press(pressed);
            check();
          }
          screen.done(message, true);
          check();
        },
      ),
      { numRuns: 150 },
    );
  });
});
