/** What Copilot CLI's hooks send becomes beckon's events, whatever is in it. */
import { expect, test } from "bun:test";
import { copilot } from "../../../src/agents/copilot/index.ts";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import type { JsonRecord } from "../../../src/core/json.ts";

function translate(fields: JsonRecord) {
  const payload = { session_id: "s1", cwd: "/p", ...fields };
  const hook = openEnvelope({ provider: "copilot", _meta: {}, payload }, "copilot", null);
  return hook && copilot.translate(hook, { id: "e", key: "k", at: 1, t: 1 });
}

test.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
  "a session that starts or ends with %p, as every object has it, is shown as any other",
  (name) => {
    expect(translate({ hook_event_name: "SessionStart", source: name })?.change).toEqual({
      kind: "session-start",
      source: "startup",
      model: null,
    });
    expect(translate({ hook_event_name: "SessionEnd", reason: name })?.change).toEqual({
      kind: "session-end",
      reason: name,
    });
  },
);
