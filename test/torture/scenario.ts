/** Payloads as Claude Code sends them, and what a session should look like after them. */
import type { SessionView } from "../../src/core/view/session-view.ts";

const payload = (session_id: string, hook_event_name: string, fields: object = {}) => ({
  session_id,
  hook_event_name,
  transcript_path: `/home/dev/.claude/projects/p/${session_id}.jsonl`,
  cwd: "/home/dev/project",
  ...fields,
});

export const started = (id: string) => payload(id, "SessionStart", { source: "startup", model: "m" });
export const prompted = (id: string, prompt: string) => payload(id, "UserPromptSubmit", { prompt });
const bash = (command: string) => ({ tool_name: "Bash", tool_input: { command } });
export const toolStarted = (id: string, command: string, tool_use_id = "toolu_1") =>
  payload(id, "PreToolUse", { ...bash(command), tool_use_id });
export const permissionRequested = (id: string, command: string) =>
  payload(id, "PermissionRequest", bash(command));
export const toolEnded = (id: string, command: string, tool_use_id = "toolu_1") =>
  payload(id, "PostToolUse", { ...bash(command), tool_use_id, tool_response: { stdout: "" } });
export const stopped = (id: string, last_assistant_message: string) =>
  payload(id, "Stop", { stop_hook_active: false, last_assistant_message });

/** A session that waits for the user to allow a command. */
export const eventsUntilAsk = (id: string, command: string) => [
  started(id),
  prompted(id, `run ${command}`),
  toolStarted(id, command),
  permissionRequested(id, command),
];
export const eventsAfterAsk = (id: string, command: string, answer: string) => [
  toolEnded(id, command),
  stopped(id, answer),
];

export function findSession(sessions: readonly SessionView[], id: string): SessionView | undefined {
  return sessions.find((session) => session.sessionId === id);
}

/** The part that tests compare: small enough to read when it differs. */
export function summarize(session: SessionView | undefined) {
  return {
    phase: session?.activityPhase,
    asks: session?.asks.map(({ kind, tool, summary }) => `${kind} ${tool}: ${summary}`),
    turns: session?.turnCount,
    prompt: session?.lastPrompt,
    answer: session?.lastResponse,
  };
}

export const summarizeSession = (sessions: readonly SessionView[], id: string) =>
  summarize(findSession(sessions, id));

export const waitingSummary = (command: string) => ({
  phase: "waiting_permission" as const,
  asks: [`permission Bash: ${command}`],
  turns: 1,
  prompt: `run ${command}`,
  answer: null,
});
export const doneSummary = (command: string, answer: string) => ({
  phase: "interactable" as const,
  asks: [],
  turns: 1,
  prompt: `run ${command}`,
  answer,
});
