import { expect, test } from "bun:test";
import { defaultConfig } from "../../../../src/core/config/config.ts";
import type { AskDetails } from "../../../../src/core/session/ask-details.ts";
import { answerIdOf } from "../../../../src/core/session/keys.ts";
import type { Ask } from "../../../../src/core/session/session.ts";
import type { MenuInput } from "../../../../src/core/view/menu/menu.ts";
import type { MenuEntry } from "../../../../src/core/view/view.ts";
import { createStep } from "../../answers/fixture.ts";
import { createDetails, createQuestion } from "../../session/ask-fixture.ts";
import {
  ask,
  blocked,
  createTestMenu,
  formatSubmenu,
  keyOf,
  listEntries,
  listLabels,
  minute,
} from "./fixture.ts";

const open = ask(4 * minute, { request: "event-1" });
const session = blocked("checkout-api", 4 * minute, { asks: [open] });
const id = keyOf(session).split(":")[1]?.slice(0, 8);

/** The ask in the submenu of its session, without the separator above its answers and without the commands below them. */
const offered = (what: AskDetails, more: Partial<MenuInput> = {}): string[] => {
  const [text = "", answers = ""] = formatSubmenu([session], session, { findDetails: () => what, ...more })
    .join("\n")
    .split("\n---\n");
  return [...text.split("\n"), ...answers.split("\n")];
};
const entry = (what: AskDetails, label: string): MenuEntry | undefined =>
  listEntries(createTestMenu([session], { findDetails: () => what }).items).find(
    (one) => one.label === label,
  );

test("a command is shown in full above its answers", () => {
  const lines = ["set -e", "for f in *.sql; do", '    psql -f "$f"', "done"];
  expect(offered(createDetails({ lines, always: ["Always allow psql in this session"] }))).toEqual([
    "(Run a command)",
    "│ set -e",
    "│ for f in *.sql; do",
    '│     psql -f "$f"',
    "│ done",
    "Go to terminal",
    "Allow",
    "Always allow psql in this session",
    "Deny",
  ]);
});

test("Allow and Deny are directly in the submenu of the session, with what else can be done", () => {
  const titled = { ...session, title: "Ship it", gitBranch: "release/7" };
  expect(formatSubmenu([titled], titled, { findDetails: () => createDetails() })).toEqual([
    "(Run a command)",
    "│ npm run deploy",
    "---",
    "Go to terminal",
    "Allow",
    "Deny",
    "---",
    "(“Ship it”)",
    "(Branch release/7)",
    "---",
    "Snooze 15 min",
    "Snooze 1 hour",
    "[ ] Mute this session",
    "[ ] Mute project “checkout-api”",
    "Dismiss",
    "Copy session id",
    "Open transcript",
  ]);
});

test("a click answers exactly this ask", () => {
  const action = {
    do: "answer",
    session: keyOf(session),
    ask: answerIdOf(open),
    step: createStep("menu"),
  } as const;
  expect(entry(createDetails(), "Allow")?.action).toEqual({ ...action, answer: { do: "allow" } });
  expect(entry(createDetails(), "Deny")?.action).toEqual({
    ...action,
    answer: { do: "deny", message: null },
  });
  const always = createDetails({
    always: ["Always allow a in this session", "Always allow b in this session"],
  });
  expect(entry(always, "Always allow b in this session")?.action).toEqual({
    ...action,
    answer: { do: "always", choice: 1 },
  });
});

test("a long line continues after a mark", () => {
  expect(offered(createDetails({ lines: [`echo ${"word ".repeat(20)}end`] })).slice(1, 3)).toEqual([
    `│ echo ${"word ".repeat(13)}word`,
    "│ ⤷  word word word word word word end",
  ]);
});

const dangerous = createDetails({
  lines: ["rm -rf build"],
  dangers: ["deletes without asking (rm -rf)"],
  always: ["Always allow rm in this session"],
});

test("something dangerous is marked in its row, and one click does not allow it", () => {
  const { items } = createTestMenu([session], { findDetails: () => dangerous });
  expect(listLabels(items)).toContain("● checkout-api · 4 min · ⚠ Bash: npm run deploy");
  expect(offered(dangerous)).toEqual([
    "(Run a command)",
    "⚠ deletes without asking (rm -rf)",
    "│ rm -rf build",
    "Go to terminal",
    "Allow… ⚠",
    "Deny",
  ]);
  expect(entry(dangerous, "Allow… ⚠")?.action).toEqual({
    do: "confirm",
    session: keyOf(session),
    ask: answerIdOf(open),
  });
});

test("the second click allows it, and only this ask", () => {
  const input = { findDetails: () => dangerous, confirming: answerIdOf(open) };
  expect(offered(dangerous, input).slice(-3)).toEqual(["Go to terminal", "Yes, allow it ⚠", "Deny"]);
  const { items } = createTestMenu([session], input);
  expect(listLabels(items)).toContain("● checkout-api · 4 min · ⚠ Confirm or deny · Bash: npm run deploy");
  expect(listEntries(items).find(({ label }) => label === "Yes, allow it ⚠")?.action).toMatchObject({
    do: "answer",
    ask: answerIdOf(open),
    answer: { do: "allow" },
  });
  expect(offered(dangerous, { ...input, confirming: "another ask" })).toContain("Allow… ⚠");
});

test("a dangerous ask behind another one is marked in the row too", () => {
  const other = ask(minute, { id: "ask-2", request: "event-2" });
  const both = blocked("checkout-api", 4 * minute, { asks: [open, other] });
  const { items } = createTestMenu([both], {
    findDetails: ({ id }) => (id === "ask-2" ? dangerous : createDetails()),
  });
  expect(listLabels(items)).toContain("● checkout-api · 4 min · Bash: npm run deploy +1 ⚠");
});

test("what is too long for a menu can only be looked at or denied", () => {
  const long = offered(createDetails({ lines: Array.from({ length: 30 }, (_, n) => `step ${n}`) }));
  expect(long.slice(-4)).toEqual([
    "│ step 18",
    "(… 11 more lines)",
    "Look at all of it in the terminal",
    "Deny",
  ]);
});

test("what is incomplete can only be looked at or denied", () => {
  expect(offered(createDetails({ lines: ["make", "… 300 more lines"], isWhole: false })).slice(-2)).toEqual([
    "Look at all of it in the terminal",
    "Deny",
  ]);
});

test("a question is answered with a click on an option", () => {
  const what = createQuestion(["SQLite", "Postgres"]);
  expect(offered(what)).toEqual([
    "(Answer a question)",
    "│ Which database should the new service use?",
    "│   1. SQLite",
    "│   2. Postgres",
    "Go to terminal",
    "Answer “SQLite”",
    "Answer “Postgres”",
    "Decline to answer",
  ]);
  expect(entry(what, "Answer “Postgres”")?.action).toMatchObject({
    answer: { do: "reply", replies: [["Postgres"]] },
  });
});

test.each([
  ["several answers", createQuestion(["a", "b"], { isMultiple: true })],
  [
    "two questions",
    {
      ...createQuestion(["a"]),
      questions: [...createQuestion(["a"]).questions, ...createQuestion(["b"]).questions],
    },
  ],
  ["an option that is too long", createQuestion(["a", "b".repeat(90)])],
])("%s: answered in the terminal or on the command line", (_, what) => {
  expect(offered(what).slice(-3)).toEqual([
    "Go to terminal",
    `(Answer there, or see: beckon answer ${id})`,
    "Decline to answer",
  ]);
});

test("a plan is approved or sent back", () => {
  const plan = createDetails({
    kind: "plan",
    tool: "ExitPlanMode",
    heading: "Approve a plan",
    lines: ["1. Ship it"],
  });
  expect(offered(plan)).toEqual([
    "(Approve a plan)",
    "│ 1. Ship it",
    "Go to terminal",
    "Approve plan",
    "Send back",
  ]);
});

test("an offer that does not fit is left to the command line", () => {
  const always = [`Always allow ${"x".repeat(90)} in this session`, "Always allow y in this session"];
  expect(offered(createDetails({ always })).slice(-4)).toEqual([
    "Allow",
    "Always allow y in this session",
    `(For more choices: beckon answer ${id})`,
    "Deny",
  ]);
  expect(entry(createDetails({ always }), "Always allow y in this session")?.action).toMatchObject({
    answer: { choice: 1 },
  });
});

test("of several asks the first that can be answered is shown in full, and the next one after it", () => {
  const subagent = ask(5 * minute, { id: "ask-0", request: "event-0", agentId: "a1", summary: "make" });
  const other = ask(minute, { id: "ask-2", request: "event-2", summary: "git push" });
  const all = blocked("checkout-api", 5 * minute, { asks: [subagent, open, other] });
  const findDetails = ({ request, agentId }: Ask) =>
    agentId === null ? createDetails({ lines: [request ?? ""] }) : null;
  expect(formatSubmenu([all], all, { findDetails }).slice(1, 9)).toEqual([
    "│ event-1",
    "---",
    "Go to terminal",
    "Allow",
    "Deny",
    "---",
    "(Also asks · Subagent › Bash: make)",
    "(Also asks · Bash: git push)",
  ]);
  const later = { ...all, asks: [subagent, other] };
  expect(formatSubmenu([later], later, { findDetails })[1]).toBe("│ event-2");
});

test("there are no answers if answering is turned off", () => {
  const config = { ...defaultConfig, answering: { ...defaultConfig.answering, enabled: false } };
  expect(formatSubmenu([session], session, { findDetails: () => createDetails(), config })).toEqual(
    formatSubmenu([session], session),
  );
});
