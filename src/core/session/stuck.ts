/** Whether a session that works may be stuck. Computed when it is shown, so no timer runs for it. Pure. */
import { minuteMs } from "../timing.ts";
import type { Moment } from "./event.ts";
import { isBlocking, isVisible, type RepeatedFailure, type Session, type ToolCall } from "./session.ts";
import { formatCall } from "./texts.ts";

export type Stuck =
  /** The same call failed again and again. */
  | { readonly kind: "repeats"; readonly since: number; readonly last: string; readonly count: number }
  /** It works, and nothing was heard of it for a long time. */
  | { readonly kind: "silent"; readonly since: number; readonly last: string };

const minRepeats = 3;

/** `afterMinutes`: how long a session may be silent while it works. 0 means that silence never counts. */
export function findStuck(session: Session, now: Moment, afterMinutes: number): Stuck | null {
  if (!isWorking(session)) return null;
  const { failing, last } = session;
  if (failing !== null && failing.count >= minRepeats)
    return {
      kind: "repeats",
      since: failing.at,
      last: formatCall(failing.tool, failing.summary),
      count: failing.count,
    };
  // Without the time in which the machine was asleep.
  if (afterMinutes === 0 || now.t - last.t < afterMinutes * minuteMs) return null;
  return { kind: "silent", since: last.at, last: describeLast(session) };
}

/** A session that waits for the user is not stuck, and of one whose machine is away nothing is known. */
function isWorking(session: Session): boolean {
  const { ended, unreachableSince, turn, children, asks } = session;
  if (ended || unreachableSince !== null) return false;
  if (asks.some((ask) => isVisible(ask) && isBlocking(ask))) return false;
  return turn.running || children.some(({ running }) => running);
}

/** The call that runs, or the last one. */
export const findLastCall = ({ tools }: Pick<Session, "tools">): ToolCall | undefined =>
  tools.findLast(({ ended }) => !ended) ?? tools.at(-1);

function describeLast(session: Session): string {
  const call = findLastCall(session);
  return call ? formatCall(call.tool, call.summary) : (session.detail ?? "");
}

/** `call` is the one that ended. null if it is not known: then nothing can be compared with it. */
export function countFailure(
  before: RepeatedFailure | null,
  call: ToolCall | null,
  outcome: "ok" | "failed" | "denied",
  agentId: string | null,
  { at, t }: Moment,
): RepeatedFailure | null {
  const isOfThread = before?.agentId === agentId;
  if (outcome !== "failed" || call === null) return isOfThread ? null : before;
  const { tool, inputKey, summary } = call;
  if (isOfThread && before?.tool === tool && before.inputKey === inputKey)
    return { ...before, count: before.count + 1 };
  return { agentId, tool, inputKey, summary, count: 1, at, t };
}
