/** Sessions that the user trusts until some time. Kept in memory only: after a restart everything is asked again. */
import type { Moment, Place } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { hourMs } from "../core/timing.ts";
import type { RuleRequest, RuleVerdict } from "./judge.ts";

export interface SessionTrust {
  /** The session's key. */
  readonly session: string;
  readonly until: number;
  readonly since: number;
  /** How it asks. Another mode means other questions, so trust ends with it. */
  readonly permissionMode: string | null;
  uses: number;
}

interface ActiveTrust extends SessionTrust {
  /** The same end on the clock that nobody can set back. */
  readonly untilT: number;
  /** The same session, opened by another process, is not the one that the user looked at. */
  readonly place: Place | null;
}

interface TrustsOptions {
  readonly clock: () => Moment;
  readonly formatTime: (at: number) => string;
  readonly onChange: () => void;
}

const maxTrustMs = 12 * hourMs;

/** What is not known yet can still be found out about the same process. */
const isOther = (known: string | number | null = null, now: string | number | null = null): boolean =>
  known !== null && now !== null && known !== now;
const isOtherProcess = (known: Place | null, now: Place | null): boolean =>
  isOther(known?.pid, now?.pid) || isOther(known?.procStart, now?.procStart);

export function createTrusts({ clock, formatTime, onChange }: TrustsOptions) {
  const trusts = new Map<string, ActiveTrust>();

  function isOver({ until, untilT }: ActiveTrust): boolean {
    const { at, t } = clock();
    return until <= at || untilT <= t;
  }

  const isOfTrusted = (trust: ActiveTrust, session: Session): boolean =>
    !session.ended &&
    session.permissionMode === trust.permissionMode &&
    !isOtherProcess(trust.place, session.place);

  function end(key: string): SessionTrust | null {
    const trust = trusts.get(key) ?? null;
    trusts.delete(key);
    if (trust) onChange();
    return trust;
  }

  return {
    start(session: Session, until: number): SessionTrust | string {
      if (session.machine !== null) return `it runs on ${session.machine}: trust it there`;
      if (session.ended) return "it has ended";
      const { at: since, t } = clock();
      if (until <= since) return "that time is over";
      if (until > since + maxTrustMs) return "that is too long: at most 12 hours";
      const { permissionMode, place } = session;
      const trust = { session: sessionKeyOf(session), until, since, permissionMode, uses: 0 };
      trusts.set(trust.session, { ...trust, untilT: t + until - since, place });
      onChange();
      return trust;
    },
    end,
    judge({ session }: RuleRequest): RuleVerdict | null {
      const trust = trusts.get(sessionKeyOf(session));
      if (!trust || isOver(trust) || !isOfTrusted(trust, session)) return null;
      trust.uses++;
      const name = `trust until ${formatTime(trust.until)}`;
      return { name, folder: null, paths: [], readThroughLinks: [] };
    },
    follow(session: Session): void {
      const trust = trusts.get(sessionKeyOf(session));
      if (trust && (isOver(trust) || !isOfTrusted(trust, session))) end(trust.session);
    },
    list: (): readonly SessionTrust[] => [...trusts.values()].filter((trust) => !isOver(trust)),
  };
}
