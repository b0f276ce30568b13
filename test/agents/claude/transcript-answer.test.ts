import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addTranscriptRow,
  createTranscriptState,
  findLastResponse,
  summarizeTranscript,
  truncateResponse,
} from "../../../src/agents/claude/transcript.ts";
import { createUsageBook } from "../../../src/agents/claude/usage.ts";
import { limits } from "../../../src/core/limits.ts";
import {
  apiError,
  assistant,
  attachment,
  noResponse,
  result,
  say,
  text,
  thinking,
  use,
  user,
} from "./rows.ts";

const factsOf = (lines: readonly string[]) =>
  summarizeTranscript(
    lines.reduce(
      addTranscriptRow,
      createTranscriptState(createUsageBook(), {
        sessionId: "s1",
        isSubagent: false,
        hasTranscript: () => false,
      }),
    ),
  );

const prompt = user("go");
const command = user("<command-name>/model</command-name>");
const taskEnd = user("<task-notification>x</task-notification>");
const torn = '{"type":"assistant","message":{"id":"m2","con';

describe("the last response, read backwards from the end or forwards from the start", () => {
  test.each<[string, string[], string | null]>([
    ["nothing", [], null],
    ["prompts only", [prompt, user("b")], null],
    ["an answer", [prompt, say("m1", "hello")], "hello"],
    ["an answer given as a text", [prompt, assistant("m1", "hello")], "hello"],
    ["the last of two", [prompt, say("m1", "one"), user("b"), say("m2", "two")], "two"],
    ["thinking only", [prompt, assistant("m1", thinking("hm"))], null],
    ["a tool call only", [prompt, use("m1")], null],
    ["a turn of tool calls after one with words", [prompt, say("m1", "one"), user("b"), use("m2")], null],
    ["a message of tool calls after one with words", [prompt, say("m1", "one"), result(), use("m2")], null],
    ["words before a tool call", [prompt, say("m1", "one"), use("m1"), result()], "one"],
    ["thinking, then words", [prompt, assistant("m1", thinking("hm")), say("m1", "so")], "so"],
    ["blocks of one message", [prompt, say("m1", "one"), use("m1"), result(), say("m1", "two")], "one\ntwo"],
    ["blocks in one row", [assistant("m1", [...text("one"), { type: "x" }, ...text("two")])], "one\ntwo"],
    ["a row written twice", [prompt, say("m1", "one"), say("m1", "one")], "one"],
    [
      "a subagent's word after it",
      [prompt, say("m1", "own"), assistant("m2", "sub", { isSidechain: true })],
      "own",
    ],
    ["an API error after it", [prompt, say("m1", "own"), apiError("API Error: 500")], "own"],
    ["a resume after it", [prompt, say("m1", "own"), noResponse()], "own"],
    ["a new turn without an answer: the one before is not its", [prompt, say("m1", "one"), user("b")], null],
    ["a new turn that failed", [prompt, say("m1", "one"), user("b"), apiError("API Error: 500")], null],
    ["a task's end after it", [prompt, say("m1", "one"), taskEnd], null],
    ["a slash command after it", [prompt, say("m1", "one"), command], "one"],
    ["messages without id are not joined", [prompt, say("", "one"), say("", "two")], "two"],
    ["blank words", [prompt, say("m1", " \n ")], null],
    ["a torn last line", [prompt, say("m1", "one"), torn], "one"],
    ["rows over 60 KB after it", [prompt, say("m1", "one"), attachment(70_000), attachment(200_000)], "one"],
    [
      "a fork's copies before it",
      [prompt, say("m1", "one"), prompt, say("m1", "one"), user("b"), say("m2", "two")],
      "two",
    ],
  ])("%s", (_, lines, answer) => {
    expect(findLastResponse(lines).text).toBe(answer);
    expect(factsOf(lines).lastResponse).toBe(answer as string);
  });

  test("reports whether earlier lines could change it", () => {
    const answer = [say("m1", "one"), attachment(10)];
    expect(findLastResponse([attachment(10)])).toEqual({ text: null, isWhole: false });
    expect(findLastResponse(answer)).toEqual({ text: "one", isWhole: false });
    expect(findLastResponse([prompt, ...answer])).toEqual({ text: "one", isWhole: true });
    expect(findLastResponse([use("m0"), result(), ...answer])).toEqual({ text: "one", isWhole: true });
    expect(findLastResponse([prompt])).toEqual({ text: null, isWhole: true });
    expect(findLastResponse([say("", "has no id")])).toEqual({ text: "has no id", isWhole: true });
  });
});

describe("a long response", () => {
  test.each([
    ["x".repeat(1_900), "x".repeat(1_900)],
    ["x".repeat(1_901), `${"x".repeat(1_900)}...`],
    ["x".repeat(5_000), `${"x".repeat(1_900)}...`],
    [`${"x".repeat(1_899)}😀 and more`, `${"x".repeat(1_899)}...`],
    [`${"x".repeat(1_898)}😀 and more`, `${"x".repeat(1_898)}😀...`],
  ])("is shortened to 1900 characters, never inside of a character", (long, cut) => {
    expect(truncateResponse(long, 1_900)).toBe(cut);
    expect(factsOf([say("m1", long)]).lastResponse).toBe(cut);
  });

  test("is well-formed text, however short", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (value, max) => {
        const cut = truncateResponse(value, max) ?? "";
        expect(cut.isWellFormed()).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(max + 3);
      }),
    );
  });
});

describe("any line", () => {
  const words = [
    "assistant",
    "user",
    "summary",
    "text",
    "\ud800",
    "m1",
    "<synthetic>",
    "[Request interrupted by user]",
  ];
  const fields = [
    "type",
    "message",
    "content",
    "text",
    "id",
    "usage",
    "model",
    "timestamp",
    "gitBranch",
    "uuid",
  ];
  const tree = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue(),
      fc.constantFrom<unknown>(...words, true),
      fc.array(tie("node"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...fields), tie("node")),
    ),
  })).node;
  const types = fc.constantFrom("assistant", "user", "ai-title", "summary");
  const row = fc.oneof(tree, fc.record({ type: types, message: tree, timestamp: tree, isSidechain: tree }));
  const line = fc.oneof(
    fc.string(),
    row.map((value) => JSON.stringify(value)),
  );

  test("never throws", () => {
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const facts = factsOf(lines);
        expect(facts.turnCount).toBeLessThanOrEqual(lines.length);
        expect(facts.lastResponse ?? null).toBe(
          truncateResponse(findLastResponse(lines).text, limits.maxTextLength),
        );
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ["deep nesting", `${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`],
    ["NUL", "\0{}"],
    ["an array", "[1]"],
    ["a BOM", "\ufeff{}"],
  ])("%s adds nothing", (_, strange) => {
    expect(factsOf([prompt, strange])).toEqual(factsOf([prompt]));
  });
});
