/** A session in the menu: its line, what is known about it, and what the user can do with it. */
import type { UserAction } from "../../config/user-action.ts";
import type { FindAskDetails } from "../../session/ask-details.ts";
import { answerIdOf } from "../../session/keys.ts";
import { statusOf } from "../../session/phase.ts";
import {
  type Ask,
  hasDied,
  isClearReason,
  isInterrupted,
  nameOfChild,
  projectOf,
  type Session,
} from "../../session/session.ts";
import { sessionKeyOf } from "../../session/session-ref.ts";
import { findStuck } from "../../session/stuck.ts";
import {
  dangerMark,
  describeReady,
  formatBackgroundTask,
  formatFailure,
  statusTexts,
  summarizeAsk,
} from "../../session/texts.ts";
import { shortenHomePath } from "../../text/paths.ts";
import { toSingleLine, truncateEnd, truncateMiddle } from "../../text/text.ts";
import { measureWidth } from "../../text/width.ts";
import { formatCount } from "../../text/words.ts";
import { dayMs, minuteMs } from "../../timing.ts";
import type { Ages } from "../ages.ts";
import { formatUsage } from "../figures.ts";
import { groupMarks } from "../group-names.ts";
import {
  findSnoozeEnd,
  formatSilence,
  type GroupContext,
  groupSession,
  type SessionGroup,
} from "../groups.ts";
import { branchOf } from "../session-names.ts";
import { measureSession } from "../session-view.ts";
import { createEntryId, joinSections, type MenuEntry, maxLabelColumns } from "../view.ts";
import { formatSharedFiles, formatStuck } from "../work-notes.ts";
import { createAnswerEntries } from "./answer-entries.ts";

export interface MenuContext extends GroupContext {
  /** Formats a wall time as local time. */
  readonly formatTime: (at: number) => string;
  readonly findDetails: FindAskDetails;
  readonly home: string;
  /** Sessions of more than one agent are listed, so each names its own. */
  readonly namesAgents: boolean;
  /** The answer id of the dangerous ask that the user has to confirm; null if there is none. */
  readonly confirming: string | null;
}

export interface MenuRow extends SessionGroup {
  readonly session: Session;
  /** `agent:sessionId` */
  readonly key: string;
  /** What it does or wants. */
  readonly what: string;
}

/** Returns null for a session that ended more than a day ago: nobody looks for it in a menu. */
export function createMenuRow(session: Session, context: MenuContext): MenuRow | null {
  const grouping = groupSession(session, context);
  if (grouping.group === "ended" && context.ages.isOlder(grouping.since, dayMs)) return null;
  const what = describeSession(session, grouping, context);
  return { session, key: sessionKeyOf(session), ...grouping, what };
}

function describeSession(session: Session, { group, asks }: SessionGroup, context: MenuContext): string {
  const { ended, turn, background, prompted, lastPrompt, lastResponse } = session;
  const [ask] = asks;
  if (ask) return describeAsk(session, ask, context);
  if (group === "ended" || ended) {
    if (hasDied(session)) return statusTexts.died;
    if (!ended) return statusTexts.lost;
    return isClearReason(ended.reason) ? statusTexts.cleared : statusTexts.ended;
  }
  if (group === "working")
    return (
      describeStuck(session, context) ?? statusOf(session, context.ages.minute).detail ?? statusTexts.thinking
    );
  if (turn.error !== null) return formatFailure(turn.error);
  return describeReady({
    background: background === null ? null : formatBackgroundTask(background),
    isInterrupted: isInterrupted(session),
    hasTurns: prompted !== null,
    lastPrompt,
    lastResponse,
  });
}

/** null if nothing suggests that it is stuck. */
function describeStuck(session: Session, { ages, config }: MenuContext): string | null {
  const { silentMinutes } = config.stuck;
  const stuck = findStuck(session, ages.minute, silentMinutes);
  // The menu is drawn again when it becomes so.
  if (stuck === null && silentMinutes > 0) ages.isOlder(session.last, silentMinutes * minuteMs);
  return stuck && formatStuck(stuck, formatAgeWith(ages));
}

const formatAgeWith =
  (ages: Ages) =>
  (at: number): string =>
    ages.format({ at, t: ages.minute.t });

/** "Bash: npm run deploy", "Explore › Question: Which colour?", "⚠ Bash: rm -rf build" */
function describeAsk(session: Session, ask: Ask, context: MenuContext): string {
  const child = session.children.find(({ agentId }) => agentId === ask.agentId);
  const subagent = ask.agentId === null ? "" : `${child ? nameOfChild(child) : "Subagent"} › `;
  const step = isConfirming(ask, context) ? "Confirm or deny · " : "";
  return markDanger(ask, context) + step + subagent + summarizeAsk(ask);
}

const markDanger = (ask: Ask, { findDetails }: MenuContext): string =>
  findDetails(ask)?.dangers.length ? dangerMark : "";

const isConfirming = (ask: Ask, { confirming }: MenuContext): boolean =>
  confirming !== null && confirming === answerIdOf(ask);

/** `name · codex · 4 min · Bash: npm run deploy +1 · muted` */
export function formatSessionLine(row: MenuRow, name: string, context: MenuContext): string {
  const { ages, formatTime, home } = context;
  const agent = context.namesAgents ? `${toSingleLine(row.session.agent)} · ` : "";
  const start = `${name} · ${agent}${ages.format(row.since)} · `;
  const others = row.asks.slice(1);
  const hasDanger = others.some((ask) => markDanger(ask, context) !== "");
  const moreAsks = others.length > 0 ? ` +${others.length}${hasDanger ? ` ${dangerMark.trim()}` : ""}` : "";
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
  return count === 0 ? "" : ` +${formatCount(count, "subagent")}`;
}

export function createSessionEntry(row: MenuRow, name: string, context: MenuContext): MenuEntry {
  const line = formatSessionLine(row, name, context);
  const { key, session, asks } = row;
  const answerable = asks.flatMap((ask) => {
    const details = context.findDetails(ask);
    return details === null ? [] : [{ ask, details }];
  })[0];
  const answers = answerable
    ? createAnswerEntries({
        session: key,
        ...answerable,
        isConfirming: isConfirming(answerable.ask, context),
      })
    : [];
  const others = asks.filter((ask) => ask !== answerable?.ask);
  const commands = createCommands(row, context, {
    hasFocus:
      (!session.ended || row.group === "failed") &&
      answerable === undefined &&
      session.unreachableSince === null,
  });
  return {
    kind: "entry",
    id: createEntryId("session", key),
    label: `${groupMarks[row.group]} ${line}`,
    action: null,
    children: joinSections([answers, createDetails(row, others, line, context), commands], key),
  };
}

/** How many asks and subagents are listed. */
const maxListed = 4;

/** `asks`: the asks that are not shown in full. Text of an agent is quoted or follows one of beckon's words, so it cannot look like a command. */
function createDetails(
  { session, key, asks: all, what, group }: MenuRow,
  asks: readonly Ask[],
  line: string,
  context: MenuContext,
): MenuEntry[] {
  const text = (label: string, name: string, ...parts: readonly string[]): MenuEntry => ({
    kind: "entry",
    id: createEntryId(name, key, ...parts),
    label: truncateEnd(label, maxLabelColumns),
    action: null,
  });
  const entries: MenuEntry[] = [];
  const verb = asks.length < all.length ? "Also asks" : "Asks";
  // The session's own row may show all that is known about its only ask.
  const isInRow = all.length === 1 && line.includes(shortenHomePath(what, context.home));
  for (const ask of isInRow ? [] : asks.slice(0, maxListed)) {
    const subject = shortenHomePath(describeAsk(session, ask, context), context.home);
    entries.push(text(`${verb} · ${subject}`, "ask", ask.id));
  }
  if (asks.length > maxListed) entries.push(text(`and ${asks.length - maxListed} more`, "asks"));
  const shared = formatSharedFiles(session.sharedFiles, session.cwd, formatAgeWith(context.ages));
  shared.slice(0, maxListed).forEach((label, n) => {
    entries.push(text(label, "shared", String(n)));
  });
  const title = toSingleLine(session.title ?? session.lastPrompt ?? "");
  if (title !== "") entries.push(text(`“${truncateEnd(title, maxLabelColumns - 2)}”`, "title"));
  const branch = toSingleLine(branchOf(session.gitBranch));
  if (branch !== "") entries.push(text(`Branch ${truncateMiddle(branch, maxLabelColumns - 7)}`, "branch"));
  // The session's own row has room for its start only.
  if (group === "ready" && !line.includes(what))
    entries.push(text(`Said “${truncateEnd(what, maxLabelColumns - 7)}”`, "said"));
  if (session.turn.error !== null && !session.ended && (group === "failed" || group === "ready")) {
    entries.push(text(`It ${what}`, "failed"));
  }
  const amounts = measureSession(session);
  // While it works, tokens and cost change with every request, and the desktop would draw the menu again.
  const used = formatUsage(group === "working" ? { ...amounts, tokens: null } : amounts);
  if (used !== "") entries.push(text(used, "used"));
  const running = session.children.filter((child) => child.running);
  for (const child of running.slice(0, maxListed)) {
    const label = `└ ${nameOfChild(child)} · ${child.detail ?? statusTexts.thinking}`;
    entries.push(text(label, "child", child.agentId));
  }
  if (running.length > maxListed) entries.push(text(`└ ${running.length - maxListed} more`, "children"));
  return entries;
}

function createCommands(
  row: MenuRow,
  context: MenuContext,
  { hasFocus }: { readonly hasFocus: boolean },
): MenuEntry[] {
  const { session, key, asks, group } = row;
  const command: CreateCommand = (name, label, action) => ({
    kind: "entry",
    id: createEntryId(name, key),
    label,
    action,
  });
  const canDismiss = (asks.length > 0 || group === "failed") && row.silence?.kind !== "dismissed";
  return [
    ...(hasFocus ? [command("focus", "Go to terminal", { do: "focus", session: key })] : []),
    // Nothing is alerted of a machine that cannot be reached.
    ...(group === "ended" || row.silence?.kind === "unreachable"
      ? []
      : createSnoozeEntries(row, context, command)),
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
