/** Whose session a hook of Grok Build is about. */
import { expect, test } from "bun:test";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import { grok } from "../../../src/agents/grok/index.ts";

function translate(fields: object) {
  const payload = { session_id: "s1", hook_event_name: "UserPromptSubmit", prompt: "go", ...fields };
  const hook = openEnvelope({ payload, _meta: {} }, "grok", null);
  return hook && grok.translate(hook, { id: "e1", key: "e1", at: 1, t: 1 });
}

test("a hook that starts late counts from when Grok Build sent it", () => {
  const at = Date.parse("2026-11-18T12:00:01.500Z");
  const stampOf = (timestamp: unknown) => {
    const payload = { session_id: "s1", hook_event_name: "PreToolUse", timestamp };
    const hook = openEnvelope({ payload, _meta: { at } }, "grok", null);
    const event = hook && grok.translate(hook, { id: "e1", key: "e1", at, t: 9_000 });
    return event && [event.at, event.t];
  };
  expect(stampOf("2026-11-18T12:00:01.100123456+00:00")).toEqual([at - 400, 8_600]);
  // Of another clock, or not a time.
  for (const odd of ["2026-11-18T12:00:02.000Z", "2026-11-17T12:00:00.000Z", "soon", 12, undefined])
    expect(stampOf(odd)).toEqual([at, 9_000]);
});

test("a subagent has a session of its own, which nobody attends", () => {
  expect(translate({ subagentType: "general-purpose" })?.attended).toBe(false);
});

test("the main session stays attended, also in a hook about its subagent", () => {
  expect(translate({})?.attended).toBeNull();
  const about = { hook_event_name: "SubagentStart", subagentType: "general-purpose", subagentId: "s2" };
  expect(translate(about)?.attended).toBeNull();
});
