/** A session in the menu: its line, what is known about it, and what the user can do with it. */
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
import {
  findSnoozeEnd,
  formatSilence,
  type GroupContext,
  groupMarks,
  groupSession,
  type SessionGroup,
} from "../groups.ts";
import { createEntryId, type MenuEntry, maxLabelColumns } from "../view.ts";
import { createAnswerEntries } from "./answer-entries.ts";

export interface MenuContext extends GroupContext {
  /** Formats a wall time as local time. */
  readonly formatTime: (at: number) => string;
  readonly findDetails: FindAskDetails;
  readonly home: string;
}

export interface MenuRow extends SessionGroup {
  readonly session: Session;
  /** `agent:sessionId` */
  readonly key: string;
  readonly since: Moment;
  /** What it does or wants. */
  readonly what: string;
}

/** Returns null for a session that ended more than a day ago: nobody looks for it in a menu. */
export function createMenuRow(session: Session, context: MenuContext): MenuRow | null {
  const grouping = groupSession(session, context);
  const { since, what } = describeSession(session, grouping, context.ages);
  if (grouping.group === "ended" && context.ages.isOlder(since, dayMs)) return null;
  return { session, key: sessionKeyOf(session), ...grouping, since, what };
}

function describeSession(
  session: Session,
  { group, asks }: SessionGroup,
  ages: Ages,
): Pick<MenuRow, "since" | "what"> {
  const { ended, turn } = session;
  const [ask] = asks;
  if (ask) return { since: ask, what: describeAsk(session, ask) };
  if (group === "ended") {
    const what = hasDied(session) ? statusTexts.died : ended ? statusTexts.ended : statusTexts.lost;
    return { since: ended ?? session.last, what };
  }
  if (group === "working") {
    const what = statusOf(session, ages.minute).detail ?? statusTexts.thinking;
    return { since: findWorkStart(session, ages), what };
  }
  return { since: turn, what: turn.error === null ? describeReady(session) : formatFailure(turn.error) };
}

/** "Bash: npm run deploy", "Explore › Question: Which colour?" */
function describeAsk(session: Session, ask: Ask): string {
  const child = session.children.find(({ agentId }) => agentId === ask.agentId);
  return (ask.agentId === null ? "" : `${child?.type || "Subagent"} › `) + summarizeAsk(ask);
}

function findWorkStart(session: Session, { minute }: Ages): Moment {
  if (session.turn.running) return session.turn;
  const started = session.children.filter((child) => child.running).map((child) => child.startedAt);
  return { at: Math.min(...started), t: minute.t };
}

function describeReady(session: Session): string {
  const { background, prompted } = session;
  if (background !== null) return formatBackgroundTask(background);
  if (isInterrupted(session)) return formatInterrupted(session.lastPrompt);
  return prompted === null ? statusTexts.ready : statusTexts.done;
}

/** `name · 4 min · Bash: npm run deploy +1 · muted` */
export function formatSessionLine(row: MenuRow, name: string, context: MenuContext): string {
  const { ages, formatTime, home } = context;
  const start = `${name} · ${ages.format(row.since)} · `;
  const moreAsks = row.asks.length > 1 ? ` +${row.asks.length - 1}` : "";
  const silence = row.silence === null ? "" : ` · ${formatSilence(row.silence, formatTime)}`;
  const room = maxLabelColumns - 2 - measureWidth(start) - measureWidth(moreAsks + silence);
  const children = row.group === "working" ? formatChildren(row.session) : "";
  // The submenu has the subagents if there is no room for their count beside a long name.
  const fitting = measureWidth(children) < room ? children : "";
  const what = truncateEnd(shortenHomePath(row.what, home), room - measureWidth(fitting));
  return `${start}${what}${moreAsks}${fitting}${silence}`;
}

/** " +2 subagents" */
function formatChildren({ children }: Session): string {
  const count = children.filter((child) => child.running).length;
  return count === 0 ? "" : ` +${count} ${count === 1 ? "subagent" : "subagents"}`;
}

export function createSessionEntry(row: MenuRow, name: string, context: MenuContext): MenuEntry {
  return {
    kind: "entry",
    id: createEntryId("session", row.key),
    label: `${groupMarks[row.group]} ${formatSessionLine(row, name, context)}`,
    action: null,
    children: [...createDetails(row, context), ...createActions(row, context)],
  };
}

/** How many asks and subagents are listed. */
const maxListed = 4;

/** Text of an agent is quoted or follows a word of ours, so it cannot look like a command. */
function createDetails({ session, key, asks, what, group }: MenuRow, context: MenuContext): MenuEntry[] {
  const { findDetails, home } = context;
  const text = (label: string, name: string, ...parts: readonly string[]): MenuEntry => ({
    kind: "entry",
    id: createEntryId(name, key, ...parts),
    label: truncateEnd(label, maxLabelColumns),
    action: null,
  });
  const entries: MenuEntry[] = [];
  const title = toSingleLine(session.title ?? session.lastPrompt ?? "");
  if (title !== "") entries.push(text(`“${truncateEnd(title, maxLabelColumns - 2)}”`, "title"));
  const branch = toSingleLine(session.gitBranch ?? "");
  if (branch !== "") entries.push(text(`Branch ${truncateMiddle(branch, maxLabelColumns - 7)}`, "branch"));

  for (const ask of asks.slice(0, maxListed)) {
    const label = `Asks · ${shortenHomePath(describeAsk(session, ask), home)}`;
    const details = findDetails(ask);
    if (details === null) entries.push(text(label, "ask", ask.id));
    else {
      const children = createAnswerEntries(key, ask, details);
      entries.push({ ...text(label, "answer", answerIdOf(ask)), children });
    }
  }
  if (asks.length > maxListed) entries.push(text(`and ${asks.length - maxListed} more`, "asks"));

  const hasResponse = group === "ready" && !isInterrupted(session);
  const response = hasResponse ? toSingleLine(extractFirstLine(session.lastResponse)) : "";
  if (response !== "") entries.push(text(`Said “${truncateEnd(response, maxLabelColumns - 7)}”`, "said"));
  if (session.turn.error !== null && (group === "failed" || group === "ready")) {
    entries.push(text(`It ${what}`, "failed"));
  }
  const running = session.children.filter((child) => child.running);
  for (const { agentId, type, detail } of running.slice(0, maxListed)) {
    entries.push(text(`└ ${type || "Subagent"} · ${detail ?? statusTexts.thinking}`, "child", agentId));
  }
  if (running.length > maxListed) entries.push(text(`└ ${running.length - maxListed} more`, "children"));
  return entries;
}

function createActions(row: MenuRow, context: MenuContext): MenuEntry[] {
  const { session, key, asks, group } = row;
  const command: CreateCommand = (name, label, action) => ({
    kind: "entry",
    id: createEntryId(name, key),
    label,
    action,
  });
  const canDismiss = (asks.length > 0 || group === "failed") && row.silence?.kind !== "dismissed";
  return [
    ...(session.ended ? [] : [command("focus", "Go to terminal", { do: "focus", session: key })]),
    ...(group === "ended" ? [] : createSnoozeEntries(row, context, command)),
    ...(group === "ended" ? [] : createMuteEntries(row, context, command)),
    ...(canDismiss ? [command("dismiss", "Dismiss", { do: "dismiss", session: key })] : []),
    command("copy-id", "Copy session id", { do: "copy-id", session: key }),
    ...(session.transcriptPath === null
      ? []
      : [command("transcript", "Open transcript", { do: "transcript", session: key })]),
  ];
}

type CreateCommand = (name: string, label: string, action: UserAction) => MenuEntry;

function createSnoozeEntries({ key }: MenuRow, context: MenuContext, command: CreateCommand): MenuEntry[] {
  const until = findSnoozeEnd(key, context);
  const snooze = (minutes: number | null): UserAction => ({ do: "snooze", session: key, minutes });
  if (until !== null) {
    return [command("wake", `End snooze (until ${context.formatTime(until)})`, snooze(null))];
  }
  return [
    command("snooze-15", "Snooze 15 min", snooze(15)),
    command("snooze-60", "Snooze 1 hour", snooze(60)),
  ];
}

const maxProject = 24;

function createMuteEntries(
  { session, key }: MenuRow,
  { preferences, config }: MenuContext,
  command: CreateCommand,
): MenuEntry[] {
  const isMuted = preferences.muted.includes(key);
  const own = {
    ...command("mute", "Mute this session", { do: "mute", session: key, on: !isMuted }),
    checked: isMuted,
  };
  const project = projectOf(session);
  if (project === null) return [own];
  const label = `Mute project “${truncateMiddle(project, maxProject)}”`;
  // A click cannot change what config.json says.
  if (config.mutedProjects.includes(project)) {
    return [own, { ...command("mute-project", `${label} (in settings)`, { do: "settings" }), checked: true }];
  }
  const on = !preferences.mutedProjects.includes(project);
  return [own, { ...command("mute-project", label, { do: "mute-project", project, on }), checked: !on }];
}
