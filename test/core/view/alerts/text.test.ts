/** The exact text of alerts. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Ask, Session } from "../../../../src/core/session/session.ts";
import type { AlertsInput } from "../../../../src/core/view/alerts/alerts.ts";
import type { Alert } from "../../../../src/core/view/view.ts";
import { ago, ask, blocked, child, done, ended, hour, minute } from "../menu/fixture.ts";
import { computeTestAlerts, failed, later, midnight, now, stopped, withAlerts } from "./fixture.ts";

function alertOf(session: Session): Alert {
  const [alert] = computeTestAlerts([session], { config: withAlerts({ finished: true }) }).show;
  if (!alert) throw new Error("no alert is shown");
  return alert;
}

const inTmux = {
  local: true,
  pid: 7,
  procStart: "1",
  tty: "/dev/pts/1",
  terminalSessionId: null,
  env: { TMUX_PANE: "%3", TERM_PROGRAM: "tmux" },
};
const asks = (more: Partial<Ask>, of: Partial<Session> = {}) =>
  alertOf(blocked("web", 0, { asks: [ask(0, more)], place: inTmux, gitBranch: "fix-login", ...of }));

test("an alert about several says which of them is a plan", () => {
  const first = [1, 2, 3].map((n) => blocked(`api-${n}`, 9 * minute));
  const plan = blocked("docs", minute, {
    asks: [
      ask(minute, { kind: "plan", tool: "ExitPlanMode", summary: "# One page per task\n\n1. List them" }),
    ],
  });
  const run = blocked("infra", 2 * minute, { asks: [ask(2 * minute, { summary: "npm test" })] });
  const shared = computeTestAlerts([...first, run, plan]).show.find(({ key }) => key === "more:blocked");
  expect(shared?.body.split("\n")).toEqual(["infra: npm test", "docs: Plan: One page per task List them"]);
});

describe("an alert about", () => {
  test.each<[string, Partial<Ask>, string, string]>([
    ["a command", {}, "web wants to use Bash", "npm run deploy\nfix-login · tmux %3 · since 14:20"],
    [
      "a file of the project, by its name there",
      { tool: "Edit", summary: "/home/dev/web/src/login.ts" },
      "web wants to use Edit",
      "src/login.ts\nfix-login · tmux %3 · since 14:20",
    ],
    [
      "a file elsewhere",
      { tool: "Read", summary: "/home/dev/website/a.ts" },
      "web wants to use Read",
      "~/website/a.ts\nfix-login · tmux %3 · since 14:20",
    ],
    [
      "a tool of an MCP server",
      { tool: "mcp__github__create_issue", summary: "Login fails" },
      "web wants to use create_issue (github)",
      "Login fails\nfix-login · tmux %3 · since 14:20",
    ],
    [
      "an unnamed dialog",
      { tool: null, summary: "", from: "reminder" },
      "web needs your permission",
      "fix-login · tmux %3 · since 14:20",
    ],
    [
      "several questions, of which it has room for one",
      { kind: "question", summary: "Which colour?", options: ["Red", "Blue"], questions: 2 },
      "web has 2 questions",
      "1 of 2: Which colour?\nRed · Blue\nfix-login · tmux %3 · since 14:20",
    ],
    [
      "a question with its options",
      { kind: "question", tool: "AskUserQuestion", summary: "Which colour?", options: ["Red", "Blue"] },
      "web has a question",
      "Which colour?\nRed · Blue\nfix-login · tmux %3 · since 14:20",
    ],
    [
      "a question with many options",
      { kind: "question", summary: "Which?", options: ["A", "B", "C", "D", "E", "F"] },
      "web has a question",
      "Which?\nA · B · C · D · 2 more\nfix-login · tmux %3 · since 14:20",
    ],
    [
      "a plan",
      { kind: "plan", tool: "ExitPlanMode", summary: "# Fix the **login** ## Steps" },
      "web has a plan to approve",
      "Fix the login ## Steps\nfix-login · tmux %3 · since 14:20",
    ],
    [
      "what an MCP server asks",
      { kind: "elicitation", tool: null, summary: "Which account?" },
      "web needs your input",
      "Which account?\nfix-login · tmux %3 · since 14:20",
    ],
  ])("%s", (_, more, title, body) => {
    expect(asks(more)).toMatchObject({ title, body });
  });

  test("the ask of a subagent names the subagent", () => {
    const more = { children: [child("a1")] };
    expect(asks({ agentId: "a1" }, more).body).toBe(
      "npm run deploy\nExplore subagent · fix-login · tmux %3 · since 14:20",
    );
    expect(asks({ agentId: "a2" }, more).body).toBe(
      "npm run deploy\nsubagent · fix-login · tmux %3 · since 14:20",
    );
  });
  test("a session with a title shows it, and without a branch shows none", () => {
    expect(asks({}, { title: "Login redirect", gitBranch: "HEAD" }).body).toBe(
      "npm run deploy\nLogin redirect · tmux %3 · since 14:20",
    );
  });
  test("two sessions of one project differ in the title, and nothing is repeated", () => {
    const one = blocked("web", 0, { gitBranch: "fix-login", place: null });
    const two = { ...blocked("web", minute, { gitBranch: "main", place: null }), sessionId: "other" };
    expect(computeTestAlerts([one, two]).show.map(({ title, body }) => [title, body])).toEqual([
      ["web (main) wants to use Bash", "npm run deploy\nsince 14:19"],
      ["web (fix-login) wants to use Bash", "npm run deploy\nsince 14:20"],
    ]);
  });
  test("an alert names the agent if there are sessions of several, also after one of them has ended", () => {
    const web = blocked("web", 0, { gitBranch: null, place: null });
    const codex = done("docs", minute, { agent: "codex" });
    const bodyWith = (...others: Session[]) => computeTestAlerts([web, ...others]).show[0]?.body;
    expect(bodyWith(done("docs", minute))).toBe("npm run deploy\nsince 14:20");
    expect(bodyWith(codex)).toBe("npm run deploy\nclaude · since 14:20");
    expect(bodyWith({ ...ended("docs", minute), agent: "codex" })).toBe(bodyWith(codex));
  });
  test.each([
    ["Write", "shop-api “DO write /tmp/…” wants to use Write"],
    ["mcp__github__create_issue", "sho…pi “DO wr…” wants to use create_issue (github)"],
  ])("what a session of two wants is readable in 45 columns, as far as it fits: %s", (tool, title) => {
    const of = { gitBranch: null, place: null, lastPrompt: "DO write /tmp/new-report.txt and stop" };
    const one = blocked("shop-api", 0, { ...of, asks: [ask(0, { tool })] });
    const two = { ...done("shop-api", minute), sessionId: "other", lastPrompt: "Fix it", place: null };
    const [alert] = computeTestAlerts([one, two]).show;
    expect(alert?.title).toBe(title);
    expect(alert?.body).toContain("“DO write /tmp/new…” · since");
  });
  test("a failed and a dead session", () => {
    expect(alertOf(failed("web", minute, { place: inTmux }))).toMatchObject({
      title: "web stopped with an error",
      body: "API Error: overloaded\ntmux %3 · 14:19",
    });
    const died = { ...ago(minute), reason: "process gone", whileBusy: true };
    const gone = ended("web", minute, { ended: died, last: ago(minute), place: inTmux, gitBranch: "main" });
    expect(alertOf({ ...gone, lastPrompt: "Fix the\nlogin" })).toMatchObject({
      title: "web ended unexpectedly",
      body: "It was at work on: Fix the login\nmain · 14:19",
    });
    expect(alertOf(gone).body).toBe("It was in the middle of a turn.\nmain · 14:19");
  });
  test("a waiting session has the same text an hour later, and names the day after midnight", () => {
    const web = blocked("web", 0, { place: inTmux });
    const dayOf = (at: number) => (at === now.at ? "Mon 14:20" : "nothing else");
    const read = (input: Partial<AlertsInput>) => computeTestAlerts([web], input).show[0]?.body;
    expect(read({ now: later(hour) })).toBe("npm run deploy\ntmux %3 · since 14:20");
    expect(read({ now: later(hour) })).toBe(read({}));
    expect(read({ now: later(10 * hour), formatTime: dayOf })).toBe(
      "npm run deploy\ntmux %3 · since Mon 14:20",
    );
    expect(computeTestAlerts([web]).nextChange).toBe(midnight);
  });
  test("an idle session shows the last response without Markdown", () => {
    const lastResponse =
      "## Done\n\n**All** 12 tests pass, see [the log](http://x.y/z).\n\n- `a.ts` changed\n```ts\nlet x\n```\n1. __init__.py";
    expect(alertOf(stopped("web", minute, { lastResponse, place: null }))).toMatchObject({
      title: "web is done",
      body: "Done All 12 tests pass, see the log. a.ts changed let x __init__.py\n14:19",
    });
  });
});

describe("truncation", () => {
  const long = "Rename the exported function everywhere and run the whole test suite again ".repeat(4);
  test("keeps whole words of long texts", () => {
    const { body } = alertOf(stopped("web", minute, { lastResponse: long, place: null }));
    const [line = ""] = body.split("\n");
    expect(line.length).toBeLessThanOrEqual(120);
    expect(line).toMatch(/ (?:Rename|the|exported|function|everywhere|and|run|whole|test|suite|again)…$/);
  });
  test("leaves room for the request beside a long name", () => {
    const { title } = alertOf(blocked("the-project-with-the-longest-name-of-all-times", 0));
    expect(title).toEndWith(" wants to use Bash");
    expect(title.length).toBeLessThanOrEqual(64);
  });
  test("keeps the end of a long path", () => {
    const path = `/home/dev/web/${"deep/".repeat(60)}login.ts`;
    const [line] = asks({ tool: "Edit", summary: path }).body.split("\n");
    expect(line).toEndWith("/login.ts");
    expect(line?.length).toBeLessThanOrEqual(160);
  });
  test("splits no emoji", () => {
    const { body } = asks({ summary: "👩‍👩‍👧‍👦".repeat(100) }, { gitBranch: null, place: null });
    expect(body.split("\n")[0]).toMatch(/^(?:👩‍👩‍👧‍👦)+…$/u);
  });
});

describe("untrusted text", () => {
  const evil = "rm -rf /\u202e\u2066gpj.exe\u0007\x1b[2K\x1b]0;pwned\x07\nnext\u2028line\u0000\ud800";
  test("cannot add control characters, reverse or break lines", () => {
    const { title, body } = asks(
      { summary: evil, tool: evil, options: [evil], kind: "question" },
      { project: evil, title: evil, gitBranch: evil, place: { ...inTmux, env: { TERM_PROGRAM: evil } } },
    );
    for (const line of [title, ...body.split("\n")]) {
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
      expect(line.isWellFormed()).toBe(true);
      expect(line).not.toContain("pwned");
    }
    expect(body.split("\n")).toHaveLength(3);
  });
  test("always gives a short, clean alert", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.constantFrom(evil, "x".repeat(3_000), "e\u0301\u0301\u0301".repeat(500), "‏שלום עולם‎"),
    );
    fc.assert(
      fc.property(text, text, text, fc.array(text, { maxLength: 8 }), (project, summary, title, options) => {
        const { title: head, body } = asks(
          { summary, options, kind: "question", tool: summary },
          { project, title, gitBranch: title, lastResponse: summary },
        );
        expect(head).not.toBe("");
        expect(head.length).toBeLessThan(64 * 16);
        expect(body.split("\n").length).toBeLessThanOrEqual(3);
        expect(`${head}${body.replaceAll("\n", "")}`).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
        expect(`${head}${body}`.isWellFormed()).toBe(true);
      }),
    );
  });
});

test("an idle alert after an interrupted turn shows the prompt, not an older response", () => {
  const waits = {
    asks: [ask(0, { kind: "idle", tool: null, summary: "" })],
    prompted: ago(2 * minute),
    lastPrompt: "Now deploy",
    lastResponse: "All green",
  };
  const bodyAt = (at: number) =>
    alertOf(done("web", minute, { ...waits, stopped: ago(at) })).body.split("\n")[0];
  expect(bodyAt(hour)).toBe("interrupted: Now deploy");
  expect(bodyAt(minute)).toBe("All green");
});
