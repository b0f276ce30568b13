/** When an alert goes to a channel: which alerts, after how long, only if the user is away, in which hours. Pure. */
import type { ChannelSettings } from "../core/config/channels.ts";
import { computeQuietHours, type LocalTime } from "../core/config/quiet.ts";
import type { PresenceReading } from "../core/ports.ts";
import type { Moment } from "../core/session/event.ts";
import { elapsedMs } from "../core/session/phase.ts";
import { projectOf } from "../core/session/session.ts";
import type { JudgedCause } from "../core/view/alerts/alerts.ts";

export interface Escalation {
  readonly isDue: boolean;
  /** Wall time at which to ask again; null if time alone does not change it. */
  readonly checkAt: number | null;
}

/** A request that was answered by a rule, or named by a second hook, has settled by then. */
const minAgeMs = 400;
/** How often it is checked whether the user has left. */
const presenceCheckMs = 5_000;

const never: Escalation = { isDue: false, checkAt: null };

export function escalate(
  cause: Pick<JudgedCause, "kind" | "ask" | "since" | "session" | "isSuppressed">,
  settings: ChannelSettings,
  now: Moment & LocalTime,
  presence: PresenceReading | null,
): Escalation {
  const type = cause.kind === "blocked" && cause.ask !== null ? cause.ask.kind : cause.kind;
  if (cause.isSuppressed || !(settings.asks as readonly string[]).includes(type)) return never;
  const project = projectOf(cause.session);
  if (settings.projects.length > 0 && !settings.projects.includes(project ?? "")) return never;
  const hours = computeQuietHours(settings.hours, now);
  if (hours && !hours.isOn) return { isDue: false, checkAt: hours.checkAt };

  const ageMs = elapsedMs(cause.since, now);
  if (ageMs < minAgeMs) return { isDue: false, checkAt: now.at + minAgeMs - ageMs };
  const leftMs = settings.afterSeconds * 1_000 - ageMs;
  if (leftMs <= 0 || (settings.when === "away" && isAway(presence, settings))) {
    return { isDue: true, checkAt: null };
  }
  const checkMs = settings.when === "away" ? Math.min(leftMs, presenceCheckMs) : leftMs;
  return { isDue: false, checkAt: now.at + checkMs };
}

/** Unknown counts as present. */
function isAway(presence: PresenceReading | null, { awaySeconds }: ChannelSettings): boolean {
  if (presence === null) return false;
  return presence.isLocked === true || (presence.idleMs ?? 0) >= awaySeconds * 1_000;
}
