/** Whether a prompt can be sent to its session now. Pure. */
import type { ClockReading } from "../core/session/event.ts";
import { elapsedMs } from "../core/session/phase.ts";
import { isBlocking, isVisible, type Session } from "../core/session/session.ts";
import { formatLocalTime } from "../system/clock.ts";
import type { Prompt } from "./prompt.ts";

export type Verdict =
  | { readonly do: "send" }
  /** `until`: wall time at which to look again; null if an event of the session tells. */
  | { readonly do: "wait"; readonly why: string; readonly until: number | null }
  | { readonly do: "refuse"; readonly why: string };

/** A dialog can follow the end of a turn. */
const settleMs = 700;

/** `obstacle`: why the agent takes no prompt in this session at all; null if it does. */
export function judgePrompt(
  { notBefore, waitsForQuota }: Pick<Prompt, "notBefore" | "waitsForQuota">,
  session: Session | null,
  obstacle: string | null,
  now: ClockReading,
): Verdict {
  if (!session || session.ended) return { do: "refuse", why: "the session has ended" };
  if (obstacle !== null) return { do: "refuse", why: obstacle };
  if (notBefore !== null && notBefore > now.at)
    return { do: "wait", why: `sent after ${formatLocalTime(notBefore, now.at)}`, until: notBefore };
  const resetsAt = waitsForQuota ? findReset(session, now.at) : null;
  if (resetsAt !== null)
    return {
      do: "wait",
      why: `sent when the limit is reset at ${formatLocalTime(resetsAt, now.at)}`,
      until: resetsAt,
    };
  if (isAsking(session)) return { do: "wait", why: "it asks you something: answer that first", until: null };
  if (isWorking(session)) return { do: "wait", why: "it works: sent when this turn ends", until: null };
  const settled = settleMs - elapsedMs(session.moved, now);
  if (settled > 0) return { do: "wait", why: "sent in a moment", until: now.at + settled };
  return { do: "send" };
}

export const isAsking = ({ asks, file }: Session): boolean =>
  asks.some((ask) => isBlocking(ask) && isVisible(ask)) || file?.status === "waiting";

const isWorking = ({ turn, file }: Session): boolean =>
  turn.running || file?.status === "busy" || file?.status === "shell";

/** When the last of the user's quotas that are used up is reset; null if none is. */
function findReset({ rateLimits }: Session, now: number): number | null {
  const full = [rateLimits?.fiveHour, rateLimits?.sevenDay].flatMap((quota) =>
    quota && quota.usedPercent >= 100 && quota.resetsAt !== null ? [quota.resetsAt] : [],
  );
  const latest = Math.max(...full, 0);
  return latest > now ? latest : null;
}
