import { describe, expect, test } from "bun:test";
import { claudeForwarding } from "../../src/agents/claude/forwarding.ts";
import { shorten } from "../../src/hook/shorten.ts";
import { event } from "./harness.ts";

describe("a payload that is too large is shortened", () => {
  const deep = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
  for (const [what, bulk] of [
    ["one long text", "x".repeat(300_000)],
    ["one long text of three bytes a character", "語".repeat(300_000)],
    ["many texts", Array.from({ length: 2_000 }, () => "y".repeat(100))],
    ["a long list of numbers", Array.from({ length: 100_000 }, (_, n) => n)],
    ["an object of many fields", Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n]))],
    ["nesting too deep for JSON.stringify", [deep(60_000), "x".repeat(100_000)]],
  ] as const) {
    test(what, () => {
      const text = shorten({ bulk, ...event }, claudeForwarding.identifierFields, 100_000);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(100_000);
      expect(JSON.parse(text)).toMatchObject({
        session_id: event.session_id,
        hook_event_name: "PreToolUse",
        tool_name: "Bash",
      });
    });
  }

  test("many fields do not displace the identifying ones", () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n]));
    expect(
      JSON.parse(shorten({ ...many, ...event }, claudeForwarding.identifierFields, 50_000)),
    ).toMatchObject({
      session_id: event.session_id,
    });
  });
});
