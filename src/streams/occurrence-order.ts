/** The order in which the lines of one session happened. Pure. */
import type { LifecycleEvent } from "./lifecycle-event.ts";

export interface StampedLine {
  readonly event: LifecycleEvent;
  /** The prompt that the line belongs to. null if unknown. */
  readonly turn: string | null;
  /** The call of a skill. null if the line is about something else. */
  readonly call: string | null;
}

/**
 * A hook is stamped once its process runs. On a loaded machine that is hundreds of milliseconds late, and never early: a line happened
 * no later than what can only follow it. Times are corrected by that, and lines ordered by them.
 */
export function sortByOccurrence<Line extends StampedLine>(lines: readonly Line[]): Line[] {
  const times = new Map(lines.map((line) => [line, Date.parse(line.event.occurredAtIso)]));
  const timeOf = (line: Line) => times.get(line) ?? 0;
  const fromLast = lines.toSorted((a, b) => rankOf(b) - rankOf(a));
  for (const line of fromLast) {
    const followers = lines.filter((other) => mustPrecede(line, other));
    times.set(line, Math.min(timeOf(line), ...followers.map(timeOf)));
  }
  return lines
    .toSorted((a, b) => timeOf(a) - timeOf(b) || rankOf(a) - rankOf(b))
    .map((line) => ({
      ...line,
      event: { ...line.event, occurredAtIso: new Date(timeOf(line)).toISOString() },
    }));
}

const phaseRanks = {
  started: 0,
  in_progress: 2,
  waiting_permission: 2,
  waiting_question: 2,
  completed: 3,
  ended: 5,
} as const;

function rankOf({ event: { eventType, phase } }: StampedLine): number {
  if (eventType === "turn.start") return 1;
  if (eventType === "turn.end") return 4;
  return phase === undefined ? 2 : phaseRanks[phase];
}

function mustPrecede(a: StampedLine, b: StampedLine): boolean {
  if (rankOf(a) >= rankOf(b)) return false;
  if (a.event.phase === "started" || b.event.phase === "ended") return true;
  if (a.call !== null && a.call === b.call) return true;
  const isSameTurn = a.turn !== null && a.turn === b.turn;
  return isSameTurn && (a.event.eventType === "turn.start" || b.event.eventType === "turn.end");
}
