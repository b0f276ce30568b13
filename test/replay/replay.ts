/** Replays a recording through the real translation and reducer in virtual time, and returns what was shown. */

import { hooksFor, hookTable } from "../../src/agents/claude/hooks.ts";
import { claude } from "../../src/agents/claude/index.ts";
import { createPlace, createStatusChange, parseStatusFile } from "../../src/agents/claude/status-file.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import {
  type AgentEvent,
  type Change,
  createInternalEvent,
  type Moment,
} from "../../src/core/session/event.ts";
import { timing } from "../../src/core/timing.ts";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { createStore } from "../../src/state/store.ts";
import { viewSession } from "../core/view/session-view.ts";
import type { Recording, Row } from "./recording.ts";

export interface Shown {
  readonly ms: number;
  readonly sessions: readonly SessionView[];
}

export interface ReplayOptions {
  /** Leaves the status files out, as with a CLI that has none. */
  readonly hooksOnly?: boolean;
  /** Delay in ms from a row's event to its arrival. */
  readonly delay?: (row: Row, index: number) => number;
  /** Shift in ms of a row's stamp: a hook is stamped when its process has started. */
  readonly stampShift?: (row: Row, index: number) => number;
  /** How many times a row arrives. */
  readonly times?: (row: Row, index: number) => number;
}

export interface ReplayInput {
  readonly arrives: number;
  readonly event: AgentEvent;
}

/** The app checks for dead processes every second. */
const processCheckMs = 1_000;
/** What is shown changes when an event arrives, and when the state settles after it. */
const settleTimesMs = [timing.settleMs, timing.contradictionMs];

export function replay(recording: Recording, options: ReplayOptions = {}): Shown[] {
  const inputs = createInputs(recording, options).sort((a, b) => a.arrives - b.arrives);
  const store = createStore();
  const shown: Shown[] = [];
  let last = "";
  let next = 0;
  const times = inputs.flatMap(({ arrives, event }) => [
    arrives,
    ...settleTimesMs.map((settleMs) => event.t + settleMs),
  ]);
  for (const ms of [...new Set(times)].sort((a, b) => a - b)) {
    for (let input = inputs[next]; input && input.arrives <= ms; input = inputs[++next]) {
      store.dispatch(input.event);
    }
    const now = { at: recording.startedAt + ms, t: ms };
    const sessions = store.sessions(now).map((session) => viewSession(session, now));
    const key = JSON.stringify(sessions.map((s) => [s.sessionId, s.state, s.activityPhase, s.asks]));
    if (key !== last) shown.push({ ms, sessions });
    last = key;
  }
  return shown;
}

/** The events that reach the app, and when. */
export function createInputs(recording: Recording, options: ReplayOptions): ReplayInput[] {
  const { delay = () => 10, stampShift = () => 0, times = () => 1 } = options;
  const current = new Map<string, Row>();
  return recording.rows.flatMap((row, index) => {
    const stamped = Math.max(0, row.ms + stampShift(row, index));
    const hidden = options.hooksOnly ? row.src === "session-file" : isNotRegistered(recording, row);
    const events = hidden ? [] : createEvents(recording, row, index, stamped, current);
    return events.flatMap((event) =>
      Array.from({ length: times(row, index) }, (_, n) => ({
        arrives: Math.max(stamped, row.ms) + delay(row, index) + n * 40,
        event,
      })),
    );
  });
}

/** True for a hook that beckon does not register with a CLI that keeps a status file. */
function isNotRegistered({ hasStatus }: Recording, { src, payload }: Row): boolean {
  return hasStatus && src === "hook" && !registeredWithStatusFile.has(String(payload?.hook_event_name));
}

const registeredWithStatusFile: ReadonlySet<string> = new Set([
  ...hooksFor("2.1.325").map(({ event }) => event),
  ...hookTable.unused.map(({ event }) => event),
]);

function createEvents(
  recording: Recording,
  row: Row,
  index: number,
  ms: number,
  current: Map<string, Row>,
): AgentEvent[] {
  const when = { at: recording.startedAt + ms, t: ms };
  if (row.src === "hook" && row.payload) {
    const sessionId = String(row.payload.session_id);
    current.set(String(row.env?.CLAUDE_PID), { ...row, sessionId });
    const meta = { pid: Number(row.env?.CLAUDE_PID) || undefined, env: row.env };
    const hook = openEnvelope({ provider: "claude", _meta: meta, payload: row.payload }, "claude", null);
    const event = hook && claude.translate(hook, { ...when, id: `hook-${index}`, key: `key-${index}` });
    return event ? [event] : [];
  }
  if (row.src === "driver" && row.mark?.startsWith("kill -9")) {
    const dead = [...current.values()].at(-1);
    const later = { at: when.at + processCheckMs, t: when.t + processCheckMs };
    return dead?.sessionId
      ? [createWatcherEvent(dead.sessionId, `dead-${index}`, later, { kind: "gone", why: "process" })]
      : [];
  }
  if (row.src !== "session-file" || !row.file) return [];
  const process = row.file.replace(/\.json$/, "");
  const before = current.get(process);
  if (row.gone) {
    current.delete(process);
    return before?.sessionId
      ? [createWatcherEvent(before.sessionId, `gone-${index}`, when, { kind: "gone", why: "file" })]
      : [];
  }
  current.set(process, row);
  const events: AgentEvent[] = [];
  if (before?.sessionId && before.sessionId !== row.sessionId) {
    events.push(createWatcherEvent(before.sessionId, `left-${index}`, when, { kind: "gone", why: "file" }));
  }
  const file = parseStatusFile(JSON.stringify(row));
  const change = file && createStatusChange(file);
  const shift = ms - row.ms;
  const at = (row.statusUpdatedAt ?? when.at) + shift;
  if (file && change) {
    const written = { at, t: at - recording.startedAt };
    events.push({
      ...createWatcherEvent(file.sessionId, `file-${index}`, written, change),
      place: createPlace(file),
    });
  }
  return events;
}

function createWatcherEvent(sessionId: string, id: string, when: Moment, change: Change): AgentEvent {
  return createInternalEvent(id, when, { agent: "claude", sessionId }, change);
}
