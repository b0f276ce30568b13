/** What a response means: the answer that it gives, or why it gives none. */
import { describe, expect, test } from "bun:test";
import { createAnswer, formatEnding } from "../../src/channels/message.ts";
import type { AskDetails, Question } from "../../src/core/session/ask-details.ts";

const createQuestion = (question: string, isMultiple = false): Question => ({
  header: "",
  question,
  options: ["Red", "Green", "Blue"].map((label) => ({ label, description: "" })),
  isMultiple,
});

const createDetails = (kind: AskDetails["kind"], questions: readonly Question[] = []): AskDetails => ({
  kind,
  tool: null,
  heading: "",
  lines: [],
  isWhole: true,
  dangers: [],
  always: [],
  questions,
});

const one = createDetails("question", [createQuestion("Which?")]);
const several = createDetails("question", [createQuestion("Which?", true)]);
const two = createDetails("question", [createQuestion("First?"), createQuestion("Second?")]);

describe("a reply with text", () => {
  const reply = (text: string | null, details: AskDetails) => createAnswer({ do: "text" }, text, details);

  test("denies a permission with that reason, and sends a plan back", () => {
    expect(reply(" not now ", createDetails("permission"))).toEqual({ do: "deny", message: "not now" });
    expect(reply("first the tests", createDetails("plan"))).toEqual({
      do: "deny",
      message: "first the tests",
    });
  });

  test.each([
    ["2", [["Green"]]],
    ["7", [["7"]]],
    ["1 and 2", [["1 and 2"]]],
    ["1, 2", [["1, 2"]]],
    ["a new one\nin two lines", [["a new one\nin two lines"]]],
  ])("to a question: %j", (text, replies) => {
    expect(reply(text, one)).toEqual({ do: "reply", replies });
  });

  test.each([
    ["1, 3", [["Red", "Blue"]]],
    ["3 1", [["Blue", "Red"]]],
    ["1, 9", [["1, 9"]]],
  ])("to a question with several answers: %j", (text, replies) => {
    expect(reply(text, several)).toEqual({ do: "reply", replies });
  });

  test("to two questions needs a line for each", () => {
    expect(reply("1\n\nmine", two)).toEqual({ do: "reply", replies: [["Red"], ["mine"]] });
    expect(reply("1", two)).toBe("there are 2 questions: reply with one line for each");
    expect(reply("1\n2\n3", two)).toBe("there are 2 questions: reply with one line for each");
  });

  test("that is empty gives no answer", () => {
    for (const text of [null, "", " \n "]) expect(reply(text, one)).toBe("the reply is empty");
  });
});

test("an option that the question no longer has gives no answer", () => {
  expect(createAnswer({ do: "option", index: 2 }, null, one)).toEqual({ do: "reply", replies: [["Blue"]] });
  expect(createAnswer({ do: "option", index: 3 }, null, one)).toBe("there is no such option");
});

test.each([
  ["allowed", "terminal", "Allowed in the terminal"],
  ["replied", "terminal", "Answered in the terminal"],
  ["denied", "phone (@joe)", "Denied by phone (@joe)"],
  ["approved", "page", "Approved on the dashboard"],
  ["always", "command line", "Allowed for good on the command line"],
  ["rule", "rule", "Allowed by a rule of yours"],
  ["dismissed", null, "No longer waiting for you"],
] as const)("%s, %s: %s", (how, where, text) => {
  expect(formatEnding(how, where)).toBe(text);
});
