/** The output that Claude Code understands, exactly as measured; and answers that make no sense. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decide as decideFor } from "../../../../src/agents/claude/answering/decide.ts";
import type { Answer } from "../../../../src/core/session/ask-details.ts";
import { colour, extras, recordedRequests, request } from "./requests.ts";

const decide = (payload: unknown, answer: Answer): unknown => decideFor(payload, answer);
const bash = (more: object = {}) => request("Bash", { command: "npm test" }, more);
const questions = (...list: object[]) => request("AskUserQuestion", { questions: list });
const plan = request("ExitPlanMode", { plan: "# Plan" });
const output = (decision: object) => ({
  hookSpecificOutput: { hookEventName: "PermissionRequest", decision },
});
const reply = (...replies: string[][]): Answer => ({ do: "reply", replies });

const rule = {
  type: "addRules",
  rules: [{ toolName: "Bash", ruleContent: "npm test" }],
  behavior: "allow",
  destination: "localSettings",
};
const mode = { type: "setMode", mode: "acceptEdits", destination: "session" };
const unknown = { type: "replaceRules", rules: [], behavior: "allow", destination: "session" };

describe("the output for", () => {
  test("allow", () => {
    expect(decide(bash(), { do: "allow" })).toEqual(output({ behavior: "allow" }));
  });
  test("deny, with the user's message or a default one", () => {
    const deny = (payload: object, message: string | null) => decide(payload, { do: "deny", message });
    expect(deny(bash(), "use pnpm")).toEqual(output({ behavior: "deny", message: "use pnpm" }));
    expect(deny(bash(), null)).toEqual(
      output({ behavior: "deny", message: "The user does not allow this. Ask what to do instead." }),
    );
    expect(deny(bash(), " \n ")).toEqual(deny(bash(), null));
    expect(deny(plan, "add tests")).toEqual(output({ behavior: "deny", message: "add tests" }));
    expect(deny(plan, null)).toEqual(
      output({
        behavior: "deny",
        message: "The user does not approve this plan. Keep planning, and ask what should change.",
      }),
    );
    expect(deny(questions(colour), null)).toEqual(
      output({ behavior: "deny", message: "The user does not want to answer this question." }),
    );
  });
  test("always: the CLI's own suggestion, unchanged, by its number in the list", () => {
    const payload = bash({ permission_suggestions: [unknown, rule, "x", mode] });
    expect(decide(payload, { do: "always", choice: 0 })).toEqual(
      output({ behavior: "allow", updatedPermissions: [rule] }),
    );
    expect(decide(payload, { do: "always", choice: 1 })).toEqual(
      output({ behavior: "allow", updatedPermissions: [mode] }),
    );
    const chosen = decideFor(payload, { do: "always", choice: 0 });
    if (typeof chosen === "string" || chosen.hookSpecificOutput.decision.behavior !== "allow")
      throw new Error("not allowed");
    expect(chosen.hookSpecificOutput.decision.updatedPermissions?.[0]).toBe(rule);
  });
  test("a plan: allowed with an empty input, because a plain allow is ignored", () => {
    expect(decide(plan, { do: "allow" })).toEqual(output({ behavior: "allow", updatedInput: {} }));
  });

  const answered = (answers: object, ...list: object[]) =>
    output({ behavior: "allow", updatedInput: { questions: list, answers } });
  test.each<[string, object[], string[][], object]>([
    ["one option", [colour], [["Blue"]], { "Which colour?": "Blue" }],
    ["free text", [colour], [["a dark green"]], { "Which colour?": "a dark green" }],
    ["several of many", [extras], [["Red", "Blue"]], { "Which extras?": "Red, Blue" }],
    ["one of many", [extras], [["Wheels, four"]], { "Which extras?": "Wheels, four" }],
    ["the same twice", [extras], [["Red", "Red", "Blue"]], { "Which extras?": "Red, Blue" }],
    [
      "free text where many could be chosen",
      [extras],
      [["none of them"]],
      { "Which extras?": "none of them" },
    ],
    [
      "two questions",
      [colour, extras],
      [["Red"], ["Blue"]],
      { "Which colour?": "Red", "Which extras?": "Blue" },
    ],
  ])("a question: %s", (_, list, replies, answers) => {
    expect(decide(questions(...list), reply(...replies))).toEqual(answered(answers, ...list));
  });
  test("a label, in the form in which it was shown", () => {
    const odd = { ...colour, options: [{ label: "A\u200b\nB", description: "" }] };
    expect(decide(questions(odd), reply(["A⟨U+200B⟩⟨U+000A⟩B"]))).toEqual(
      answered({ "Which colour?": "A\u200b\nB" }, odd),
    );
  });
  test("a question with the name of a property of every object", () => {
    const odd = { ...colour, question: "__proto__" };
    const decision = decide(questions(odd), reply(["Red"]));
    expect(JSON.stringify(decision)).toContain('"answers":{"__proto__":"Red"}');
  });
});

describe("an answer that makes no sense is refused with a reason", () => {
  const long = request("Bash", { command: "ls\n".repeat(100) });
  test.each<[object, Answer, string]>([
    [questions(colour), { do: "allow" }, "a question needs an answer: choose an option or write one"],
    [
      questions(colour),
      { do: "always", choice: 0 },
      "a question needs an answer: choose an option or write one",
    ],
    [questions(colour, extras), reply(["Red"]), "there are 2 questions, and 1 answer"],
    [questions(colour), reply(["Red"], ["Blue"]), "there is one question, and 2 answers"],
    [questions(colour), reply(), "there is one question, and 0 answers"],
    [questions(colour), reply([]), 'the answer to "Which colour?" is empty'],
    [questions(colour), reply([" "]), 'the answer to "Which colour?" is empty'],
    [questions(colour), reply(["Red", "Blue"]), 'only one answer can be given to "Which colour?"'],
    [questions(extras), reply(["Red", "Purple"]), '"Purple" is not an option of "Which extras?"'],
    [questions(colour), reply(["x".repeat(20_001)]), "an answer is longer than 20000 characters"],
    [
      questions(colour, colour),
      reply(["Red"], ["Red"]),
      "beckon cannot read this question: answer it in the terminal",
    ],
    [
      questions({ question: 5 }),
      reply(["Red"]),
      "beckon cannot read this question: answer it in the terminal",
    ],
    [bash(), reply(["yes"]), "this is not a question: allow it or deny it"],
    [plan, reply(["yes"]), "a plan is approved, or sent back with a message"],
    [plan, { do: "always", choice: 0 }, "a plan can be approved once, but not for good"],
    [bash(), { do: "always", choice: 0 }, "the agent offers nothing here that could be allowed for good"],
    [
      bash({ permission_suggestions: [rule] }),
      { do: "always", choice: 1 },
      "there is no such choice: the agent offers one to allow for good",
    ],
    [
      bash({ permission_suggestions: [rule, mode] }),
      { do: "always", choice: -1 },
      "there is no such choice: the agent offers 2 to allow for good",
    ],
    [
      bash({ permission_suggestions: [rule] }),
      { do: "always", choice: 0.5 },
      "there is no such choice: the agent offers one to allow for good",
    ],
    [long, { do: "allow" }, "not all of it can be shown here: look at it in the terminal"],
    [long, { do: "always", choice: 0 }, "not all of it can be shown here: look at it in the terminal"],
    [
      request("ExitPlanMode", {}),
      { do: "allow" },
      "not all of it can be shown here: look at it in the terminal",
    ],
    [{}, { do: "allow" }, "this is not a permission request"],
    [{ ...bash(), hook_event_name: "PreToolUse" }, { do: "allow" }, "this is not a permission request"],
    [bash(), { do: "deny", message: "x".repeat(20_001) }, "the message is longer than 20000 characters"],
  ])("%j %j", (payload, answer, wrong) => {
    expect(decide(payload, answer)).toBe(wrong);
  });
  test("a request that cannot be allowed can still be denied", () => {
    expect(decide(long, { do: "deny", message: "no" })).toEqual(output({ behavior: "deny", message: "no" }));
  });
});

describe("for any request and answer", () => {
  const answer: fc.Arbitrary<Answer> = fc.oneof(
    fc.constant<Answer>({ do: "allow" }),
    fc.record({ do: fc.constant("always" as const), choice: fc.oneof(fc.nat(4), fc.double()) }),
    fc.record({ do: fc.constant("deny" as const), message: fc.option(fc.string({ unit: "binary" })) }),
    fc.record({
      do: fc.constant("reply" as const),
      replies: fc.array(fc.array(fc.oneof(fc.constantFrom("Red", "Blue"), fc.string()))),
    }),
  );
  const one = fc.oneof(fc.constantFrom(colour, extras), fc.anything());
  const input = fc.oneof(
    fc.record({ questions: fc.oneof(fc.array(one, { maxLength: 3 }), fc.anything()) }),
    fc.record({ command: fc.string() }),
    fc.record({ plan: fc.string() }),
    fc.anything(),
  );
  const suggestions = fc.oneof(
    fc.array(fc.oneof(fc.constantFrom<unknown>(rule, mode, unknown), fc.anything())),
    fc.anything(),
  );
  const tool = fc.oneof(fc.constantFrom("Bash", "AskUserQuestion", "ExitPlanMode", "Write"), fc.anything());

  test("nothing throws; only an answer of the user allows; nothing is invented", () => {
    fc.assert(
      fc.property(tool, input, suggestions, answer, (name, toolInput, permission_suggestions, userAnswer) => {
        const output = decideFor(request(name, toolInput, { permission_suggestions }), userAnswer);
        if (typeof output === "string") return;
        const decision = output.hookSpecificOutput.decision;
        expect(decision.behavior).toBe(userAnswer.do === "deny" ? "deny" : "allow");
        if (decision.behavior === "deny") return expect(decision.message).not.toBe("");
        expect(decision.updatedPermissions === undefined).toBe(userAnswer.do !== "always");
        for (const entry of decision.updatedPermissions ?? [])
          expect(permission_suggestions).toContain(entry);
        if (userAnswer.do === "reply")
          expect(decision.updatedInput?.questions).toBe(Object(toolInput).questions);
      }),
      { numRuns: 3_000 },
    );
  });
  test("every request that the real CLI sent can be denied, and all but questions and unseen plans allowed", async () => {
    for (const payload of recordedRequests) {
      expect(decide(payload, { do: "deny", message: null })).toBeObject();
      const isAllowed = typeof decide(payload, { do: "allow" }) !== "string";
      expect(isAllowed).toBe(payload.tool_name === "Bash" || payload.tool_name === "Write");
    }
  });
});
