/** A timeline of hooks and status file changes of one session, in virtual time, and what beckon would show. */
import { claude } from "../../../src/agents/claude/index.ts";
import { parseWaitingFor } from "../../../src/agents/claude/status-file.ts";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import {
  type AgentEvent,
  type Change,
  createInternalEvent,
  type FileStatus,
} from "../../../src/core/session/event.ts";
import { type EventWindow, reduce } from "../../../src/core/session/reduce.ts";
import type { Session } from "../../../src/core/session/session.ts";
import type { SessionView } from "../../../src/core/view/session-view.ts";
import { viewSession } from "../view/session-view.ts";

const startedAt = 1_790_000_000_000;
const sessionId = "5e55109e-0000-4000-8000-000000000001";

export interface Timeline {
  /** A hook, `after` ms later than what came before. */
  hook(name: string, fields?: Record<string, unknown>, after?: number): Timeline;
  /** `waitingFor` as the CLI writes it: "permission prompt". */
  file(status: FileStatus, waitingFor?: string | null, after?: number): Timeline;
  internal(change: Change, after?: number): Timeline;
  wait(ms: number): Timeline;
  /** The next thing happened this much before the last one, but comes now. */
  late(ms: number): Timeline;
  snapshot(): SessionView;
  session(): Session;
  readonly events: readonly AgentEvent[];
}

export function createTimeline(place: Record<string, unknown> = {}): Timeline {
  let window: EventWindow | undefined;
  let ms = 0;
  let lateBy = 0;
  let count = 0;
  const events: AgentEvent[] = [];
  const dispatch = (event: AgentEvent): void => {
    events.push(event);
    window = reduce(window, event);
  };
  const stamp = (after: number) => {
    ms += after;
    const t = ms - lateBy;
    lateBy = 0;
    return { at: startedAt + t, t, id: `event-${++count}`, key: `key-${count}` };
  };
  const dispatchInternal = (change: Change, after: number): void => {
    const { id, ...at } = stamp(after);
    dispatch(createInternalEvent(id, at, { agent: "claude", sessionId }, change));
  };
  const timeline: Timeline = {
    hook(name, fields = {}, after = 1_000) {
      const payload = { session_id: sessionId, cwd: "/home/dev/proj", hook_event_name: name, ...fields };
      const hook = openEnvelope({ provider: "claude", _meta: place, payload }, "claude", "here");
      const event = hook && claude.translate(hook, stamp(after));
      if (event) dispatch(event);
      return timeline;
    },
    file(status, waitingFor = null, after = 1_000) {
      dispatchInternal(
        { kind: "status", status, waitingFor: parseWaitingFor(waitingFor), title: null },
        after,
      );
      return timeline;
    },
    internal(change, after = 1_000) {
      dispatchInternal(change, after);
      return timeline;
    },
    wait(by) {
      ms += by;
      return timeline;
    },
    late(by) {
      lateBy = by;
      return timeline;
    },
    snapshot() {
      if (!window) throw new Error("no events yet");
      return viewSession(window.session, { at: startedAt + ms, t: ms });
    },
    session() {
      if (!window) throw new Error("no events yet");
      return window.session;
    },
    events,
  };
  return timeline;
}

export const bash = { tool_name: "Bash", tool_input: { command: "touch x" } };
export const call = { ...bash, tool_use_id: "toolu_1" };
export const child = { agent_id: "a1", agent_type: "Explore" };
export const askColour = {
  tool_name: "AskUserQuestion",
  tool_input: { questions: [{ question: "Which colour?", options: [{ label: "Red" }, { label: "Blue" }] }] },
};

/** A turn in which Bash waits for permission. */
export function createAskingTimeline(): Timeline {
  return createTimeline()
    .hook("SessionStart", { source: "startup" })
    .hook("UserPromptSubmit", { prompt: "go" })
    .hook("PreToolUse", call)
    .hook("PermissionRequest", bash, 100);
}
