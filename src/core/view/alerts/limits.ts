/** The alerts about limits: a quota or a context that went over the share that the user has set, and a quota that is back. */
import type { Moment } from "../../session/event.ts";
import { createLimitAlertKey } from "../../session/keys.ts";
import { elapsedMs } from "../../session/phase.ts";
import type { Session } from "../../session/session.ts";
import { sessionKeyOf } from "../../session/session-ref.ts";
import type { Quota, QuotaWords } from "../quotas.ts";
import type { AlertCause, AlertCauses } from "./causes.ts";
import { type Crossing, isQuotaCrossing } from "./crossings.ts";
import { alertKinds } from "./kinds.ts";
import { createContextItem, createQuotaItem, formatContextAlert, formatQuotaAlert } from "./text.ts";

export interface LimitContext extends QuotaWords {
  readonly crossings: readonly Crossing[];
  readonly now: Moment;
}

/** `sessions` must be settled at `now`. */
export function findLimitCauses(sessions: readonly Session[], context: LimitContext): AlertCauses {
  const { crossings, now } = context;
  const wanted = new Set(crossings.map(({ session }) => session));
  const byKey = new Map(
    sessions.flatMap((session) => {
      const key = sessionKeyOf(session);
      return wanted.has(key) && session.unreachableSince === null ? [[key, session] as const] : [];
    }),
  );
  const resets = crossings.filter(isQuotaCrossing).map(({ resetsAt }) => resetsAt - now.at);
  return {
    causes: crossings.flatMap((crossing) => {
      const session = byKey.get(crossing.session);
      return (session && createCause(session, crossing, context)) ?? [];
    }),
    recheckMs: resets.filter((ms) => ms > 0),
  };
}

/** null if it was too long ago, or is over. The text has the numbers of that moment: an alert whose text changes is shown again. */
function createCause(session: Session, crossing: Crossing, context: LimitContext): AlertCause | null {
  const { now } = context;
  const { percent, of } = crossing;
  if (!isQuotaCrossing(crossing)) {
    if (session.ended) return null;
    return createLimitCause(session, `${of}-${crossing.at}`, crossing, now, {
      formatText: (name, when) => formatContextAlert(session, percent, name, when),
      createItem: (name) => createContextItem(percent, name),
    });
  }
  const { agent, machine } = session;
  const { resetsAt } = crossing;
  const quota: Quota = { agent, machine, window: crossing.of, usedPercent: percent, resetsAt };
  const isBack = resetsAt <= now.at;
  const since = isBack ? { at: resetsAt, t: now.t - (now.at - resetsAt) } : crossing;
  return createLimitCause(session, `${of}-${isBack ? "back-" : ""}${resetsAt}`, since, now, {
    formatText: () => formatQuotaAlert(quota, isBack, context),
    createItem: () => createQuotaItem(quota, isBack, context),
  });
}

function createLimitCause(
  session: Session,
  what: string,
  since: Moment,
  now: Moment,
  texts: Pick<AlertCause, "formatText" | "createItem">,
): AlertCause | null {
  const leftMs = alertKinds.limit.maxAgeMs - elapsedMs(since, now);
  if (leftMs <= 0) return null;
  const key = createLimitAlertKey(sessionKeyOf(session), what);
  return { key, kind: "limit", session, ask: null, since, ...texts, leftMs };
}
