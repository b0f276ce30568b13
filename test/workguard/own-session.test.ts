/** Which session runs `beckon port`, so that the port that it starts is its own. */
import { expect, test } from "bun:test";
import { agents } from "../../src/agents/index.ts";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { findOwnSession } from "../../src/workguard/own-session.ts";

const session = (provider: string, sessionId: string, pid: number | null, state = "active") =>
  ({
    ...{ provider, sessionId, state, fingerprint: null },
    place: pid === null ? null : { local: true, pid, procStart: "5", terminalSessionId: null },
  }) as unknown as SessionView;

const sessions = [
  session("claude", "c1", 100),
  session("claude", "c2", 200),
  session("codex", "x1", null),
  session("codex", "x2", null),
  session("codex", "old", null, "completed"),
];
const find = (env: Record<string, string>, ancestors: readonly number[]) =>
  findOwnSession(agents, env, sessions, ancestors)?.sessionId ?? null;

test("the session whose process is a parent of this one", () => {
  expect(find({}, [901, 200, 1])).toBe("c2");
  expect(find({ CLAUDE_CODE_SESSION_ID: "c1" }, [901, 200])).toBe("c2");
});

test("a terminal that an agent opened is not the agent's, though it has its variables", () => {
  expect(find({ CLAUDE_PID: "100", CLAUDE_CODE_SESSION_ID: "c1" }, [901, 902])).toBeNull();
  expect(find({}, [901])).toBeNull();
});

test("the session that Codex's shared server runs the command for, by its variable", () => {
  expect(find({ CODEX_THREAD_ID: "x2" }, [901, 300])).toBe("x2");
  expect(find({ CODEX_THREAD_ID: "old" }, [901, 300])).toBeNull();
  expect(find({ CODEX_THREAD_ID: "unknown" }, [901, 300])).toBeNull();
});
