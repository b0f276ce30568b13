/** Codex's hooks and rollout rows, one by one. The replay has them in their order. */
import { describe, expect, test } from "bun:test";
import { addRolloutRow, createRolloutState } from "../../../src/agents/codex/rollout.ts";
import { translate } from "../../../src/agents/codex/translate.ts";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import { reduce } from "../../../src/core/session/reduce.ts";

type Fields = Readonly<Record<string, unknown>>;

function translateHook(name: string, fields: Fields, meta: Fields = {}) {
  const payload = { session_id: "s-1", turn_id: "t-1", cwd: "/p", hook_event_name: name, ...fields };
  const hook = openEnvelope({ provider: "codex", _meta: meta, payload }, "codex", "host");
  const event = hook && translate(hook, { id: name, key: name, at: 1, t: 1 });
  if (!event) throw new Error("not translated");
  return event;
}

describe("where the terminal is", () => {
  const meta = { host: "host", pid: 69, procStart: "1", env: { TMUX: "/tmp/tmux,1,0", TMUX_PANE: "%0" } };
  test("is known from a hook whose process has a terminal", () => {
    expect(translateHook("Stop", {}, { ...meta, tty: "/dev/pts/3" }).place).toMatchObject({ pid: 69 });
  });
  test("is unknown from a hook of the shared server: its variables are those of another terminal", () => {
    expect(translateHook("Stop", {}, { ...meta, tty: null }).place).toBeNull();
  });
});

describe("a request is matched with its call", () => {
  const inputKeyOf = (name: string, tool_name: string, tool_input: Fields) => {
    const { change } = translateHook(name, { tool_name, tool_input, tool_use_id: "c-1" });
    return "inputKey" in change ? change.inputKey : null;
  };
  test("although it has a description more", () => {
    const key = inputKeyOf("PreToolUse", "Bash", { command: "ls" });
    expect(inputKeyOf("PermissionRequest", "Bash", { command: "ls", description: "Why?" })).toBe(key);
    expect(inputKeyOf("PermissionRequest", "Bash", { command: "ls -l" })).not.toBe(key);
  });
  test("although a patch through the shell is a call of another tool", () => {
    const patch = "*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch";
    const key = inputKeyOf("PreToolUse", "Bash", { command: `apply_patch <<'EOF'\n${patch}\nEOF\n` });
    expect(inputKeyOf("PermissionRequest", "apply_patch", { command: patch })).toBe(key);
  });
});

test("a subagent's first prompt does not count as the user's", () => {
  const event = translateHook("UserPromptSubmit", { prompt: "help", agent_id: "a-1", agent_type: "default" });
  const { session } = reduce(undefined, event);
  expect([session.turnCount, session.lastPrompt, session.children.length]).toEqual([0, null, 1]);
});

describe("the rollout file", () => {
  const read = (...rows: readonly Fields[]) => {
    const state = createRolloutState();
    const signs = rows.map((row) => addRolloutRow(state, JSON.stringify(row)));
    return { state, signs };
  };
  const event = (payload: Fields) => ({ timestamp: "2026-11-16T18:12:08.520Z", type: "event_msg", payload });

  test("says that a turn failed, with the API's own message", () => {
    const message = '{"error":{"message":"fake error 400","type":"fake","code":400}}';
    const { signs } = read(event({ type: "task_complete", turn_id: "t-1", error: { message } }));
    expect(signs).toMatchObject([{ kind: "turn-ended", turnId: "t-1", error: "fake error 400" }]);
  });
  test("says that `codex exec` runs unattended", () => {
    const meta = (source: unknown) => ({ type: "session_meta", payload: { source } });
    expect(read(meta("exec")).state.isExec).toBe(true);
    expect(read(meta("cli")).state.isExec).toBe(false);
  });
  test("says that a model decides about approvals", () => {
    const context = (approvals_reviewer: string) => ({
      type: "turn_context",
      payload: { approvals_reviewer },
    });
    expect(read(context("auto_review")).state.approvals).toBe("model");
    expect(read(context("auto_review"), context("user")).state.approvals).toBe("user");
  });
  test("has tokens, context and quotas", () => {
    const usage = { input_tokens: 1_000, cached_input_tokens: 700, output_tokens: 50, total_tokens: 1_050 };
    const info = { total_token_usage: usage, last_token_usage: usage, model_context_window: 258_400 };
    const primary = { used_percent: 12.5, window_minutes: 300, resets_at: 1_794_860_000 };
    const secondary = { used_percent: 40, window_minutes: 10_080 };
    const { state } = read(event({ type: "token_count", info, rate_limits: { primary, secondary } }));
    expect(state.usage?.tokens).toEqual({ input: 300, output: 50, cacheRead: 700, cacheWrite: 0 });
    expect(state.context).toEqual({ used: 1_050, window: 258_400 });
    expect(state.rateLimits).toEqual({
      fiveHour: { usedPercent: 12.5, resetsAt: 1_794_860_000_000 },
      sevenDay: { usedPercent: 40, resetsAt: null },
    });
  });
  test("may contain anything", () => {
    const state = createRolloutState();
    for (const row of ["", "{", "null", '{"type":"event_msg"}', '{"type":"event_msg","payload":{"type":7}}'])
      expect(addRolloutRow(state, row)).toBeNull();
  });
});
