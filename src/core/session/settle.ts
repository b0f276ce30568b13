/** The agent's status file: what a change does at once, and what it does after hooks and file have settled. */
import { timing } from "../timing.ts";
import { applyFileWaiting, closeAsks, hasBlockingAsk, hideBlockingAsks, nameFromToolCall } from "./asks.ts";
import type { Change, Moment } from "./event.ts";
import { type Ask, isBlocking, isVisible, type Session } from "./session.ts";

function endTurn(session: Session, when: Moment): Session {
  if (!session.turn.running) return session;
  const turn = { ...session.turn, running: false, at: when.at, t: when.t };
  return { ...session, turn, detail: null, beforeCompact: null };
}

function startTurn(session: Session, byHook: boolean, when: Moment): Session {
  if (session.turn.running) return session;
  return { ...session, turn: { running: true, byHook, error: null, at: when.at, t: when.t } };
}

function endTurnAndAsks(session: Session, when: Moment): Session {
  const closed = closeAsks(endTurn(session, when), isBlocking);
  const hasRunning = closed.children.some((child) => child.running);
  const { at, t } = when;
  return {
    ...closed,
    tools: [],
    children: hasRunning
      ? closed.children.map((child) => (child.running ? { ...child, running: false, at, t } : child))
      : closed.children,
  };
}

function applyWaiting(session: Session, waitingFor: string | null, when: Moment): Session {
  if (waitingFor === "question") return applyFileWaiting(session, "question", when);
  // A dialog outside of a turn that a hook started is one that the user opened.
  if (waitingFor === "dialog" && !(session.turn.running && session.turn.byHook)) return session;
  return applyFileWaiting(session, "permission", when);
}

/** Applies a change of the status file, in its order among the hooks. */
export function applyStatusFile(
  session: Session,
  change: Change & { kind: "status" },
  when: Moment,
): Session {
  const before = session.file?.status;
  // An answer through beckon has already closed the dialog that the file means. It must not close the next one.
  const isAlreadyAnswered =
    session.answered !== null && session.file !== null && session.answered.t >= session.file.t;
  const now: Session = {
    ...session,
    file: { status: change.status, waitingFor: change.waitingFor, at: when.at, t: when.t },
    settled: false,
  };
  switch (change.status) {
    case "idle":
    case "shell":
      return endTurnAndAsks(now, when);
    case "waiting": {
      // Claude Code writes "waiting" up to 600 ms after it has got the answer of a rule (measured under load). If it is another dialog,
      // the file decides when it has settled.
      const isOfAnswered =
        session.answered !== null &&
        when.t - session.answered.t < timing.contradictionMs &&
        !hasBlockingAsk(session);
      return isOfAnswered ? now : applyWaiting(now, change.waitingFor, when);
    }
    case "busy": {
      // After "waiting", the dialog on the screen was answered. After "idle", a turn starts, and its ask may have come first.
      const answered =
        before === "waiting" &&
        !isAlreadyAnswered &&
        now.asks.find((ask) => isBlocking(ask) && isVisible(ask));
      return startTurn(answered ? closeAsks(now, (ask) => ask === answered) : now, false, when);
    }
  }
}

/** The file is idle but a prompt came later; busy but the turn ended or an ask came later; waiting but a hook closed the dialog. */
function isFileContradicted(session: Session, file: NonNullable<Session["file"]>): boolean {
  const { turn, prompted } = session;
  switch (file.status) {
    case "idle":
    case "shell":
      return turn.running && prompted !== null && prompted.t > file.t;
    case "busy":
      return (!turn.running && turn.t > file.t) || session.asks.some((ask) => isNewer(ask, file));
    case "waiting":
      return !hasBlockingAsk(session);
  }
}

/** A request that came after the last change of the file. */
const isNewer = (ask: Ask, file: Moment): boolean => isBlocking(ask) && isVisible(ask) && ask.t > file.t;

/** When the session will settle, on the clock of `t`; null if it has settled or there is nothing to wait for. */
export function findSettleTime(session: Session, t: number): number | null {
  const { file, moved, settled, ended } = session;
  if (settled || ended) return null;
  const isContradiction =
    file !== null && t - moved.t >= timing.settleMs && isFileContradicted(session, file);
  const settlesT = moved.t + (isContradiction ? timing.contradictionMs : timing.settleMs);
  return settlesT > t ? settlesT : null;
}

/** When a state that holds since `since` can no longer be revoked by settling; null if it already cannot. */
export function findCertainTime(session: Session, since: Moment, t: number): number | null {
  const settlesT = findSettleTime(session, t);
  if (settlesT === null || session.file?.status === "busy") return settlesT;
  const certain = Math.min(settlesT, since.t + timing.contradictionMs);
  return certain > t ? certain : null;
}

/** Returns the session at `t`. If neither hooks nor file have changed for a while, the status file decides. */
export function settle(session: Session, t: number): Session {
  const { file, moved } = session;
  if (session.settled || session.ended || !file || t - moved.t < timing.settleMs) return session;
  if (t - moved.t < timing.contradictionMs && isFileContradicted(session, file)) return session;
  const when = { at: moved.at + timing.settleMs, t: moved.t + timing.settleMs };
  const settled: Session = { ...session, settled: true };
  switch (file.status) {
    case "idle":
    case "shell":
      return endTurnAndAsks(settled, when);
    case "waiting":
      return nameFromToolCall(applyWaiting(settled, file.waitingFor, when));
    case "busy":
      // A Stop hook came but the turn goes on: another hook blocked its end, or a prompt was queued.
      return hideBlockingAsks(startTurn(settled, settled.turn.byHook, when));
  }
}
