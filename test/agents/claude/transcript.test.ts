import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import {
  addTranscriptRow,
  createTranscriptState,
  findLastResponse,
  summarizeTranscript,
  truncateResponse,
} from "../../../src/agents/claude/transcript.ts";
import { createUsageBook, sumUsage } from "../../../src/agents/claude/usage.ts";
import { limits } from "../../../src/core/limits.ts";
import { apiError, assistant, attachment, noResponse, text, timeOf, toolResult, user } from "./rows.ts";

const folder = new URL("../../fixtures/transcripts/", import.meta.url);
const linesOf = (name: string) => readFileSync(new URL(`${name}.jsonl`, folder), "utf8").split("\n");
const createState = () =>
  createTranscriptState(createUsageBook(), {
    sessionId: "s1",
    isSubagent: false,
    hasTranscript: () => false,
  });

function factsOf(lines: readonly string[]) {
  const state = lines.reduce(addTranscriptRow, createState());
  return { ...summarizeTranscript(state), tokens: sumUsage([state.ledger])?.tokens ?? null };
}

describe("transcripts of the real CLI", () => {
  test.each([
    ["plain-0", 1, 1, "hello there"],
    ["agent-0", 1, 3, "NOTED: a background task finished."],
    ["ask-0", 2, 3, "I will use a tool."],
    ["perm_deny-0", 2, 2, "next prompt"],
    ["resume-0", 3, 3, "three"],
    ["skill-0", 1, 3, "skill was expanded"],
    ["tool_ok_fail-0", 4, 8, /^FINAL: tool result was: <tool_use_error>/],
  ])("%s: %d turns, %d messages", (name, turnCount, messages, lastResponse) => {
    const facts = factsOf(linesOf(name));
    expect(facts).toMatchObject({ model: "claude-opus-5-5", gitBranch: "HEAD", turnCount, title: null });
    expect(facts.tokens).toEqual({
      input: 100 * messages,
      output: 20 * messages,
      cacheRead: 0,
      cacheWrite: 0,
    });
    expect(facts.lastResponse).toMatch(lastResponse);
  });

  test("api_error-0: four prompts and no response of the model", () => {
    expect(factsOf(linesOf("api_error-0"))).toEqual({
      model: null,
      context: null,
      tokens: null,
      turnCount: 4,
      gitBranch: "HEAD",
      title: null,
      lastResponse: null,
      interruptedAt: null,
    });
  });

  test('"No" and Esc leave an interruption, until the next prompt', () => {
    const denied = linesOf("perm_deny-0");
    const next = denied.findIndex((line) => line.includes("SAY next prompt"));
    expect(factsOf(denied.slice(0, next)).interruptedAt).toBe(Date.parse("2026-11-16T00:34:44.319Z"));
    expect(factsOf(denied).interruptedAt).toBeNull();
    expect(factsOf(linesOf("ask-0")).interruptedAt).toBe(Date.parse("2026-11-16T00:35:50.950Z"));
  });

  test("the last response is the same, read backwards or forwards, at any point of any of them", () => {
    for (const file of readdirSync(folder)) {
      const lines = linesOf(file.replace(".jsonl", ""));
      const state = createState();
      for (const [i, line] of lines.entries()) {
        const { lastResponse } = summarizeTranscript(addTranscriptRow(state, line));
        expect(lastResponse ?? null).toBe(
          truncateResponse(findLastResponse(lines.slice(0, i + 1)).text, limits.maxTextLength),
        );
      }
    }
  });
});

describe("tokens and model", () => {
  test("the rows of one message count once: the one with most tokens", () => {
    const usage = (output_tokens: number) => ({
      message: { id: "m1", model: "m", usage: { input_tokens: 7, output_tokens } },
    });
    const facts = factsOf([
      assistant("m0", text("a")),
      assistant("m1", [], usage(1)),
      assistant("m1", [], usage(9)),
    ]);
    expect(facts.tokens).toEqual({ input: 10 + 7, output: 5 + 9, cacheRead: 100, cacheWrite: 1 });
  });

  test("rows that a fork copied, or that were written again, count once", () => {
    const once = [
      user("hi", { uuid: "u1" }),
      assistant("m1", text("a")),
      user("more", { uuid: "u2" }),
      assistant("m2", text("b")),
    ];
    expect(factsOf([...once, ...once])).toEqual(factsOf(once));
    expect(factsOf(once)).toMatchObject({ turnCount: 2, tokens: { input: 20, output: 10 } });
  });

  test("every message of a very long session counts", () => {
    const state = createState();
    const many = limits.maxUsageMessages + 50;
    for (let i = 0; i < many; i++) addTranscriptRow(state, assistant(`m${i}`, []));
    expect(sumUsage([state.ledger])?.tokens).toEqual({
      input: 10 * many,
      output: 5 * many,
      cacheRead: 100 * many,
      cacheWrite: many,
    });
  });

  test("values that are not counts are ignored", () => {
    const usage = {
      input_tokens: -4,
      output_tokens: "9",
      cache_read_input_tokens: 2 ** 60,
      cache_creation_input_tokens: 1.5,
    };
    const usable = { ...usage, output_tokens: 3 };
    const rows = [usage, usable].map((fields, n) =>
      assistant("", [], { message: { id: `m${n}`, usage: fields } }),
    );
    expect(factsOf(rows).tokens).toEqual({ input: 0, output: 3, cacheRead: 0, cacheWrite: 0 });
  });

  test("API errors and messages that the CLI writes itself change neither", () => {
    const own = [user("hi"), assistant("m1", text("a"))];
    expect(factsOf([...own, apiError("API Error: 500"), noResponse()])).toEqual(factsOf(own));
  });

  test("a subagent's rows, which older CLIs write between the others, count only as usage", () => {
    const own = [user("hi"), assistant("m1", text("a"))];
    const message = { id: "x", model: "claude-haiku", usage: { input_tokens: 1, output_tokens: 1 } };
    const other = assistant("x", [], { isSidechain: true, message, gitBranch: "worktree" });
    const tokens = { input: 11, output: 6, cacheRead: 100, cacheWrite: 1 };
    expect(factsOf([...own, other])).toEqual({ ...factsOf(own), tokens });
  });

  test.each([
    ["claude-opus-5-5", undefined, 1_000_000],
    ["claude-opus-4-6", "claude-opus-4-6", 200_000],
    ["claude-opus-4-6", "claude-opus-4-6[1m]", 1_000_000],
    ["claude-haiku-4-5-20251001", undefined, 200_000],
    ["gpt-5", undefined, null],
  ])("the context of %s (asked for as %s) has %p tokens", (model, requestedModel, window) => {
    const usage = { input_tokens: 5, cache_read_input_tokens: 40_000, output_tokens: 9 };
    const row = assistant("m1", [], { requestedModel, message: { id: "m1", model, usage } });
    expect(factsOf([row]).context).toEqual({ used: 40_005, window });
  });

  test("after compaction the context is unknown until the next response", () => {
    const boundary = JSON.stringify({ type: "system", subtype: "compact_boundary", compactMetadata: {} });
    const before = [user("hi"), assistant("m1", text("a"))];
    expect(factsOf([...before, boundary]).context).toBeNull();
    expect(factsOf([...before, boundary, assistant("m2", text("b"))]).context?.used).toBe(111);
  });

  test("a context that is fuller than its window was a long one", () => {
    const usage = { input_tokens: 250_000 };
    const row = assistant("m1", [], { message: { id: "m1", model: "claude-sonnet-4-6", usage } });
    expect(factsOf([row]).context).toEqual({ used: 250_000, window: 1_000_000 });
  });
});

describe("turns", () => {
  test.each<[string, string, number]>([
    ["a prompt", user("hello"), 1],
    ["a prompt in blocks", user(text("hello")), 1],
    ["a picture alone", user([{ type: "image", source: {} }]), 1],
    [
      "a prompt after an editor's own tag",
      user([...text("<ide_opened_file>a.ts</ide_opened_file>"), ...text("hello")]),
      1,
    ],
    ["a comparison, which is not a tag", user("< 5 is what?"), 1],
    ["a tool result", user(toolResult("ok")), 0],
    ["a tool result with a text beside it", user([...toolResult("ok"), ...text("hello")]), 0],
    ["a subagent's prompt", user("hello", { isSidechain: true }), 0],
    ["a note of the CLI's", user("hello", { isMeta: true }), 0],
    ["the summary of a compaction", user("hello", { isCompactSummary: true }), 0],
    ["a slash command", user("<command-name>/model</command-name>"), 0],
    ["a shell command", user("<bash-input>echo hi</bash-input>"), 0],
    ["a task's end", user("<task-notification>\n<task-id>a</task-id></task-notification>"), 0],
    ["an interruption", user(text("[Request interrupted by user]")), 0],
    ["an interruption of a tool", user("[Request interrupted by user for tool use]"), 0],
    ["nothing", user(""), 0],
    ["no message", user("", { message: 5 }), 0],
  ])("%s", (_, line, turns) => {
    expect(factsOf([line]).turnCount).toBe(turns);
  });
});

describe("branch and title", () => {
  test("the branch is the last one named", () => {
    expect(
      factsOf([user("a"), user("b", { gitBranch: "fix/1" }), user("c", { gitBranch: "" })]).gitBranch,
    ).toBe("fix/1");
  });

  const custom = JSON.stringify({ type: "custom-title", customTitle: "Mine" });
  const ai = JSON.stringify({ type: "ai-title", aiTitle: "Guessed" });
  const summary = JSON.stringify({ type: "summary", summary: "Summed up", leafUuid: "x" });
  const prompt = JSON.stringify({ type: "last-prompt", lastPrompt: "fix\n  the\tbug" });
  test.each([
    [[custom, ai, summary, prompt], "Mine"],
    [[prompt, summary, ai], "Guessed"],
    [[prompt, summary], "Summed up"],
    [[prompt], null],
    [[JSON.stringify({ type: "summary", summary: "<task-notification>x" })], null],
    [[custom, JSON.stringify({ type: "custom-title", customTitle: "Newer" })], "Newer"],
    [[custom, ai, JSON.stringify({ type: "custom-title", customTitle: "" })], "Guessed"],
    [[summary, JSON.stringify({ type: "ai-title", aiTitle: 5 })], "Summed up"],
    [[], null],
  ])("%j is called %j", (lines, title) => {
    expect(factsOf(lines).title).toBe(title as string);
  });

  test("a long one is shortened", () => {
    const long = JSON.stringify({ type: "ai-title", aiTitle: "y".repeat(10_000) });
    expect(factsOf([long]).title).toHaveLength(limits.maxSummaryLength);
  });
});

describe("an interruption", () => {
  const stopped = () => user(text("[Request interrupted by user]"));

  test.each<[string, () => string[]]>([
    [
      "the CLI's bookkeeping",
      () => [JSON.stringify({ type: "last-prompt", lastPrompt: "x" }), attachment(9)],
    ],
    ["a local command", () => [user("<command-name>/model</command-name>")]],
    ["a note of the CLI's", () => [user("<system-reminder>x</system-reminder>", { isMeta: true })]],
    ["a resume", () => [noResponse()]],
    ["a subagent that goes on", () => [assistant("s", text("sub"), { isSidechain: true })]],
    ["a row written late", () => [assistant("m1", text("partial"), { timestamp: "2026-01-01T00:00:00Z" })]],
  ])("still holds after %s", (_, later) => {
    const interruption = stopped();
    expect(factsOf([user("go"), interruption, ...later()]).interruptedAt).toBe(timeOf(interruption));
  });

  test.each<[string, () => string]>([
    ["a prompt", () => user("again")],
    ["a task's end", () => user("<task-notification>done</task-notification>")],
    ["an answer", () => assistant("m2", text("yes"))],
    ["an answer without a time", () => assistant("m2", text("yes"), { timestamp: null })],
  ])("is over with %s", (_, later) => {
    expect(factsOf([user("go"), stopped(), later()]).interruptedAt).toBeNull();
  });

  test("the last one counts", () => {
    const [first, second] = [stopped(), stopped()];
    expect(factsOf([first, user("again"), second]).interruptedAt).toBe(timeOf(second));
  });

  test("without a time is ignored", () => {
    expect(factsOf([user("[Request interrupted by user]", { timestamp: 5 })]).interruptedAt).toBeNull();
  });
});
