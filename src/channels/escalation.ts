/** When an alert goes to a channel: which alerts, after how long, only if the user is away, in which hours. Pure. */
import type { ChannelSettings } from "../core/config/channels.ts";
import { computeQuietHours, type LocalTime } from "../core/config/quiet.ts";
import type { PresenceReading } from "../core/interfaces/index.ts";
import type { Moment } from "../core/session/event.ts";
import { elapsedMs } from "../core/session/phase.ts";
import { projectOf, type Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { findRelativePath } from "../core/text/paths.ts";
import type { JudgedCause } from "../core/view/alerts/alerts.ts";

export interface Escalation {
  readonly isDue: boolean;
  /** Wall time at which to ask again; null if time alone does not change it. */
  readonly checkAt: number | null;
}

/** What is known about the user. */
export interface UserSituation {
  /** null if no channel wants to know. */
  readonly presence: PresenceReading | null;
  /** Sessions (`agent:sessionId`) whose pane is visible and has the focus. */
  readonly visibleSessions: ReadonlySet<string>;
}

type EscalatedCause = Pick<JudgedCause, "kind" | "ask" | "since" | "session" | "isSuppressed">;

/** A request that was answered by a rule, or named by a second hook, has settled by then. */
const minAgeMs = 400;
/** How often it is checked whether the user has left, or looks away from the pane. */
const presenceCheckMs = 5_000;

const never: Escalation = { isDue: false, checkAt: null };

export function escalate(
  cause: EscalatedCause,
  settings: ChannelSettings,
  now: Moment & LocalTime,
  { presence, visibleSessions }: UserSituation,
): Escalation {
  const type = cause.kind === "blocked" && cause.ask !== null ? cause.ask.kind : cause.kind;
  if (cause.isSuppressed || !(settings.asks as readonly string[]).includes(type)) return never;
  if (!isOfProject(cause.session, settings.projects)) return never;
  const hours = computeQuietHours(settings.hours, now);
  if (hours && !hours.isOn) return { isDue: false, checkAt: hours.checkAt };

  const ageMs = elapsedMs(cause.since, now);
  if (ageMs < minAgeMs) return { isDue: false, checkAt: now.at + minAgeMs - ageMs };
  const leftMs = settings.afterSeconds * 1_000 - ageMs;
  if (settings.when === "always")
    return leftMs <= 0 ? { isDue: true, checkAt: null } : { isDue: false, checkAt: now.at + leftMs };
  if (isAway(presence, settings)) return { isDue: true, checkAt: null };
  const isLooking = isKnownPresent(presence) && visibleSessions.has(sessionKeyOf(cause.session));
  if (leftMs <= 0 && !isLooking) return { isDue: true, checkAt: null };
  const checkMs = leftMs <= 0 ? presenceCheckMs : Math.min(leftMs, presenceCheckMs);
  return { isDue: false, checkAt: now.at + checkMs };
}

/** Whether the alert is due unless the user looks at the pane of its session. To find that out costs something. */
export function isPaneDecisive(
  cause: EscalatedCause,
  settings: ChannelSettings,
  now: Moment & LocalTime,
  { presence }: Pick<UserSituation, "presence">,
): boolean {
  const isDue = (...visible: readonly string[]) =>
    escalate(cause, settings, now, { presence, visibleSessions: new Set(visible) }).isDue;
  return isDue() && !isDue(sessionKeyOf(cause.session));
}

/** A list has names of projects. An object has folders, for a service that maps them. */
function isOfProject(session: Session, projects: ChannelSettings["projects"]): boolean {
  if (Array.isArray(projects)) return projects.length === 0 || projects.includes(projectOf(session) ?? "");
  const folder = session.firstCwd ?? session.cwd;
  const folders = Object.keys(projects);
  if (folders.length === 0) return true;
  return folder !== null && folders.some((own) => own === folder || findRelativePath(own, folder) !== null);
}

/** A pane has the focus during lunch too. So it counts only if it is known that there was input a moment ago. */
const isKnownPresent = (presence: PresenceReading | null): boolean =>
  presence !== null && presence.idleMs !== null;

/** Unknown counts as present. */
function isAway(presence: PresenceReading | null, { awaySeconds }: ChannelSettings): boolean {
  if (presence === null) return false;
  return presence.isLocked === true || (presence.idleMs ?? 0) >= awaySeconds * 1_000;
}
