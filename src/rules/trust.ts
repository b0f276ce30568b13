/** Sessions that the user trusts until some time. Kept in memory only: after a restart everything is asked again. */
import type { Session } from "../core/session/session.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
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

interface TrustsOptions {
  readonly now: () => number;
  readonly formatTime: (at: number) => string;
  readonly onChange: () => void;
}

const maxTrustMs = 12 * hourMs;

export function createTrusts({ now, formatTime, onChange }: TrustsOptions) {
  const trusts = new Map<string, SessionTrust>();

  const find = (session: SessionRefLike): SessionTrust | null => {
    const trust = trusts.get(sessionKeyOf(session)) ?? null;
    if (trust && trust.until <= now()) trusts.delete(trust.session);
    return trust && trust.until > now() ? trust : null;
  };

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
      if (until <= now()) return "that time is over";
      if (until > now() + maxTrustMs) return "that is too long: at most 12 hours";
      const { permissionMode } = session;
      const trust = { session: sessionKeyOf(session), until, since: now(), permissionMode, uses: 0 };
      trusts.set(trust.session, trust);
      onChange();
      return trust;
    },
    end,
    judge({ session }: RuleRequest): RuleVerdict | null {
      const trust = find(session);
      if (!trust || session.permissionMode !== trust.permissionMode) return null;
      trust.uses++;
      const name = `trust until ${formatTime(trust.until)}`;
      return { name, folder: null, paths: [], readThroughLinks: [] };
    },
    follow(session: Session): void {
      const trust = trusts.get(sessionKeyOf(session));
      if (trust && (session.ended || session.permissionMode !== trust.permissionMode)) end(trust.session);
    },
    list: (): readonly SessionTrust[] => [...trusts.values()].filter(({ until }) => until > now()),
  };
}
