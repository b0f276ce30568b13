/** Compares what was shown with every change of the CLI's own status. */
import type { SessionView } from "../../src/core/view/session-view.ts";
import type { Recording, Row } from "./recording.ts";
import type { Shown } from "./replay.ts";

export interface Verdict {
  readonly right: number;
  readonly all: number;
  readonly wrong: readonly string[];
}

export type Status = "gone" | "busy" | "interactable" | "waiting_permission" | "waiting_question";

export interface StatusChange {
  readonly ms: number;
  /** When the CLI changed its status, by its own stamp if the recording is live. */
  readonly happenedMs: number;
  readonly id: string;
  readonly status: Status | null;
  readonly withinMs: number;
}

/** A status that lasts less than this is too short to be seen. */
const tooShortMs = 250;
/** Hooks and file of one change arrive up to this far apart. */
const beforeNextMs = 250;
const longMs = 1_250;
const announcedMs = 400;

function readStatus(row: Row): Status | null {
  if (row.gone) return "gone";
  switch (row.status) {
    case "busy":
      return "busy";
    case "idle":
    case "shell":
      return "interactable";
    default:
      if (row.waitingFor === "permission prompt") return "waiting_permission";
      return row.waitingFor === "input needed" ? "waiting_question" : null;
  }
}

/** Every change of the CLI's own status, by its status file. */
export function listChanges(recording: Recording, withinMs: number, isLive: boolean): StatusChange[] {
  const changes: StatusChange[] = [];
  const holder = new Map<string, string>();
  let dead: string | undefined;
  for (const row of recording.rows) {
    if (row.src === "driver" && row.mark?.startsWith("kill -9")) {
      dead = [...holder.values()].at(-1);
      if (dead) changes.push({ ms: row.ms, happenedMs: row.ms, id: dead, status: "gone", withinMs: 3_500 });
    }
    if (row.src !== "session-file" || !row.file) continue;
    const before = holder.get(row.file);
    const id = row.sessionId ?? before;
    if (!id || id === dead) continue;
    const stamp = isLive && row.statusUpdatedAt ? row.statusUpdatedAt - recording.startedAt : row.ms;
    const status = readStatus(row);
    const sinceMs = changes.findLast((change) => change.id === id)?.ms ?? 0;
    const announcedAt = isLive
      ? recording.rows.find((hook) => announces(hook, id, status) && hook.ms > sinceMs && hook.ms <= row.ms)
          ?.ms
      : undefined;
    const when = { ms: row.ms, happenedMs: Math.min(row.ms, stamp, announcedAt ?? row.ms) };
    if (before && before !== id) changes.push({ ...when, id: before, status: "gone", withinMs });
    holder.set(row.file, id);
    changes.push({ ...when, id, status, withinMs });
  }
  return changes;
}

export function readShownStatus(session: SessionView | undefined): Status | null {
  if (!session || session.state === "completed") return "gone";
  const onlyIdle = session.asks.length > 0 && session.asks.every((ask) => ask.kind === "idle");
  return session.activityPhase === "waiting_question" && onlyIdle ? "interactable" : session.activityPhase;
}

/**
 * `isLive`: on a loaded machine the CLI writes its file up to 700 ms after its own stamp, so the stamp counts. The stamp is up
 * to 500 ms later than the hook of the same change, so the hook may be shown that much earlier. A prompt's and a dialog's
 * own hooks say when they came: the stamp was 1.5 s later at a load of 12.
 */
export function judge(
  recording: Recording,
  shown: readonly Shown[],
  withinMs: number,
  { isLive = false } = {},
): Verdict {
  const changes = listChanges(recording, withinMs, isLive);
  const end = recording.rows.at(-1)?.ms ?? 0;
  const sessionAt = (id: string, ms: number) =>
    shown.findLast((s) => s.ms <= ms)?.sessions.find((s) => s.sessionId === id);
  const wrong: string[] = [];
  let right = 0;
  let all = 0;
  changes.forEach((change, index) => {
    const next = changes.slice(index + 1).find((c) => c.id === change.id);
    const untilMs = next?.ms ?? end;
    const lastedMs = next ? Math.min(next.ms - change.ms, next.happenedMs - change.happenedMs) : longMs;
    if (!change.status || lastedMs < tooShortMs) return;
    all++;
    const overMs = (next?.happenedMs ?? end) - (isLive ? withinMs : beforeNextMs);
    const problem = findProblem(recording, change, untilMs, overMs, sessionAt);
    if (problem) wrong.push(`${recording.name} at ${Math.round(change.ms)} ms: ${problem}`);
    else right++;
  });
  return { right, all, wrong };
}

function findProblem(
  recording: Recording,
  change: StatusChange,
  untilMs: number,
  overMs: number,
  sessionAt: (id: string, ms: number) => SessionView | undefined,
): string | null {
  const { id, status } = change;
  const limit = Math.min(change.ms + change.withinMs, untilMs);
  let inTime = false;
  for (let ms = change.ms; ms <= limit && !inTime; ms += 10)
    inTime = readShownStatus(sessionAt(id, ms)) === status;
  if (!inTime) return `expected ${status}, shown ${readShownStatus(sessionAt(id, limit))}`;
  if (overMs - change.ms <= longMs) return null;
  const late = sessionAt(id, overMs);
  if (readShownStatus(late) !== status) return `${status} was shown, then ${readShownStatus(late)}`;
  if (!status?.startsWith("waiting_") || !isAnnounced(recording, change)) return null;
  const named = late?.asks.some((ask) => ask.kind !== "idle" && (ask.tool || ask.kind === "elicitation"));
  return named ? null : "the dialog's ask is unnamed";
}

function isAnnounced(recording: Recording, change: StatusChange): boolean {
  return recording.rows.some(
    (row) => announces(row, change.id, change.status) && Math.abs(row.ms - change.ms) < announcedMs,
  );
}

/** Whether the row is the hook that comes with the change of that session to this status. */
function announces({ payload }: Row, id: string, status: Status | null): boolean {
  if (payload?.session_id !== id) return false;
  const name = payload.hook_event_name;
  if (status === "busy") return name === "UserPromptSubmit";
  return status?.startsWith("waiting_") === true && (name === "PermissionRequest" || name === "Elicitation");
}
