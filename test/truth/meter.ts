/** How much of the time a tool shows the truth, and how soon it says that a session needs its user. The truth is the CLI's own status file. */
import { listChanges, readShownStatus, type Status } from "../replay/judge.ts";
import type { Recording } from "../replay/recording.ts";
import type { Shown as ShownSessions } from "../replay/replay.ts";
import type { Shown, ShownChange } from "./mappings.ts";

export interface Measured {
  readonly rightMs: number;
  readonly allMs: number;
  /** One per dialog of which the tool told its user while it was open. */
  readonly delaysMs: readonly number[];
  readonly dialogs: number;
  /** How often it said that a session needs its user when none did. */
  readonly falseAlerts: number;
}

interface Span {
  readonly id: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly truth: Exclude<Shown, null>;
}

/** A dialog that is over sooner is not worth an alert. */
const shortestDialogMs = 250;
/** The status file is written after the dialog's hook, and again after its end. */
const slackMs = 600;

function readTruth(status: Status | null): Span["truth"] | null {
  if (status === null) return null;
  if (status === "busy") return "working";
  if (status === "interactable") return "ready";
  return status === "gone" ? "gone" : "needs you";
}

/** Nobody sits in front of `claude -p`, so nothing is told about it. */
function listUnattended({ rows }: Recording): Set<string> {
  const unattended = rows.filter(({ env }) => env?.CLAUDE_CODE_SESSION_ATTENDED === "0");
  return new Set(unattended.map(({ payload }) => String(payload?.session_id)));
}

function listSpans(recording: Recording, isLive: boolean): Span[] {
  const unattended = listUnattended(recording);
  const changes = listChanges(recording, 0, isLive).filter(({ id }) => !unattended.has(id));
  const endMs = recording.rows.at(-1)?.ms ?? 0;
  return changes.flatMap(({ id, status, happenedMs }, index) => {
    const truth = readTruth(status);
    const next = changes.slice(index + 1).find((change) => change.id === id);
    const toMs = next?.happenedMs ?? endMs;
    return truth !== null && toMs > happenedMs ? [{ id, fromMs: happenedMs, toMs, truth }] : [];
  });
}

/** What beckon showed, in the words that all tools are compared by. */
export function readShownChanges(shown: readonly ShownSessions[]): ShownChange[] {
  const ids = new Set(shown.flatMap(({ sessions }) => sessions.map(({ sessionId }) => sessionId)));
  return shown.flatMap(({ ms, sessions }) =>
    [...ids].map((id) => {
      const session = sessions.find(({ sessionId }) => sessionId === id);
      return { ms, id, shown: readTruth(session ? readShownStatus(session) : null) };
    }),
  );
}

export function measureTruth(
  recording: Recording,
  changes: readonly ShownChange[],
  { isLive = false } = {},
): Measured {
  const spans = listSpans(recording, isLive);
  const dialogs = spans.filter(
    ({ truth, fromMs, toMs }) => truth === "needs you" && toMs - fromMs >= shortestDialogMs,
  );
  return {
    rightMs: spans.reduce((sum, span) => sum + measureRight(span, changes), 0),
    allMs: spans.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0),
    delaysMs: dialogs.flatMap((dialog) => findDelay(dialog, changes) ?? []),
    dialogs: dialogs.length,
    falseAlerts: countFalseAlerts(spans, changes),
  };
}

/** The parts of a span, each with what was shown then. */
function splitSpan({ id, fromMs, toMs }: Span, changes: readonly ShownChange[]) {
  const own = changes.filter((change) => change.id === id);
  const first = own.findLast(({ ms }) => ms <= fromMs)?.shown ?? null;
  const later = own.filter(({ ms }) => ms > fromMs && ms < toMs);
  return [{ ms: fromMs, shown: first }, ...later].map(({ ms, shown }, index) => ({
    ms,
    shown,
    lastsMs: (later[index]?.ms ?? toMs) - ms,
  }));
}

const measureRight = (span: Span, changes: readonly ShownChange[]): number =>
  splitSpan(span, changes).reduce((sum, { shown, lastsMs }) => sum + (shown === span.truth ? lastsMs : 0), 0);

/** undefined if the dialog was over before the tool told of it. */
function findDelay(dialog: Span, changes: readonly ShownChange[]): number | undefined {
  const alert = splitSpan(dialog, changes).find(({ shown }) => shown === "needs you");
  return alert && alert.ms - dialog.fromMs;
}

/** What began while the status file said that the session works, is ready or gone. It does not always know. */
function countFalseAlerts(spans: readonly Span[], changes: readonly ShownChange[]): number {
  const isFalse = (id: string, ms: number) => {
    const near = spans.filter(
      (span) => span.id === id && span.fromMs - slackMs <= ms && ms <= span.toMs + slackMs,
    );
    const isCovered = near.some(({ fromMs, toMs }) => fromMs <= ms && ms < toMs);
    return isCovered && near.every(({ truth }) => truth !== "needs you");
  };
  const last = new Map<string, Shown>();
  let count = 0;
  for (const { ms, id, shown } of changes) {
    if (shown === "needs you" && last.get(id) !== shown && isFalse(id, ms)) count++;
    last.set(id, shown);
  }
  return count;
}

export function addUp(all: readonly Measured[]): Measured {
  const sum = (of: (measured: Measured) => number) =>
    all.reduce((total, measured) => total + of(measured), 0);
  return {
    rightMs: sum(({ rightMs }) => rightMs),
    allMs: sum(({ allMs }) => allMs),
    delaysMs: all.flatMap(({ delaysMs }) => delaysMs),
    dialogs: sum(({ dialogs }) => dialogs),
    falseAlerts: sum(({ falseAlerts }) => falseAlerts),
  };
}
