import { expect, test } from "bun:test";
import { defaultConfig } from "../../../../src/core/config/config.ts";
import type { AskDetails } from "../../../../src/core/session/ask-details.ts";
import { answerIdOf } from "../../../../src/core/session/keys.ts";
import type { MenuInput } from "../../../../src/core/view/menu/menu.ts";
import type { MenuEntry } from "../../../../src/core/view/view.ts";
import { createDetails, createQuestion } from "../../session/ask-fixture.ts";
import {
  ask,
  blocked,
  createTestMenu,
  formatMenu,
  formatSubmenu,
  keyOf,
  listEntries,
  minute,
} from "./fixture.ts";

const open = ask(4 * minute, { request: "event-1" });
const session = blocked("checkout-api", 4 * minute, { asks: [open] });
const answer = `answer/${keyOf(session)}/${answerIdOf(open)}`;
const id = keyOf(session).split(":")[1]?.slice(0, 8);

const offered = (what: AskDetails, more: Partial<MenuInput> = {}): string[] =>
  formatSubmenu([session], answer, { findDetails: () => what, ...more });
const entry = (what: AskDetails, label: string): MenuEntry | undefined =>
  listEntries(createTestMenu([session], { findDetails: () => what }).items).find(
    (one) => one.label === label,
  );

test("a command is shown in full above its answers", () => {
  const lines = ["set -e", "for f in *.sql; do", '    psql -f "$f"', "done"];
  expect(offered(createDetails({ lines, always: ["Always allow psql in this session"] }))).toEqual([
    "(Run a command)",
    "(│ set -e)",
    "(│ for f in *.sql; do)",
    '(│     psql -f "$f")',
    "(│ done)",
    "Go to terminal",
    "Allow",
    "Always allow psql in this session",
    "Deny",
  ]);
});

test("the submenu opens at the entry of the ask: nothing else in the menu moves", () => {
  const before = formatSubmenu([session], session);
  const after = formatSubmenu([session], session, { findDetails: () => createDetails() });
  expect(before[0]).toBe("(Asks · Bash: npm run deploy)");
  expect(after[0]).toBe("Asks · Bash: npm run deploy >");
  expect(after.slice(1)).toEqual(before.slice(1));
});

test("a click answers exactly this ask", () => {
  const action = { do: "answer", session: keyOf(session), ask: answerIdOf(open), by: "tray" } as const;
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
    `(│ echo ${"word ".repeat(13)}word)`,
    "(│ ⤷  word word word word word word end)",
  ]);
});

test("a danger is shown before the command, and allowing it has another label", () => {
  expect(
    offered(createDetails({ lines: ["rm -rf build"], dangers: ["deletes without asking (rm -rf)"] })),
  ).toEqual([
    "(Run a command)",
    "(⚠ deletes without asking (rm -rf))",
    "(│ rm -rf build)",
    "Go to terminal",
    "Allow anyway",
    "Deny",
  ]);
});

test("what is too long for a menu can only be looked at or denied", () => {
  const long = offered(createDetails({ lines: Array.from({ length: 30 }, (_, n) => `step ${n}`) }));
  expect(long.slice(-4)).toEqual([
    "(│ step 18)",
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
    "(│ Which database should the new service use?)",
    "(│   1. SQLite)",
    "(│   2. Postgres)",
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
    `(Answer there, or with: beckon answer ${id} …)`,
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
    "(│ 1. Ship it)",
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
    `(For more choices: beckon answer ${id} …)`,
    "Deny",
  ]);
  expect(entry(createDetails({ always }), "Always allow y in this session")?.action).toMatchObject({
    answer: { choice: 1 },
  });
});

test("each of several asks has its own submenu", () => {
  const other = ask(minute, { id: "ask-2", request: "event-2", summary: "git push" });
  const both = blocked("checkout-api", 4 * minute, { asks: [open, other] });
  const { items } = createTestMenu([both], {
    findDetails: ({ request }) => createDetails({ lines: [request ?? ""] }),
  });
  const asks = listEntries(items).filter((one) => one.id.startsWith("answer/"));
  expect(asks.map(({ children = [] }) => formatMenu(children).split("\n")[1])).toEqual([
    "(│ event-1)",
    "(│ event-2)",
  ]);
  const allows = listEntries(items).filter(({ label }) => label === "Allow");
  expect(new Set(allows.map((one) => one.action?.do === "answer" && one.action.ask)).size).toBe(2);
});

test("there are no answers if answering is turned off", () => {
  const config = { ...defaultConfig, answering: { ...defaultConfig.answering, enabled: false } };
  expect(formatSubmenu([session], session, { findDetails: () => createDetails(), config })).toEqual(
    formatSubmenu([session], session),
  );
});
