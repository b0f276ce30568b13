/**
 * Streams: what happened, for the user and for other programs. Each format is one file with its type and what it is made of: an
 * AgentEvent, which is what a hook reports, or a Transition, which is what a change of the state means. Two formats are sent from
 * here: server-sent events (event-stream.ts), and the lifecycle stream.
 *
 * This file is the lifecycle stream: sessions, turns and skills as lines of JSON in a file that the user chose, or at a server of
 * Redis (redis-stream.ts), for other tools to read.
 */
import { closeSync, constants, mkdirSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { rememberOnce } from "../core/forget-oldest.ts";
import type { Schedule, Sink } from "../core/interfaces/index.ts";
import { isDuplicate } from "../core/session/apply.ts";
import type { AgentEvent, Change, ClockReading } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { timing } from "../core/timing.ts";
import { errorCode, openOwnFile } from "../storage/files.ts";
import { createEarliestTimer } from "../system/schedule.ts";
import { createLifecycleEvent, createWaitingEvent, type LifecycleEvent } from "./lifecycle-event.ts";
import { type StampedLine, sortByOccurrence } from "./occurrence-order.ts";

/** Where the same lines go besides the file. */
export interface StreamServer {
  isOn(): boolean;
  append(line: string): void;
}

export interface LifecycleStreamOptions {
  /** null if the user wants no file. */
  readonly path: () => string | null;
  readonly server: StreamServer;
  readonly clock: () => ClockReading;
  readonly schedule: Schedule;
  readonly onProblem: (text: string) => void;
}

interface WaitingLine extends StampedLine {
  /** When it is written at the latest, in monotonic time. */
  readonly dueT: number;
}

export function createLifecycleStream(options: LifecycleStreamOptions): Sink {
  const { path, server, clock, onProblem } = options;
  const isOff = () => path() === null && !server.isOn();
  let reported: string | null = null;
  /** By session: lines that may have to wait for an earlier one. */
  const waiting = new Map<string, readonly WaitingLine[]>();
  const startedCalls = new Set<string>();
  const timer = createEarliestTimer(clock, options.schedule, () => {
    for (const key of [...waiting.keys()]) writeDue(key);
  });

  /** True for the end of a skill whose start has not arrived, and for the end of a turn whose skill has not ended. */
  function lacksEarlier({ currentSkill }: Session, { kind }: Change, call: string | null): boolean {
    if (kind === "tool-end") return call !== null && !startedCalls.has(call);
    return kind === "turn-end" && currentSkill !== null;
  }

  function add(session: Session, line: StampedLine, waitMs: number): void {
    const key = sessionKeyOf(session);
    const { t } = clock();
    const others = (waiting.get(key) ?? []).map((other) => countTurn(other, line, session.turnCount));
    if (others.length === 0 && waitMs === 0) {
      write(line.event);
      return;
    }
    waiting.set(key, [...others, { ...line, dueT: t + waitMs }]);
    // What the others waited for has come, or nothing comes any more.
    if (waitMs === 0 || others.length >= maxWaitingLines) writeAll(key);
    else timer.startAt(t + waitMs);
  }

  function writeAll(key: string): void {
    for (const { event } of sortByOccurrence(waiting.get(key) ?? [])) write(event);
    waiting.delete(key);
  }

  function writeDue(key: string): void {
    const lines = sortByOccurrence(waiting.get(key) ?? []);
    const { t } = clock();
    const count = lines.findLastIndex(({ dueT }) => dueT <= t) + 1;
    for (const { event } of lines.slice(0, count)) write(event);
    const rest = lines.slice(count);
    if (rest.length === 0) waiting.delete(key);
    else waiting.set(key, rest);
    for (const { dueT } of rest) timer.startAt(dueT);
  }

  function write(event: LifecycleEvent): void {
    const line = JSON.stringify(event);
    if (server.isOn()) server.append(line);
    const file = path();
    if (file === null) return;
    try {
      appendLine(file, `${line}\n`);
      reported = null;
    } catch (error) {
      const problem = `the stream ${file} cannot be written (${errorCode(error)}): its events are lost until it can`;
      if (problem !== reported) onProblem(problem);
      reported = problem;
    }
  }

  return {
    name: "lifecycle stream",
    onChange({ session, event, before }) {
      if (isOff() || isProbe(session) || (before && isDuplicate(before, event))) return;
      const { firstCwd: projectPath, turnCount } = session;
      const line = createLifecycleEvent(event, { projectPath, turnCount });
      if (line === null) return;
      const stamped = { event: line, turn: event.promptId, call: skillCallOf(event) };
      if (event.change.kind === "tool-start" && stamped.call !== null)
        rememberOnce(startedCalls, stamped.call, maxStartedCalls);
      const isEarly = before !== null && lacksEarlier(before, event.change, stamped.call);
      const waitMs = session.attended === false ? unattendedMs : isEarly ? timing.lateHookMs : 0;
      add(session, stamped, event.change.kind === "session-end" ? 0 : waitMs);
    },
    onTransition(transition) {
      if (transition.kind !== "ask-opened" || isOff()) return;
      const { session, ask } = transition;
      const event = createWaitingEvent(transition, session.firstCwd);
      add(session, { event, turn: ask.promptId, call: null }, session.attended === false ? unattendedMs : 0);
    },
    stop() {
      timer.cancel();
      for (const key of [...waiting.keys()]) writeAll(key);
    },
  };
}

const maxStartedCalls = 1_000;
/** Of one session. */
const maxWaitingLines = 200;
/** Nobody looks at an unattended run, so its lines can wait until no earlier one can come. They are all written when it ends. */
const unattendedMs = timing.reorderMs;

/** A skill that was reported before its prompt belongs to the turn that the prompt starts. */
function countTurn<Line extends StampedLine>(
  line: Line,
  { event, turn }: StampedLine,
  turnSeq: number,
): Line {
  const isOfTurn = event.eventType === "turn.start" && turn !== null && line.turn === turn;
  if (!isOfTurn || line.event.eventType !== "skill.lifecycle") return line;
  return { ...line, event: { ...line.event, turnSeq } };
}

function skillCallOf({ change }: AgentEvent): string | null {
  const isSkill = (change.kind === "tool-start" || change.kind === "tool-end") && change.skill;
  return isSkill ? change.toolUseId : null;
}

/** The whole line in one write, so that a reader never sees a part of it between two others. */
function appendLine(file: string, line: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const fd = openOwnFile(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  try {
    writeSync(fd, line);
  } finally {
    closeSync(fd);
  }
}
