/** Calls that are reported from a file, as their hooks would have. */
import { expect, test } from "bun:test";
import type { FileHook } from "../../../src/agents/agent.ts";
import { createFileCalls, rememberEnd, reportCalls } from "../../../src/agents/watch/file-calls.ts";
import { limits } from "../../../src/core/limits.ts";
import { createInternalEvent } from "../../../src/core/session/event.ts";
import { createSession } from "../../../src/core/session/session.ts";

const start = { kind: "session-start", source: "startup", model: null } as const;
const session = createSession(
  createInternalEvent("e1", { at: 1_000, t: 1_000 }, { agent: "kimi", sessionId: "s1" }, start),
);

test("a call that writes a large file is reported with its path, without what it writes", () => {
  const calls = createFileCalls();
  const tool_input = { path: "/home/dev/proj/big.txt", content: "x".repeat(limits.maxBodyBytes) };
  calls.starts.push({ toolUseId: "c1", at: 2_000, payload: { tool_name: "Write", tool_input } });
  rememberEnd(calls, { toolUseId: "c1", isFailed: false, at: 2_100 });
  const reported: FileHook[] = [];
  reportCalls(session, calls, (hook) => reported.push(hook));
  const input = { path: "/home/dev/proj/big.txt" };
  expect(reported.map(({ payload }) => [payload.hook_event_name, payload.tool_input])).toEqual([
    ["PreToolUse", input],
    ["PostToolUse", input],
  ]);
});

test("a call from before the session was known is not reported, nor is its end", () => {
  const calls = createFileCalls();
  calls.starts.push({ toolUseId: "c1", at: 999, payload: { tool_name: "Bash" } });
  rememberEnd(calls, { toolUseId: "c1", isFailed: false, at: 2_100 });
  const reported: FileHook[] = [];
  reportCalls(session, calls, (hook) => reported.push(hook));
  expect(reported).toEqual([]);
});
