/**
 * Quotas and contexts that went over the share that the user has set. A session only knows how much is used now, so what was over
 * before is remembered: one alert for each time, also after a restart.
 */
import { type Static, Type } from "@sinclair/typebox";
import type { Config } from "../../config/config.ts";
import { asList } from "../../json.ts";
import { limits } from "../../limits.ts";
import { readRows } from "../../saved-rows.ts";
import type { Moment } from "../../session/event.ts";
import { elapsedMs } from "../../session/phase.ts";
import type { Session } from "../../session/session.ts";
import { parseSessionKey, sessionKeyOf } from "../../session/session-ref.ts";
import { dayMs } from "../../timing.ts";
import { isSameReset, listQuotas, type Quota } from "../quotas.ts";
import { alertKinds } from "./kinds.ts";

const moment = { at: Type.Number(), t: Type.Number() };
const key = Type.String({ maxLength: 4_096 });

const CrossingSchema = Type.Union([
  Type.Object({
    of: Type.Union([Type.Literal("fiveHour"), Type.Literal("sevenDay")]),
    /** `agent:sessionId` of a session of the account. */
    session: key,
    /** How much was used when it was noticed. */
    percent: Type.Number(),
    resetsAt: Type.Number(),
    ...moment,
  }),
  Type.Object({ of: Type.Literal("context"), session: key, percent: Type.Number(), ...moment }),
]);

export type Crossing = Readonly<Static<typeof CrossingSchema>>;
type QuotaCrossing = Extract<Crossing, { resetsAt: number }>;
type ContextCrossing = Exclude<Crossing, QuotaCrossing>;

export const isQuotaCrossing = (crossing: Crossing): crossing is QuotaCrossing => crossing.of !== "context";

export const parseCrossings = (value: unknown): readonly Crossing[] =>
  readRows(CrossingSchema, asList(value).slice(0, limits.maxSessions));

type Shares = Pick<Config["alerts"], "quotaPercent" | "contextPercent">;

export interface CrossingInput {
  readonly sessions: readonly Session[];
  readonly now: Moment;
  /** In percent. 0 means that the user wants none of these alerts. */
  readonly shares: Shares;
  /** The alert about a quota leads to a session that may alert, if there is one. */
  readonly mayAlert: (session: Session) => boolean;
}

/** What was over the share counts as below only this many percent points below it: reports can go up and down a little. */
const marginPercent = 5;
/** A session that is not listed may be on a machine that is not reached yet. */
const keptMs = dayMs;

/** Returns `before` itself if nothing has changed. */
export function followCrossings(before: readonly Crossing[], input: CrossingInput): readonly Crossing[] {
  const { quotaPercent, contextPercent } = input.shares;
  if (quotaPercent === 0 && contextPercent === 0) return before.length === 0 ? before : [];
  const quotas = before.filter(isQuotaCrossing);
  const contexts = before.filter((crossing) => !isQuotaCrossing(crossing));
  const after = [
    ...(quotaPercent === 0 ? [] : followQuotas(quotas, input)),
    ...(contextPercent === 0 ? [] : followContexts(contexts, input)),
  ];
  const isUnchanged = after.length === before.length && after.every((crossing) => before.includes(crossing));
  return isUnchanged ? before : after;
}

function followQuotas(before: readonly QuotaCrossing[], input: CrossingInput): readonly QuotaCrossing[] {
  const { now, shares } = input;
  const quotas = listQuotas(input.sessions, now.at);
  const kept = before.filter((crossing) => {
    // It is remembered after its reset too, for the alert that it is back.
    if (crossing.resetsAt <= now.at) return now.at - crossing.resetsAt < alertKinds.limit.maxAgeMs;
    const quota = quotas.find((one) => isOfQuota(crossing, one));
    if (quota) return quota.usedPercent >= shares.quotaPercent - marginPercent;
    return !quotas.some((one) => isOfAgent(crossing, one));
  });
  const added = quotas.flatMap((quota): QuotaCrossing[] => {
    const { window: of, usedPercent: percent, resetsAt } = quota;
    if (percent < shares.quotaPercent || kept.some((crossing) => isOfQuota(crossing, quota))) return [];
    const session = findReporter(quota, input);
    return session ? [{ of, session: sessionKeyOf(session), percent, resetsAt, ...toMoment(now) }] : [];
  });
  return [...kept.map((crossing) => moveToListed(crossing, input)), ...added];
}

/** A quota of a week outlives the session that reported it. Its first alert is over by then. */
function moveToListed(crossing: QuotaCrossing, { sessions, now }: CrossingInput): QuotaCrossing {
  const isListed = sessions.some((session) => sessionKeyOf(session) === crossing.session);
  if (isListed || elapsedMs(crossing, now) < alertKinds.limit.maxAgeMs) return crossing;
  const ref = parseSessionKey(crossing.session);
  const others = sessions.filter(({ agent, machine }) => agent === ref?.agent && machine === ref.machine);
  const latest = others.sort(compareByActivity)[0];
  return latest ? { ...crossing, session: sessionKeyOf(latest) } : crossing;
}

const compareByActivity = (a: Session, b: Session): number => b.last.at - a.last.at;

const isOfAgent = ({ of, session }: QuotaCrossing, { agent, window }: Quota): boolean =>
  of === window && parseSessionKey(session)?.agent === agent;

const isOfQuota = (crossing: QuotaCrossing, quota: Quota): boolean =>
  isOfAgent(crossing, quota) && isSameReset(crossing.resetsAt, quota.resetsAt);

/** The session that was active last, of those that may alert if possible. */
function findReporter(
  { agent, window, resetsAt }: Quota,
  { sessions, mayAlert }: CrossingInput,
): Session | undefined {
  const reporters = sessions
    .filter((session) => {
      const reset = session.agent === agent ? session.rateLimits?.[window]?.resetsAt : null;
      return reset != null && isSameReset(reset, resetsAt);
    })
    .sort(compareByActivity);
  const canAlert = (session: Session): boolean =>
    !session.ended && session.unreachableSince === null && mayAlert(session);
  return reporters.find(canAlert) ?? reporters[0];
}

function followContexts(
  before: readonly ContextCrossing[],
  { sessions, now, shares }: CrossingInput,
): readonly ContextCrossing[] {
  const share = shares.contextPercent;
  const over = new Map(before.map((crossing) => [crossing.session, crossing]));
  const listed = new Set<string>();
  const after: ContextCrossing[] = [];
  for (const session of sessions) {
    const own = sessionKeyOf(session);
    listed.add(own);
    const percent = measureContext(session);
    const known = over.get(own);
    if (known && percent >= share - marginPercent) after.push(known);
    else if (!known && percent >= share && !session.ended)
      after.push({ of: "context", session: own, percent, ...toMoment(now) });
  }
  const unlisted = before.filter(({ session, at }) => !listed.has(session) && now.at - at < keptMs);
  return [...after, ...unlisted];
}

/** 0 if it is not known. */
function measureContext({ context }: Session): number {
  return context?.window ? (100 * context.used) / context.window : 0;
}

const toMoment = ({ at, t }: Moment): Moment => ({ at, t });
