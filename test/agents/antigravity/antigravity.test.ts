/** Antigravity CLI, as others report it: beckon has never been run with it. */
import { expect, test } from "bun:test";
import { antigravitySetup } from "../../../src/agents/antigravity/setup/index.ts";
import { translate } from "../../../src/agents/antigravity/translate.ts";
import { openEnvelope } from "../../../src/agents/envelope.ts";

const options = { version: null, binary: "/opt/beckon", home: null, platform: "linux" } as const;

test("its hooks have a name of their own, print a decision that decides nothing, and are removed without a trace", () => {
  const before = '{\n  "other": {\n    "Stop": []\n  }\n}\n';
  const { add } = antigravitySetup.createRegistration(options);
  const after = add(before);
  const { beckon } = JSON.parse(after);
  expect(Object.keys(beckon)).toEqual(["SessionStart", "PreInvocation", "Stop"]);
  expect(beckon.Stop[0].command).toBe("{ cd / && '/opt/beckon' hook antigravity; } 2>/dev/null; echo '{}'");
  expect(add(after)).toBe(after);
  expect(antigravitySetup.entries.remove(after)).toBe(before);
});

test("payloads without a name are told apart by their fields", () => {
  const changeOf = (fields: Record<string, unknown>) => {
    const hook = openEnvelope(
      { _meta: {}, payload: { conversationId: "c", ...fields } },
      "antigravity",
      null,
    );
    return hook && translate(hook, { id: "e", key: "k", at: 1, t: 1 })?.change.kind;
  };
  expect(changeOf({})).toBe("session-start");
  expect(changeOf({ invocationNum: 0 })).toBe("prompt");
  expect(changeOf({ invocationNum: 3 })).toBe("turn-start");
  expect(changeOf({ terminationReason: "DONE", fullyIdle: true })).toBe("turn-end");
  expect(changeOf({ terminationReason: "DONE", fullyIdle: false })).toBe("no-change");
});
