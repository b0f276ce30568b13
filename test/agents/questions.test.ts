/** Questions and replies, which every agent reads in the same way. */
import { describe, expect, test } from "bun:test";
import { claude } from "../../src/agents/claude/index.ts";
import { codex } from "../../src/agents/codex/index.ts";
import { opencode } from "../../src/agents/opencode/index.ts";
import { readQuestions, summarizeQuestions } from "../../src/agents/questions.ts";
import { limits } from "../../src/core/limits.ts";

describe("an ask", () => {
  test("has the first question, its labels in order, and the number of questions", () => {
    const options = [{ label: "Red" }, { label: "Blue\n!" }, 7, {}];
    expect(summarizeQuestions([{ question: "Which?", options }])).toEqual({
      summary: "Which?",
      options: ["Red", "Blue !"],
    });
    expect(summarizeQuestions([{ question: "Which?" }, { question: "Why?" }]).questions).toBe(2);
  });
  test("has no more labels than fit a menu", () => {
    const options = Array.from({ length: 100 }, (_, n) => ({ label: `${n}` }));
    expect(summarizeQuestions([{ question: "Which?", options }]).options).toHaveLength(limits.maxOptions);
    expect(summarizeQuestions([null, 7, "x", {}])).toEqual({ summary: "", options: [] });
  });
});

test.each<[string, unknown, boolean]>([
  ["whole", [{ question: "Which?", options: [{ label: "Red", description: "warm" }] }], true],
  ["without options", [{ question: "Why?" }], true],
  ["without a text", [{ question: "", options: [] }], false],
  ["with an option that cannot be read", [{ question: "Which?", options: [{ label: 7 }] }], false],
  ["with something else among them", [{ question: "Which?" }, 7], false],
])("questions %s", (_, list, isWhole) => {
  expect(readQuestions(list).isWhole).toBe(isWhole);
});

describe("a reply is judged in the same words", () => {
  const colour = { id: "q1", question: "Which colour?", options: [{ label: "Red" }, { label: "A\u200bB" }] };
  const questions = [colour];
  const claudeRequest = {
    ...{ session_id: "s", hook_event_name: "PermissionRequest", tool_name: "AskUserQuestion", cwd: "/" },
    tool_input: { questions },
  };
  const codexRequest = { method: "item/tool/requestUserInput", threadId: "t", questions };
  const opencodeRequest = { type: "question.asked", session: "s", request: "r", questions };
  describe.each([
    ["Claude Code", claude, claudeRequest],
    ["Codex", codex, codexRequest],
    ["opencode", opencode, opencodeRequest],
  ])("%s", (_, { answering }, payload) => {
    const reply = (...replies: string[][]) => answering?.decide(payload, { do: "reply", replies });

    test.each([
      [[["Red"], ["Red"]], "there is one question, and 2 answers"],
      [[[" "]], 'the answer to "Which colour?" is empty'],
      [[["Red", "Blue"]], 'only one answer can be given to "Which colour?"'],
      [[["x".repeat(20_001)]], "an answer is longer than 20000 characters"],
    ])("%j", (replies, wrong) => {
      expect(reply(...replies)).toBe(wrong);
    });
    test("a label may be given in the form in which it is shown", () => {
      expect(JSON.stringify(reply(["A⟨U+200B⟩B"]))).toContain("A\u200bB");
    });
    test("a question cannot be allowed", () => {
      expect(answering?.decide(payload, { do: "allow" })).toBe(
        "a question needs an answer: choose an option or write one",
      );
    });
  });
});
