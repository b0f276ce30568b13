/**
 * What simpler tools would show: each has one state per session, and takes it from the last hook that it knows. These are the mappings
 * that beckon's specifications began with, and the Notification hook that people write themselves.
 */
import type { Recording } from "../replay/recording.ts";

/** What a person wants to know of a session. null: the tool cannot say. */
export type Shown = "working" | "ready" | "needs you" | "gone" | null;

type Payload = Readonly<Record<string, unknown>>;
/** undefined: the hook changes nothing. */
export type Mapping = (hook: string, payload: Payload) => Shown | undefined;

const byNotification = (payload: Payload, types: Readonly<Record<string, Shown>>): Shown | undefined =>
  types[String(payload.notification_type)];

/** A phase per turn: a prompt, its end, and what the CLI notifies of. */
const turnHooks: Mapping = (hook, payload) => {
  if (hook === "UserPromptSubmit") return "working";
  if (hook === "Stop") return "ready";
  if (hook === "SessionEnd") return "gone";
  if (hook !== "Notification") return undefined;
  return byNotification(payload, { permission_prompt: "needs you", idle_prompt: "needs you" });
};

/** The same from a stream of lifecycle events, in which a session that has just started is busy. */
const lifecycleStream: Mapping = (hook, payload) =>
  hook === "SessionStart" ? "working" : turnHooks(hook, payload);

/** Tools that wait for the user as soon as they are called. */
const asking: ReadonlySet<unknown> = new Set(["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"]);

const states: Readonly<Record<string, Shown>> = {
  PostToolUse: "working",
  PostToolUseFailure: "working",
  UserPromptSubmit: "working",
  Stop: "ready",
  SubagentStart: "working",
  SubagentStop: "working",
  SessionStart: "ready",
  SessionEnd: "gone",
  PreCompact: "working",
  Setup: "working",
};

/** A state for every hook, those of tools included. */
const everyHook: Mapping = (hook, payload) => {
  if (hook === "PreToolUse") return asking.has(payload.tool_name) ? "needs you" : "working";
  if (hook !== "Notification") return states[hook];
  return byNotification(payload, {
    permission_prompt: "needs you",
    idle_prompt: "ready",
    elicitation_dialog: "needs you",
  });
};

export const mappings: Readonly<Record<string, Mapping>> = {
  "prompt, stop and notification hooks": turnHooks,
  "the same as a lifecycle stream": lifecycleStream,
  "a state for every hook": everyHook,
};

/** A notification of any kind, for as long as nothing else happens. It shows no state otherwise. */
export const notificationHook: Mapping = (hook) => (hook === "Notification" ? "needs you" : null);

export interface ShownChange {
  readonly ms: number;
  readonly id: string;
  readonly shown: Shown;
}

/** From a hook's start to the moment its tool shows it: the same for all of them. */
const arrivalMs = 10;

export function showByMapping({ rows }: Recording, mapping: Mapping): ShownChange[] {
  return rows.flatMap(({ src, ms, payload }) => {
    if (src !== "hook" || !payload) return [];
    const shown = mapping(String(payload.hook_event_name), payload);
    return shown === undefined ? [] : [{ ms: ms + arrivalMs, id: String(payload.session_id), shown }];
  });
}
