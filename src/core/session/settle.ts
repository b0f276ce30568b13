/** The agent's own status file: what its word does at once, and what it does when everything has come to rest. */
import { timing } from "../timing.ts";
import { applyFileWaiting, closeAsks, hasBlockingAsk, hideBlockingAsks, nameFromToolCall } from "./asks.ts";
import type { Change, Moment } from "./event.ts";
import { type Ask, isBlocking, isVisible, type Session } from "./session.ts";

function turnOver(session: Session, when: Moment): Session {
  if (!session.turn.running) return session;
  const turn = { ...session.turn, running: false, at: when.at, t: when.t };
  return { ...session, turn, detail: null, beforeCompact: null };
}

function turnRuns(session: Session, byHook: boolean, when: Moment): Session {
  if (session.turn.running) return session;
  return { ...session, turn: { running: true, byHook, error: null, at: when.at, t: when.t } };
}

function over(session: Session, when: Moment): Session {
  const closed = closeAsks(turnOver(session, when), isBlocking);
  const stillRunning = closed.children.some((child) => child.running);
  return {
    ...closed,
    tools: [],
    children: stillRunning
      ? closed.children.map((child) => (child.running ? { ...child, running: false, ...when } : child))
      : closed.children,
  };
}

function waits(session: Session, waitingFor: string | null, when: Moment): Session {
  if (waitingFor === "input needed") return applyFileWaiting(session, "question", when);
  // "dialog open" outside a turn that a hook started: the person opened that dialog.
  if (waitingFor === "dialog open" && !(session.turn.running && session.turn.byHook)) return session;
  return applyFileWaiting(session, "permission", when);
}

/** A change of the file, in its place among the hooks. */
export function applyStatusFile(
  session: Session,
  change: Change & { kind: "status" },
  when: Moment,
): Session {
  const before = session.file?.status;
  // The dialog that was answered through beckon is closed already: the file means that one, and not the next in line.
  const isKnown = session.answered !== null && session.file !== null && session.answered.t >= session.file.t;
  const now: Session = {
    ...session,
    file: { status: change.status, waitingFor: change.waitingFor, at: when.at, t: when.t },
    settled: false,
  };
  switch (change.status) {
    case "idle":
    case "shell":
      return over(now, when);
    case "waiting":
      return waits(now, change.waitingFor, when);
    case "busy": {
      // From "waiting": the dialog on the screen was answered. From "idle": a turn begins, whose ask may have come first.
      const answered =
        before === "waiting" && !isKnown && now.asks.find((ask) => isBlocking(ask) && isVisible(ask));
      return turnRuns(answered ? closeAsks(now, (ask) => ask === answered) : now, false, when);
    }
  }
}

/** Idle, though a prompt came since; busy, though the turn ended or something was asked since; waiting, though a hook closed the dialog. */
function contradicts(session: Session, file: NonNullable<Session["file"]>): boolean {
  const { turn, prompted } = session;
  switch (file.status) {
    case "idle":
    case "shell":
      return turn.running && prompted !== null && prompted.t > file.t;
    case "busy":
      return (!turn.running && turn.t > file.t) || session.asks.some((ask) => isNews(ask, file));
    case "waiting":
      return !hasBlockingAsk(session);
  }
}

/** A request that the file has not heard of yet. */
const isNews = (ask: Ask, file: Moment): boolean => isBlocking(ask) && isVisible(ask) && ask.t > file.t;

/** When what hooks and file say of it has come to rest, on the clock of `t`; null: it has, or there is nothing to wait for. */
export function settlesAt(session: Session, t: number): number | null {
  const { file, moved, settled, ended } = session;
  if (settled || ended) return null;
  const late = file !== null && t - moved.t >= timing.settleMs && contradicts(session, file);
  const rest = moved.t + (late ? timing.contradictionMs : timing.settleMs);
  return rest > t ? rest : null;
}

/** When what has been so since then will not be taken back any more, though later events may change the session; null: now. */
export function certainAt(session: Session, since: Moment, t: number): number | null {
  const rest = settlesAt(session, t);
  if (rest === null || session.file?.status === "busy") return rest;
  const certain = Math.min(rest, since.t + timing.contradictionMs);
  return certain > t ? certain : null;
}

/** The session as it stands at `t`: once nothing has moved for a while, the file's word stands. */
export function settle(session: Session, t: number): Session {
  const { file, moved } = session;
  if (session.settled || session.ended || !file || t - moved.t < timing.settleMs) return session;
  if (t - moved.t < timing.contradictionMs && contradicts(session, file)) return session;
  const when = { at: moved.at + timing.settleMs, t: moved.t + timing.settleMs };
  const settled: Session = { ...session, settled: true };
  switch (file.status) {
    case "idle":
    case "shell":
      return over(settled, when);
    case "waiting":
      return nameFromToolCall(waits(settled, file.waitingFor, when));
    case "busy":
      // The turn that a hook thought over goes on: another hook blocked its end, or a prompt was queued.
      return hideBlockingAsks(turnRuns(settled, settled.turn.byHook, when));
  }
}
