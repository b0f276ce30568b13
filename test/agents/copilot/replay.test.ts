/** Recordings of Copilot CLI 1.0.102: the hooks that beckon registers, and the log of events. */
import { afterAll } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agents } from "../../../src/agents/index.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import { describeReplay, type HookRow } from "../replay-other.ts";

const agent = agents.find(({ id }) => id === "copilot");
if (!agent) throw new Error("copilot is not in the table");

/** The recorder registered Copilot's own names, whose payloads have other names of fields and none of the event. */
const eventNames: Readonly<Record<string, string>> = {
  sessionStart: "SessionStart",
  sessionEnd: "SessionEnd",
  userPromptSubmitted: "UserPromptSubmit",
  postToolUse: "PostToolUse",
  postToolUseFailure: "PostToolUseFailure",
  Notification: "Notification",
  agentStop: "Stop",
  subagentStart: "SubagentStart",
  subagentStop: "SubagentStop",
};

function createPayloads({ event, label, payload }: HookRow, home: string): readonly JsonRecord[] {
  // A project's .claude/settings.json calls `beckon hook claude`: the forwarder sees that Copilot CLI called it.
  if (/^(?:pascal|claude)-/.test(label ?? "")) return [moveTranscript(payload, home)];
  const hook_event_name = eventNames[event];
  if (hook_event_name === undefined) return [];
  const { toolName, toolArgs, ...fields } = payload;
  const tool = toolName === undefined ? {} : { tool_name: toolName, tool_input: toolArgs };
  return [moveTranscript({ ...fields, ...tool, hook_event_name }, home)];
}

function moveTranscript(payload: JsonRecord, home: string): JsonRecord {
  const { transcriptPath, transcript_path = transcriptPath } = payload;
  if (typeof transcript_path !== "string") return payload;
  return {
    ...payload,
    transcriptPath: undefined,
    transcript_path: transcript_path.replace("/home/dev", home),
  };
}

/** Stands in for the process that has the sessions open. */
const cli = Bun.spawn(["bash", "-c", "exec -a copilot sleep 600"], { stdio: ["ignore", "ignore", "ignore"] });
afterAll(() => cli.kill());

function applyState(content: unknown, home: string): void {
  for (const sessionId of Object.keys(content as object)) {
    const folder = join(home, ".copilot/session-state", sessionId);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `inuse.${cli.pid}.lock`), `${cli.pid}\n`);
  }
}

describeReplay({
  agent,
  createPayloads,
  applyState,
  exitKeys: /^\/exit$/,
  skipped: [[/^(?:hold_|pre_|perm_exit|notif_)/, "the recorder holds or breaks the hooks"]],
  unknowable: {},
});
