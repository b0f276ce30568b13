/** What the forwarder does with the hooks of agents that use Claude Code's names of fields and events. It imports nothing: it is loaded at every hook. */
import type { HookOutput } from "../core/interfaces/wire.ts";
import type { JsonRecord } from "../core/json.ts";
import type { Forwarding } from "./agent.ts";

/** What a full spool does with an event, by the event's name. */
export type SpoolKinds = Readonly<Record<string, "ask" | "end" | "tool">>;

/** Events that are not named in the table are dropped first. */
export const findSpoolKind = (kinds: SpoolKinds, name: unknown): "ask" | "end" | "tool" | "other" =>
  (typeof name === "string" && Object.hasOwn(kinds, name) ? kinds[name] : undefined) ?? "other";

export const commonSpoolKinds: SpoolKinds = {
  PermissionRequest: "ask",
  PermissionDenied: "end",
  UserPromptSubmit: "end",
  Stop: "end",
  StopFailure: "end",
  SubagentStop: "end",
  SessionStart: "end",
  SessionEnd: "end",
  PreToolUse: "tool",
  PostToolUse: "tool",
  PostToolUseFailure: "tool",
};

const commonFields = [
  ...["session_id", "transcript_path", "cwd", "hook_event_name", "timestamp", "permission_mode"],
  ...["tool_name", "tool_use_id", "agent_id", "agent_type"],
];

interface HookForwarding extends Partial<Omit<Forwarding, "identifierFields" | "spoolKind">> {
  /** What is not in `commonSpoolKinds`, or differs. */
  readonly spoolKinds: SpoolKinds;
  /** What identifies an event besides the common fields. */
  readonly identifierFields: readonly string[];
}

/** The dialogs of most agents stay away while a hook waits, so none waits, and none prints a decision. */
export function createHookForwarding({ spoolKinds, identifierFields, ...own }: HookForwarding): Forwarding {
  const kinds = { ...commonSpoolKinds, ...spoolKinds };
  return {
    pidVariable: null,
    projectVariable: null,
    metaVariables: [],
    identifierFields: [...commonFields, ...identifierFields],
    // A run with `-p` gives its hooks the same variables: only its command line or its files differ.
    isAttended: () => null,
    identify: (payload) => ({ eventName: payload.hook_event_name, sessionId: payload.session_id }),
    spoolKind: (payload) => ({
      kind: findSpoolKind(kinds, payload.hook_event_name),
      toolUseId: payload.tool_call_id ?? payload.tool_use_id,
    }),
    isSessionStart: (payload) => payload.hook_event_name === "SessionStart" && payload.source !== "compact",
    canWaitForAnswer: () => false,
    isDecision: () => false,
    ...own,
  };
}

/** The part of a payload that the work guard needs, with what is left of the call's input. */
export const pickForGuard = (
  { session_id, cwd, hook_event_name, tool_name }: JsonRecord,
  tool_input: JsonRecord,
): JsonRecord => ({ session_id, cwd, hook_event_name, tool_name, tool_input });

/** Refuses a call before it runs. null for anything else. */
export function refuseCall(
  { hook_event_name: hookEventName }: JsonRecord,
  { decision, reason }: Pick<HookOutput, "decision" | "reason">,
): { readonly hookSpecificOutput: object } | null {
  if (hookEventName !== "PreToolUse" || decision !== "block") return null;
  const refusal = { permissionDecision: "deny", permissionDecisionReason: reason };
  return { hookSpecificOutput: { hookEventName, ...refusal } };
}

/** Also tells the model what it should know from the start, and the user what is wrong. */
export function formatGuardOutput(payload: JsonRecord, output: HookOutput): object | null {
  const { additional_context: additionalContext, system_message } = output.metadata;
  // If the agent could ask, it would have (formatGuardAsk): the user reads it at least.
  const systemMessage =
    system_message ?? (output.decision === "ask" ? `beckon: ${output.reason}` : undefined);
  const message = systemMessage === undefined ? {} : { systemMessage };
  const { hook_event_name: hookEventName } = payload;
  const refusal = refuseCall(payload, output);
  if (refusal) return { ...refusal, ...message };
  // Before a call without a decision, so that the user's own rules decide about it.
  const takesContext = hookEventName === "SessionStart" || hookEventName === "PreToolUse";
  if (takesContext && additionalContext !== undefined)
    return { hookSpecificOutput: { hookEventName, additionalContext }, ...message };
  return systemMessage === undefined ? null : message;
}

/** null if the guard does not want the user to be asked about the call. */
export function formatGuardAsk(
  { hook_event_name: hookEventName }: JsonRecord,
  output: HookOutput,
): object | null {
  if (hookEventName !== "PreToolUse" || output.decision !== "ask") return null;
  const { system_message: systemMessage } = output.metadata;
  const permission = { permissionDecision: "ask", permissionDecisionReason: output.reason };
  return {
    hookSpecificOutput: { hookEventName, ...permission },
    systemMessage: systemMessage ?? `beckon: ${output.reason}`,
  };
}
