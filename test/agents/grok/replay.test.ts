/** Recordings of Grok Build 1.0.41: the hooks that beckon registers, and its file of events. */
import { appendFileSync } from "node:fs";
import { agents } from "../../../src/agents/index.ts";
import { describeReplay, type HookRow, startedAt } from "../replay-other.ts";

const agent = agents.find(({ id }) => id === "grok");
if (!agent) throw new Error("grok is not in the table");

const otherDialog = "the recorder did not know the form of this dialog, which was open";

/** The recorder did not keep the transcript. As Grok Build 1.0.41 writes it, at the same time. */
function createCallRow({ ms, payload: { tool_name, tool_input, tool_use_id } }: HookRow): string {
  const about = { "x.ai/tool": { version: 1, name: tool_name } };
  const call = { sessionUpdate: "tool_call", toolCallId: tool_use_id, rawInput: tool_input, _meta: about };
  const _meta = { agentTimestampMs: startedAt + ms };
  return `${JSON.stringify({ method: "session/update", params: { update: call, _meta } })}\n`;
}

describeReplay({
  agent,
  createPayloads(row, home) {
    const { event, payload } = row;
    const transcript_path = String(payload.transcript_path).replace("/home/dev", home);
    // Of calls, only a question's are registered. Its files have the others.
    if (!/^P[a-z]+ToolUse/.test(event) || payload.tool_name === "ask_user_question")
      return [{ ...payload, transcript_path }];
    if (event === "PreToolUse") appendFileSync(transcript_path, createCallRow(row));
    return [];
  },
  // A subagent's session runs in the same process. No process of this machine has such an id.
  createMeta: ({ ppid = 0 }) => ({ pid: 4_190_000 + (ppid % 1_000), host: "host" }),
  exitKeys: /^\/exit$/,
  unknowable: {
    hangup: { "9.6 s: the screen is idle (idle), shown is shell": "the terminal was closed then" },
    perm_esc: { "22.8 s: the permission dialog has no ask": "the same dialog, drawn again: its ask stays" },
    subagent: {
      "6.0 s: a permission ask without a dialog": otherDialog,
      "7.4 s: the screen is working (working), shown is waiting": otherDialog,
    },
  },
});
