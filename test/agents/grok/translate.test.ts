/** Whose session a hook of Grok Build is about. */
import { expect, test } from "bun:test";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import { grok } from "../../../src/agents/grok/index.ts";

function translate(fields: object) {
  const payload = { session_id: "s1", hook_event_name: "UserPromptSubmit", prompt: "go", ...fields };
  const hook = openEnvelope({ payload, _meta: {} }, "grok", null);
  return hook && grok.translate(hook, { id: "e1", key: "e1", at: 1, t: 1 });
}

test("a subagent has a session of its own, which nobody attends", () => {
  expect(translate({ subagentType: "general-purpose" })?.attended).toBe(false);
});

test("the main session stays attended, also in a hook about its subagent", () => {
  expect(translate({})?.attended).toBeNull();
  const about = { hook_event_name: "SubagentStart", subagentType: "general-purpose", subagentId: "s2" };
  expect(translate(about)?.attended).toBeNull();
});
