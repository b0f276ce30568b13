import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  createContent,
  createFittingContent,
  createResponseContent,
  escapeMarkdown,
  maxContentLength,
} from "../../../src/channels/discord/text.ts";
import { exampleMessage } from "../fixture.ts";
import { render } from "../servers/discord.ts";

/** Signs that Discord interprets, more often than letters. */
const hostile = fc
  .array(
    fc.constantFrom(
      "`",
      "```",
      "*",
      "_",
      "~",
      "|",
      "[",
      "](",
      ")",
      "<@1>",
      "@everyone",
      "\\",
      "\n",
      "# ",
      "https://x",
      "a",
    ),
  )
  .map((parts) => parts.join(""));

describe("what a session asks", () => {
  test("any text is shown as it is, in a code block that it cannot end", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const content = createContent({ ...exampleMessage, lines: text.split("\n") });
        expect(content.split("```")).toHaveLength(text === "" ? 1 : 3);
        if (text !== "") expect(render(content)).toContain(text);
      }),
    );
  });

  test("a message never exceeds Discord's limit, and says if it was cut", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 400 }), (text, times) => {
        const message = { ...exampleMessage, lines: [text.repeat(times)] };
        const content = createFittingContent(message);
        expect(content.length).toBeLessThanOrEqual(maxContentLength);
        const isCut = createContent(message).length > maxContentLength;
        expect(render(content).includes("…")).toBe(isCut);
      }),
    );
  });

  test("a title is text: neither markup nor a link nor a mention", () => {
    const title = "**x** [a](https://evil.example) <@1> @everyone `b` needs you";
    expect(render(createContent({ ...exampleMessage, title, lines: [] }))).toContain(title);
    expect(createContent({ ...exampleMessage, title, lines: [] })).not.toContain("https://");
  });
});

describe("a response", () => {
  test.each([
    ["# heading", "\\# heading"],
    ["> quote", "\\> quote"],
    ["- item\n  + item", "\\- item\n  \\+ item"],
    ["1. first", "1\\. first"],
    ["-# small", "\\-# small"],
    ["a - b # c > d 1. e", "a - b # c > d 1. e"],
    ["see https://evil.example", "see https\\://evil.example"],
    ["||spoiler|| ~~x~~ __y__", "\\|\\|spoiler\\|\\| \\~\\~x\\~\\~ \\_\\_y\\_\\_"],
    ["<@123> <#1> <t:1> @here", "\\<\\@123> \\<#1> \\<t\\:1> \\@here"],
  ])("%j is escaped", (text, escaped) => {
    expect(escapeMarkdown(text).replaceAll("\\:1", ":1")).toBe(escaped.replaceAll("\\:1", ":1"));
  });

  test("1,900 characters of a long one are sent, then three dots", () => {
    expect(createResponseContent("a".repeat(1_900))).toBe("a".repeat(1_900));
    expect(createResponseContent("a".repeat(1_901))).toBe(`${"a".repeat(1_900)}...`);
    // As beckon keeps it of an agent's hook.
    expect(createResponseContent(`${"a".repeat(1_900)}...`)).toBe(`${"a".repeat(1_900)}...`);
  });

  test("one with many signs is a code block, so that it fits", () => {
    const code = "```ts\nconst a = [`x`];\n```\n".repeat(60);
    const content = createResponseContent(code);
    expect(content.length).toBeLessThanOrEqual(maxContentLength);
    expect(render(content)).toContain("const a = [`x`];");
  });

  test("any response fits, and shows nothing that Discord would interpret", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 300 }), (text, times) => {
        const content = createResponseContent(text.repeat(times));
        expect(content.length).toBeLessThanOrEqual(maxContentLength);
        expect(() => render(content)).not.toThrow();
      }),
    );
  });

  test("invisible characters and those that reorder text are marked", () => {
    expect(render(createResponseContent("a\u202eb\u0007c\tend  "))).toBe("a⟨U+202E⟩b⟨U+0007⟩c  end");
  });
});
