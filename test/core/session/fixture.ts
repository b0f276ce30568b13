/** Tells a session's story in the agent's own words and asks what would be shown. */

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
import type { SessionSnapshot } from "../../../src/core/view/snapshot.ts";
import { takeSnapshot } from "../view/snapshot.ts";

const startedAt = 1_790_000_000_000;
const sessionId = "5e55109e-0000-4000-8000-000000000001";

export interface Told {
  /** A hook, `after` ms later than what came before. */
  hook(name: string, fields?: Record<string, unknown>, after?: number): Told;
  /** `waitingFor` as the CLI writes it: "permission prompt". */
  file(status: FileStatus, waitingFor?: string | null, after?: number): Told;
  own(change: Change, after?: number): Told;
  wait(ms: number): Told;
  /** The next thing happened this much before the last one, but comes now. */
  late(ms: number): Told;
  see(): SessionSnapshot;
  readonly events: readonly AgentEvent[];
}

export function tell(place: Record<string, unknown> = {}): Told {
  let story: EventWindow | undefined;
  let ms = 0;
  let lateBy = 0;
  let count = 0;
  const events: AgentEvent[] = [];
  const dispatch = (event: AgentEvent): void => {
    events.push(event);
    story = reduce(story, event);
  };
  const when = (after: number) => {
    ms += after;
    const t = ms - lateBy;
    lateBy = 0;
    return { at: startedAt + t, t, id: `event-${++count}`, key: `key-${count}` };
  };
  const own = (change: Change, after: number): void => {
    const { id, ...at } = when(after);
    dispatch(createInternalEvent(id, at, { agent: "claude", sessionId }, change));
  };
  const told: Told = {
    hook(name, fields = {}, after = 1_000) {
      const payload = { session_id: sessionId, cwd: "/home/dev/proj", hook_event_name: name, ...fields };
      const hook = openEnvelope({ provider: "claude", _meta: place, payload }, "claude", "here");
      const event = hook && claude.translate(hook, when(after));
      if (event) dispatch(event);
      return told;
    },
    file(status, waitingFor = null, after = 1_000) {
      own({ kind: "status", status, waitingFor: parseWaitingFor(waitingFor), title: null }, after);
      return told;
    },
    own(change, after = 1_000) {
      own(change, after);
      return told;
    },
    wait(by) {
      ms += by;
      return told;
    },
    late(by) {
      lateBy = by;
      return told;
    },
    see() {
      if (!story) throw new Error("nothing was told yet");
      return takeSnapshot(story.session, { at: startedAt + ms, t: ms });
    },
    events,
  };
  return told;
}

export const bash = { tool_name: "Bash", tool_input: { command: "touch x" } };
export const call = { ...bash, tool_use_id: "toolu_1" };
export const child = { agent_id: "a1", agent_type: "Explore" };
export const askColour = {
  tool_name: "AskUserQuestion",
  tool_input: { questions: [{ question: "Which colour?", options: [{ label: "Red" }, { label: "Blue" }] }] },
};

/** A turn in which Bash waits for a yes. */
export function asking(): Told {
  return tell()
    .hook("SessionStart", { source: "startup" })
    .hook("UserPromptSubmit", { prompt: "go" })
    .hook("PreToolUse", call)
    .hook("PermissionRequest", bash, 100);
}
