/** The tray's icon, tooltip and menu as a function of state and time. */
import type { Config } from "../../config/config.ts";
import type { Preferences } from "../../config/preferences.ts";
import type { QuietMode, UserAction } from "../../config/user-action.ts";
import { type FindAskDetails, withAnsweringEnabled } from "../../session/ask-details.ts";
import type { Moment } from "../../session/event.ts";
import type { Session } from "../../session/session.ts";
import { shortenHome } from "../../text/paths.ts";
import { truncateEnd } from "../../text/text.ts";
import { capitalize } from "../../text/words.ts";
import { createAges } from "../ages.ts";
import { formatGroupCount, type Group, groupLabels, groups } from "../group-names.ts";
import { sortSessions } from "../order.ts";
import { formatQuotas, listQuotas } from "../quotas.ts";
import { formatSessionName, namePartsOf, nameSessions } from "../session-names.ts";
import {
  createEntryId,
  joinSections,
  type MenuEntry,
  type MenuItem,
  maxLabelColumns,
  type TrayIcon,
  type TrayView,
} from "../view.ts";
import {
  createMenuRow,
  createSessionEntry,
  formatSessionLine,
  type MenuContext,
  type MenuRow,
} from "./session-entry.ts";

export interface MenuFacts {
  /** The agents that beckon offers to connect. Empty if one is connected. */
  readonly unconnected: readonly { readonly id: string; readonly name: string }[];
  readonly dashboard: boolean;
  readonly version: string;
  /** The sessions are invented. */
  readonly isDemo?: boolean;
  /** The user's home folder; empty if unknown. */
  readonly home: string;
  /** What users call an agent. */
  readonly agentName: (agent: string) => string;
  /** Problems to show at the top: `config.json: alerts.sound must be true or false`. */
  readonly problems: readonly string[];
  /** Formats a wall time as local time: `14:20`, or `tomorrow 08:00` if it is not today. */
  readonly formatTime: (at: number) => string;
  /** Wall time at which the current quiet hours end; null if there are none now. */
  readonly quietHoursEnd: number | null;
}

export interface MenuInput {
  /** Settled at `now`. They can settle further up to 1 s after an event; the caller has to create the menu again then. */
  readonly sessions: readonly Session[];
  readonly preferences: Preferences;
  readonly config: Config;
  readonly now: Moment;
  readonly facts: MenuFacts;
  readonly findDetails: FindAskDetails;
  /** The answer id of the dangerous ask that the user chose to allow and has to confirm; null if there is none. */
  readonly confirming: string | null;
}

export interface Menu extends TrayView {
  /** Wall time at which the menu changes without an event; null if it does not. */
  readonly nextChange: number | null;
}

/** How many sessions each group lists at most. The rest is in a submenu. */
const maxListed: Readonly<Record<Group, number>> = {
  needs_you: 8,
  failed: 3,
  set_aside: 3,
  working: 6,
  ready: 5,
  ended: 0,
};
/** How many sessions all groups list together: more do not fit a screen of 800 pixels, and Quit would be out of sight. */
const maxListedTogether = 16;
/** If there are too many, these groups list fewer, in this order, but each at least `minListed`. */
const shrinkingGroups: readonly Group[] = ["ready", "working", "set_aside", "failed"];
const minListed = 2;
/** A longer submenu is hard to use, and some panels cannot show it. */
const maxInSubmenu = 30;
const maxEnded = 10;
const maxInTooltip = 4;

export function createMenu(input: MenuInput): Menu {
  const { sessions, preferences, config, now, facts } = input;
  const ages = createAges(now);
  const context: MenuContext = {
    preferences,
    config,
    ages,
    formatTime: facts.formatTime,
    findDetails: withAnsweringEnabled(input.findDetails, config),
    home: facts.home,
    namesAgents: new Set(sessions.map(({ agent }) => agent)).size > 1,
    confirming: input.confirming,
  };
  const rows = sortSessions(
    sessions.flatMap((session) => createMenuRow(session, context) ?? []),
    ({ key, group, since }) => ({ key, group, since: since.at }),
  );
  const byGroup = Map.groupBy(rows, ({ group }) => group);
  const rowsIn = (group: Group): readonly MenuRow[] => byGroup.get(group) ?? [];
  const listed = computeListed((group) => rowsIn(group).length);
  // Only rows that can be listed get a name and an entry.
  const listedIn = (group: Group): readonly MenuRow[] =>
    rowsIn(group).slice(0, group === "ended" ? maxEnded : listed[group] + 1 + maxInSubmenu);
  const names = nameSessions(
    [...byGroup.keys()].flatMap(listedIn).map(({ session }) => namePartsOf(session)),
  );
  const nameRow = ({ key }: MenuRow): string => {
    const name = names.get(key);
    return name ? formatSessionName(name) : key;
  };
  const entriesIn = (group: Group): MenuEntry[] =>
    listedIn(group).map((row) => createSessionEntry(row, nameRow(row), context));
  const section = (group: Group): MenuItem[] =>
    createSection(group, entriesIn(group), rowsIn(group).length, listed[group]);

  const needsYou = rowsIn("needs_you");
  const hasAnything = rows.length > 0 || facts.unconnected.length > 0;
  const sections: MenuItem[][] = [
    [
      ...(facts.isDemo ? [createText("demo", "Demo with invented sessions")] : []),
      ...createConnectEntries(facts),
      ...createProblemEntries(facts),
    ],
    needsYou.length > 0
      ? [...section("needs_you"), createActionEntry("next", "Next waiting", { do: "next" })]
      : [createText("calm", hasAnything ? "Nothing needs you" : "No sessions yet")],
    section("failed"),
    section("set_aside"),
    section("working"),
    section("ready"),
    createEndedSection(entriesIn("ended")),
    createQuotaEntries(sessions, context, facts),
    [
      createQuietEntry(preferences, context, facts),
      ...(facts.dashboard ? [createActionEntry("dashboard", "Open dashboard", { do: "dashboard" })] : []),
      createActionEntry("settings", "Settings…", { do: "settings" }),
      createActionEntry("about", `About beckon ${facts.version}`, { do: "about" }),
      createActionEntry("quit", "Quit", { do: "quit" }),
    ],
  ];
  const title = formatTitle((group) => rowsIn(group).length, facts);
  const inTooltip = [...needsYou, ...rowsIn("failed"), ...rowsIn("working")];
  const lines = inTooltip.map((row) => formatSessionLine(row, nameRow(row), context));
  return {
    icon: createIcon(needsYou.length, rowsIn("failed").length, rowsIn("working").length),
    title,
    tooltip: [title, ...limitLines(lines, maxInTooltip)].join("\n"),
    items: joinSections(sections, "menu"),
    leftClick: config.tray.leftClick,
    nextChange: ages.nextChange(),
  };
}

function createIcon(needsYou: number, failed: number, working: number): TrayIcon {
  if (needsYou > 0) return { phase: "blocked", count: needsYou };
  return { phase: failed > 0 ? "failed" : working > 0 ? "working" : "calm", count: 0 };
}

const groupsInTitle: readonly Group[] = ["needs_you", "failed", "working"];

function formatTitle(count: (group: Group) => number, { isDemo }: MenuFacts): string {
  const parts = groupsInTitle.flatMap((group) =>
    count(group) === 0 ? [] : [formatGroupCount(group, count(group))],
  );
  return `${isDemo ? "beckon demo" : "beckon"}: ${parts.length === 0 ? "nothing needs you" : parts.join(", ")}`;
}

/** "Needs you (2)" */
function formatHeading(group: Group, count: number): string {
  const label = groupLabels[group];
  return `${capitalize(label)} (${count})`;
}

function createActionEntry(id: string, label: string, action: UserAction): MenuEntry {
  return { kind: "entry", id, label, action };
}

function createText(id: string, label: string): MenuEntry {
  return { kind: "entry", id, label, action: null };
}

function limitLines(lines: readonly string[], count: number): string[] {
  if (lines.length <= count) return [...lines];
  return [...lines.slice(0, count), `and ${lines.length - count} more`];
}

function computeListed(count: (group: Group) => number): Record<Group, number> {
  const listed = { ...maxListed };
  const shown = (group: Group): number => Math.min(listed[group], count(group));
  for (const group of shrinkingGroups) {
    const excess = groups.reduce((sum, other) => sum + shown(other), 0) - maxListedTogether;
    if (excess > 0) listed[group] = Math.max(minListed, shown(group) - excess);
  }
  return listed;
}

/** `entries` are the first of `total` sessions. */
function createSection(group: Group, entries: readonly MenuEntry[], total: number, max: number): MenuItem[] {
  if (total === 0) return [];
  // "1 more…" would take as much room as the session itself.
  const count = total <= max + 1 ? total : max;
  const heading = createText(createEntryId("heading", group), formatHeading(group, total));
  const listed = [heading, ...entries.slice(0, count)];
  const inSubmenu = entries.slice(count);
  if (inSubmenu.length === 0) return listed;
  const left = total - count - maxInSubmenu;
  const children = [
    ...inSubmenu.slice(0, maxInSubmenu),
    ...(left > 0 ? [createText(createEntryId("left", group), `and ${left} more: run beckon status`)] : []),
  ];
  return [...listed, { ...createText(createEntryId("more", group), `${total - count} more…`), children }];
}

function createEndedSection(entries: readonly MenuEntry[]): MenuItem[] {
  if (entries.length === 0) return [];
  return [{ ...createText("ended", formatHeading("ended", entries.length)), children: entries }];
}

function createConnectEntries(facts: MenuFacts): MenuEntry[] {
  return facts.unconnected.map(({ id, name }) =>
    createActionEntry(createEntryId("connect", id), `Connect ${name}…`, { do: "connect", agent: id }),
  );
}

function createProblemEntries({ problems, home }: MenuFacts): MenuEntry[] {
  return problems.map((problem, index) => {
    const text = truncateEnd(shortenHome(problem, home), maxLabelColumns - 2);
    return createActionEntry(createEntryId("problem", String(index)), `! ${text}`, { do: "settings" });
  });
}

/** More accounts than anybody has. */
const maxAccounts = 4;

/** How much of the user's quotas is used, if it is known. */
function createQuotaEntries(
  sessions: readonly Session[],
  { ages, formatTime }: MenuContext,
  { agentName }: MenuFacts,
): MenuEntry[] {
  // The menu is drawn again when one is reset.
  const quotas = listQuotas(sessions, ages.minute.at).filter(({ resetsAt }) => ages.isFuture(resetsAt));
  const lines = formatQuotas(quotas, { agentName, formatTime }).slice(0, maxAccounts);
  return lines.map((line, n) =>
    createText(createEntryId("quota", String(n)), truncateEnd(line, maxLabelColumns)),
  );
}

/** The mode in effect is checked. A time that runs already is shown as "Until 15:20", no longer as "For 1 hour". */
function createQuietEntry(
  { quietUntil }: Preferences,
  { ages, formatTime }: MenuContext,
  { quietHoursEnd }: MenuFacts,
): MenuEntry {
  const isOn = quietUntil !== null && ages.isFuture(quietUntil);
  const isForever = quietUntil === Number.MAX_SAFE_INTEGER;
  const isByHours = quietHoursEnd !== null && ages.isFuture(quietHoursEnd);
  const mode = (name: QuietMode, label: string, checked: boolean): MenuEntry => ({
    ...createActionEntry(createEntryId("quiet", name), label, { do: "quiet", mode: name }),
    checked,
  });
  const until = isOn && !isForever ? formatTime(quietUntil) : null;
  const hours = isByHours ? `Quiet hours until ${formatTime(quietHoursEnd)} (in settings)` : null;
  const children = [
    ...(hours === null ? [] : [createText("quiet-hours", hours)]),
    mode("off", "Off", !isOn),
    ...(until === null ? [] : [{ ...createText("quiet-until", `Until ${until}`), checked: true }]),
    mode("hour", "For 1 hour", false),
    mode("tomorrow", "Until tomorrow", false),
    mode("on", "Until I turn it off", isOn && isForever),
  ];
  const label = isByHours ? "Quiet hours" : "Quiet";
  const current = until !== null ? `Quiet until ${until}` : isOn ? "Quiet until turned off" : label;
  return { ...createText("quiet", current), children };
}
