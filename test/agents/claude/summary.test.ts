import { describe, expect, test } from "bun:test";
import { summarizeCall } from "../../../src/agents/claude/summary.ts";
import { toOneLine } from "../../../src/agents/one-line.ts";
import { limits } from "../../../src/core/limits.ts";
import { truncate } from "../../../src/core/text/truncate.ts";

describe("the summary of a tool call", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["Bash", { description: "Makes a file", command: "touch x" }, "touch x"],
    ["Write", { content: "long", file_path: "/a/b.ts" }, "/a/b.ts"],
    ["Grep", { path: "/a", pattern: "x+" }, "x+"],
    ["WebFetch", { prompt: "read", url: "https://example.com" }, "https://example.com"],
    ["Agent", { prompt: "look", description: "Find it" }, "Find it"],
    ["Skill", { skill: "review" }, "review"],
    ["ExitPlanMode", { plan: "# Plan\n\n1. Do a" }, "# Plan 1. Do a"],
    [
      "AskUserQuestion",
      { questions: [{ question: "Which colour?" }, { question: "Why?" }] },
      "Which colour?",
    ],
    ["mcp__db__query", { limit: 5, sql: "select 1", other: "x" }, "select 1"],
    ["Bash", {}, ""],
    ["Bash", { command: 7, description: "Makes a file" }, "Makes a file"],
    ["AskUserQuestion", { questions: "none" }, ""],
    ["", { command: "x" }, "x"],
  ])("%s %j → %j", (tool, input, summary) => {
    expect(summarizeCall(tool, input)).toBe(summary);
  });
});

describe("one line", () => {
  test("has no line breaks, control characters or space around it", () => {
    expect(toOneLine("  a\r\n\tb\u0000\u001b[31mc\u009b  ")).toBe("a b [31mc");
  });
  test("is shortened with an ellipsis, and never inside of a character", () => {
    const line = toOneLine("x".repeat(10_000));
    expect(line).toHaveLength(limits.maxSummaryLength);
    expect(line).toEndWith("x…");
    expect(truncate("ab🙂cd", 4)).toBe("ab…");
    expect(truncate("ab🙂cd", 5)).toBe("ab🙂…");
    expect(truncate("ab🙂", 4)).toBe("ab🙂");
  });
  test("has an ellipsis if the text goes on, though its start is mostly spaces", () => {
    expect(toOneLine(`a${" ".repeat(100_000)}b`)).toBe("a…");
  });
});
