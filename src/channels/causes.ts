/** The causes of alerts, for channels: all of them, whether the desktop suppresses them or not. */
import { type AlertsInputOptions, createAlertsInput } from "../alerts/input.ts";
import type { LocalTime } from "../core/config/quiet.ts";
import type { ClockReading } from "../core/session/event.ts";
import { sessionKeyOfAlert } from "../core/session/keys.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import { parseSessionKey, type SessionRefLike } from "../core/session/session-ref.ts";
import { computeCauses, type JudgedCause, type JudgedCauses } from "../core/view/alerts/alerts.ts";
import { withLocalTime } from "../system/clock.ts";

export interface CauseFinderOptions extends Omit<AlertsInputOptions, "findDetails"> {
  readonly get: (ref: SessionRefLike) => Session | null;
  /** False while older events of the session have not been read: its asks may be over. */
  readonly isCaughtUp: (session: string) => boolean;
  /** The session's own machine tells the user of it: one person is told once. */
  readonly isAlertedElsewhere?: (session: Session) => boolean;
}

export interface CauseFinder {
  /** Those of the sessions with these keys, except sessions that are not caught up. Doctor's test alerts are never sent to channels. */
  findAll(sessions: Iterable<string>, now: ClockReading & LocalTime): JudgedCauses;
  /** The cause of this alert as it is now; null if it is gone. */
  find(key: string): JudgedCause | null;
}

export function createCauseFinder(options: CauseFinderOptions): CauseFinder {
  const { clock, isCaughtUp, isAlertedElsewhere = () => false } = options;
  const createInput = createAlertsInput({ ...options, findDetails: () => null });

  function findSession(key: string): Session | null {
    const ref = parseSessionKey(key);
    return ref && options.get(ref);
  }

  return {
    findAll(keys, now) {
      const sessions = [...new Set(keys)].flatMap((key) => {
        const session = isCaughtUp(key) ? findSession(key) : null;
        return session && !isProbe(session) ? [session] : [];
      });
      const { causes, ...others } = computeCauses(createInput({ sessions, now }));
      return {
        ...others,
        causes: causes.map((cause) =>
          isAlertedElsewhere(cause.session) ? { ...cause, isSuppressed: true } : cause,
        ),
      };
    },
    find(key) {
      const session = findSession(sessionKeyOfAlert(key));
      const input = createInput({ sessions: session ? [session] : [], now: withLocalTime(clock()) });
      return computeCauses(input).causes.find((cause) => cause.key === key) ?? null;
    },
  };
}
