/** A session's entry in the tray's menu, and what can be done with it. */

import type { Config } from "../../config/config.ts";
import type { Preferences } from "../../config/preferences.ts";
import type { UserAction } from "../../config/user-action.ts";
import type { FindAskDetails } from "../../session/ask-details.ts";
import type { Moment } from "../../session/event.ts";
import { answerIdOf, sessionKeyOf } from "../../session/keys.ts";
import { statusOf } from "../../session/phase.ts";
import { type Ask, hasDied, isInterrupted, projectOf, type Session } from "../../session/session.ts";
import {
  formatBackgroundTask,
  formatFailure,
  formatInterrupted,
  statusTexts,
  summarizeAsk,
} from "../../session/texts.ts";
import { shortenHomePath } from "../../text/paths.ts";
import {
  extractFirstLine,
  measureWidth,
  toSingleLine,
  truncateEnd,
  truncateMiddle,
} from "../../text/text.ts";
import { dayMs } from "../../timing.ts";
import type { Ages } from "../ages.ts";
import { formatSilence, groupMarks, groupSession, type SessionGroup, snoozedUntil } from "../groups.ts";
import { createEntryId, type MenuEntry, maxLabelColumns } from "../view.ts";
import { createAnswerEntries } from "./answer-entries.ts";

const maxProject = 24;
/** Of asks and subagents; the terminal shows the rest. */
const maxTold = 4;

export interface SessionEntryInput extends MenuRowInput {
  /** Of what can be answered here. */
  readonly asked: FindAskDetails;
  readonly home: string;
}

/** `name · 4 min · Bash: npm run deploy +1 · muted` */
export function formatSessionLine(
  row: MenuRow,
  name: string,
  { ages, clock, home }: SessionEntryInput,
): string {
  const start = `${name} · ${ages.format(row.since)} · `;
  const running = row.session.children.filter((child) => child.running).length;
  const asked = row.asks.length > 1 ? ` +${row.asks.length - 1}` : "";
  const children =
    row.group === "working" && running > 0 ? ` +${running} ${running === 1 ? "subagent" : "subagents"}` : "";
  const silence = row.silence === null ? "" : ` · ${formatSilence(row.silence, clock)}`;
  const left = maxLabelColumns - 2 - measureWidth(start) - measureWidth(asked + silence);
  // Beside a very long name there is no room for all of it: the submenu has them.
  const fitting = measureWidth(children) < left ? children : "";
  return (
    start +
    truncateEnd(shortenHomePath(row.what, home), left - measureWidth(fitting)) +
    asked +
    fitting +
    silence
  );
}

export function createSessionEntry(row: MenuRow, name: string, given: SessionEntryInput): MenuEntry {
  return {
    kind: "entry",
    id: createEntryId("session", row.key),
    label: `${groupMarks[row.group]} ${formatSessionLine(row, name, given)}`,
    action: null,
    children: [...aboutIt(row, given), ...actionsOn(row, given)],
  };
}

/** Told in quotes or after a word of ours, so that no text of an agent can pass for something to click on. */
function aboutIt(
  { session, key, asks, what, group }: MenuRow,
  { asked, home }: SessionEntryInput,
): MenuEntry[] {
  const tell = (id: string, label: string): MenuEntry => ({
    kind: "entry",
    id,
    label: truncateEnd(label, maxLabelColumns),
    action: null,
  });
  const title = toSingleLine(session.title ?? session.lastPrompt ?? "");
  const branch = toSingleLine(session.gitBranch ?? "");
  const running = session.children.filter((child) => child.running);
  const answer =
    group === "ready" && !isInterrupted(session) ? toSingleLine(extractFirstLine(session.lastResponse)) : "";
  const told = asks.slice(0, maxTold);
  return [
    ...(title === ""
      ? []
      : [tell(createEntryId("title", key), `“${truncateEnd(title, maxLabelColumns - 2)}”`)]),
    ...(branch === ""
      ? []
      : [tell(createEntryId("branch", key), `Branch ${truncateMiddle(branch, maxLabelColumns - 7)}`)]),
    ...told.map((ask) => {
      const label = `Asks · ${shortenHomePath(describeAsk(session, ask), home)}`;
      const open = asked(ask);
      if (open === null) return tell(createEntryId("ask", key, ask.id), label);
      const entry = tell(createEntryId("answer", key, answerIdOf(ask)), label);
      return { ...entry, children: createAnswerEntries(key, ask, open) };
    }),
    ...(asks.length > told.length
      ? [tell(createEntryId("asks", key), `and ${asks.length - told.length} more`)]
      : []),
    ...(answer === ""
      ? []
      : [tell(createEntryId("said", key), `Said “${truncateEnd(answer, maxLabelColumns - 7)}”`)]),
    ...(session.turn.error !== null && (group === "failed" || group === "ready")
      ? [tell(createEntryId("failed", key), `It ${what}`)]
      : []),
    ...running
      .slice(0, maxTold)
      .map((child) =>
        tell(
          createEntryId("child", key, child.agentId),
          `└ ${child.type || "Subagent"} · ${child.detail ?? statusTexts.thinking}`,
        ),
      ),
    ...(running.length > maxTold
      ? [tell(createEntryId("children", key), `└ ${running.length - maxTold} more`)]
      : []),
  ];
}

function actionsOn(row: MenuRow, given: MenuRowInput): MenuEntry[] {
  const { session, key, asks } = row;
  const can = (name: string, label: string, action: UserAction): MenuEntry => ({
    kind: "entry",
    id: createEntryId(name, key),
    label,
    action,
  });
  return [
    ...(session.ended ? [] : [can("focus", "Go to terminal", { do: "focus", session: key })]),
    ...(row.group === "ended" ? [] : [...snoozing(row, given, can), ...muting(row, given, can)]),
    ...((asks.length > 0 || row.group === "failed") && row.silence?.kind !== "dismissed"
      ? [can("dismiss", "Dismiss", { do: "dismiss", session: key })]
      : []),
    can("copy-id", "Copy session id", { do: "copy-id", session: key }),
    ...(session.transcriptPath === null
      ? []
      : [can("transcript", "Open transcript", { do: "transcript", session: key })]),
  ];
}

type Can = (name: string, label: string, action: UserAction) => MenuEntry;

function snoozing({ key }: MenuRow, { preferences, ages, clock }: MenuRowInput, can: Can): MenuEntry[] {
  const until = snoozedUntil(key, preferences, ages);
  const snooze = (minutes: number | null): UserAction => ({ do: "snooze", session: key, minutes });
  if (until !== null) return [can("wake", `End snooze (until ${clock(until)})`, snooze(null))];
  return [can("snooze-15", "Snooze 15 min", snooze(15)), can("snooze-60", "Snooze 1 hour", snooze(60))];
}

function muting({ session, key }: MenuRow, { preferences, config }: MenuRowInput, can: Can): MenuEntry[] {
  const project = projectOf(session);
  const isMuted = preferences.muted.includes(key);
  const own = {
    ...can("mute", "Mute this session", { do: "mute", session: key, on: !isMuted }),
    checked: isMuted,
  };
  if (project === null) return [own];
  const label = `Mute project “${truncateMiddle(project, maxProject)}”`;
  // What the person wrote into the file, a click must not seem to change.
  if (config.mutedProjects.includes(project)) {
    return [own, { ...can("mute-project", `${label} (in settings)`, { do: "settings" }), checked: true }];
  }
  const on = !preferences.mutedProjects.includes(project);
  return [own, { ...can("mute-project", label, { do: "mute-project", project, on }), checked: !on }];
}

/** A session as the menu lists it: in which group, since when, and why. */

export interface MenuRow extends SessionGroup {
  readonly session: Session;
  /** `agent:sessionId` */
  readonly key: string;
  readonly since: Moment;
  readonly what: string;
}

export interface MenuRowInput {
  readonly preferences: Preferences;
  readonly config: Config;
  readonly ages: Ages;
  /** Formats a wall time as local time. */
  readonly clock: (at: number) => string;
}

/** Returns null for a session that ended more than a day ago: nobody looks for it in a menu. */
export function createMenuRow(session: Session, input: MenuRowInput): MenuRow | null {
  const grouping = groupSession(session, input);
  const { since, what } = describe(session, grouping, input.ages);
  if (grouping.group === "ended" && input.ages.isOlder(since, dayMs)) return null;
  return { session, key: sessionKeyOf(session), ...grouping, since, what };
}

function describe(
  session: Session,
  { group, asks }: SessionGroup,
  ages: Ages,
): { readonly since: Moment; readonly what: string } {
  const { ended, turn } = session;
  const [ask] = asks;
  if (ask) return { since: ask, what: describeAsk(session, ask) };
  if (group === "ended") {
    const what = hasDied(session) ? statusTexts.died : ended ? statusTexts.ended : statusTexts.lost;
    return { since: ended ?? session.last, what };
  }
  if (group === "working") {
    const what = statusOf(session, ages.minute).detail ?? statusTexts.thinking;
    return { since: workingSince(session, ages), what };
  }
  return { since: turn, what: turn.error === null ? doneWith(session) : formatFailure(turn.error) };
}

/** "Bash: npm run deploy", "Explore › Question: Which colour?" */
function describeAsk(session: Session, ask: Ask): string {
  const child = session.children.find(({ agentId }) => agentId === ask.agentId);
  return (ask.agentId === null ? "" : `${child?.type || "Subagent"} › `) + summarizeAsk(ask);
}

function workingSince(session: Session, { minute }: Ages): Moment {
  if (session.turn.running) return session.turn;
  const started = session.children.filter((child) => child.running).map((child) => child.startedAt);
  return { at: Math.min(...started), t: minute.t };
}

function doneWith(session: Session): string {
  const { background, prompted } = session;
  if (background !== null) return formatBackgroundTask(background);
  if (isInterrupted(session)) return formatInterrupted(session.lastPrompt);
  return prompted === null ? statusTexts.ready : statusTexts.done;
}
