/** The tray: what its icon, its tooltip and its menu should be, of the state and the time. */

import type { Config } from "../../config/config.ts";
import type { Preferences } from "../../config/preferences.ts";
import type { QuietMode, UserAction } from "../../config/user-action.ts";
import { type FindAskDetails, withAnsweringEnabled } from "../../session/ask-details.ts";
import type { Moment } from "../../session/event.ts";
import type { Session } from "../../session/session.ts";
import { shortenHome } from "../../text/paths.ts";
import { truncateEnd } from "../../text/text.ts";
import { createAges } from "../ages.ts";
import { formatGroupCount, type Group, groupLabels, groups } from "../groups.ts";
import { nameSessions } from "../session-names.ts";
import type { MenuEntry, MenuItem, TrayIcon, TrayView } from "../view.ts";
import { createEntryId, maxLabelColumns } from "../view.ts";
import {
  createMenuRow,
  createSessionEntry,
  formatSessionLine,
  type MenuRow,
  type MenuRowInput,
} from "./session-entry.ts";

export interface MenuFacts {
  /** The agents that beckon offers to connect. Empty if one is connected. */
  readonly unconnected: readonly { readonly id: string; readonly name: string }[];
  readonly dashboard: boolean;
  readonly version: string;
  /** The person's own folder; empty: not known. */
  readonly home: string;
  /** What a person should see before all else, a line each: `config.json: alerts.sound must be true or false`. */
  readonly problems: readonly string[];
  /** Local time, for people: `14:20`, or `tomorrow 08:00` where it is not today. */
  readonly formatTime: (at: number) => string;
  /** Wall time at which the configured quiet hours end that hold now; null: they do not. */
  readonly quietHoursEnd: number | null;
}

export interface MenuInput {
  /** Settled at `now`; that they settle later (0.3 to 1 s after an event) is for the caller to come back for. */
  readonly sessions: readonly Session[];
  readonly preferences: Preferences;
  readonly config: Config;
  readonly now: Moment;
  readonly facts: MenuFacts;
  readonly findDetails: FindAskDetails;
}

export interface Menu extends TrayView {
  /** Wall time at which it becomes another though nothing happens; null: never. */
  readonly nextChange: number | null;
}

/** How many are listed at once; the rest is one step further. */
const shown: Readonly<Record<Group, number>> = {
  needs_you: 8,
  failed: 3,
  set_aside: 3,
  working: 6,
  ready: 5,
  ended: 0,
};
/** A menu longer than this cannot be used, and some panels cannot show it. */
const maxFurther = 30;
const maxEnded = 10;
const inTooltip = 4;

export function createMenu({
  sessions,
  preferences,
  config,
  now,
  facts,
  findDetails: asked,
}: MenuInput): Menu {
  const ages = createAges(now);
  const given = {
    preferences,
    config,
    ages,
    clock: facts.formatTime,
    asked: withAnsweringEnabled(asked, config),
    home: facts.home,
  };
  const rows = sessions.flatMap((session) => createMenuRow(session, given) ?? []).sort(byUrgency);
  const byGroup = Map.groupBy(rows, ({ group }) => group);
  const of = (group: Group): readonly MenuRow[] => byGroup.get(group) ?? [];
  // However many there are, only so many get a name and a menu.
  const listed = (group: Group): readonly MenuRow[] =>
    of(group).slice(0, group === "ended" ? maxEnded : shown[group] + 1 + maxFurther);
  const names = nameSessions([...byGroup.keys()].flatMap(listed));
  const entry = (row: MenuRow): MenuEntry => createSessionEntry(row, names.get(row.key) ?? row.key, given);
  const section = (group: Group): MenuItem[] => sectionOf(group, listed(group).map(entry), of(group).length);

  const needing = of("needs_you");
  const told = [...needing, ...of("failed"), ...of("working")];
  const parts: MenuItem[][] = [
    [...connect(facts), ...problemEntries(facts)],
    needing.length > 0
      ? [...section("needs_you"), command("next", "Next waiting", { do: "next" })]
      : [
          tell(
            "calm",
            rows.length > 0 || facts.unconnected.length > 0 ? "Nothing needs you" : "No sessions yet",
          ),
        ],
    section("failed"),
    section("set_aside"),
    section("working"),
    section("ready"),
    ended(listed("ended").map(entry)),
    [
      quiet(preferences, given, facts),
      ...(facts.dashboard ? [command("dashboard", "Open dashboard", { do: "dashboard" })] : []),
      command("settings", "Settings…", { do: "settings" }),
      command("about", `About beckon ${facts.version}`, { do: "about" }),
      command("quit", "Quit", { do: "quit" }),
    ],
  ];
  const icon = iconOf(needing.length, of("working").length);
  const title = titleOf((group) => of(group).length);
  const tooltip = told.map((row) => formatSessionLine(row, names.get(row.key) ?? row.key, given));
  return {
    icon,
    title,
    tooltip: [title, ...atMost(tooltip, inTooltip)].join("\n"),
    items: separated(parts),
    nextChange: ages.nextChange(),
  };
}

const newestFirst: ReadonlySet<Group> = new Set(["failed", "ready", "ended"]);

/** Who waits or works longest comes first and so keeps its place; of what is over, the newest. */
function byUrgency(a: MenuRow, b: MenuRow): number {
  const byTime = newestFirst.has(a.group) ? b.since.at - a.since.at : a.since.at - b.since.at;
  return groups.indexOf(a.group) - groups.indexOf(b.group) || byTime || (a.key < b.key ? -1 : 1);
}

function iconOf(needing: number, working: number): TrayIcon {
  return { phase: needing > 0 ? "blocked" : working > 0 ? "working" : "calm", count: needing };
}

function titleOf(count: (group: Group) => number): string {
  const parts = inTitle.flatMap((group) =>
    count(group) === 0 ? [] : [formatGroupCount(group, count(group))],
  );
  return `beckon: ${parts.length === 0 ? "nothing needs you" : parts.join(", ")}`;
}

const inTitle: readonly Group[] = ["needs_you", "failed", "working"];

/** "Needs you" */
const headingOf = (group: Group): string =>
  groupLabels[group].charAt(0).toUpperCase() + groupLabels[group].slice(1);

function command(id: string, label: string, action: UserAction): MenuEntry {
  return { kind: "entry", id, label, action };
}

function tell(id: string, label: string): MenuEntry {
  return { kind: "entry", id, label, action: null };
}

function atMost(lines: readonly string[], count: number): string[] {
  if (lines.length <= count) return [...lines];
  return [...lines.slice(0, count), `and ${lines.length - count} more`];
}

/** Of `all` there are, `entries` are the first. */
function sectionOf(group: Group, entries: readonly MenuEntry[], all: number): MenuItem[] {
  if (all === 0) return [];
  // "1 more…" would take the line that the one itself can have.
  const count = all <= shown[group] + 1 ? all : shown[group];
  const further = entries.slice(count);
  const listed = [
    tell(createEntryId("heading", group), `${headingOf(group)} (${all})`),
    ...entries.slice(0, count),
  ];
  if (further.length === 0) return listed;
  const left = all - count - maxFurther;
  const children = [
    ...further.slice(0, maxFurther),
    ...(left > 0 ? [tell(createEntryId("left", group), `and ${left} more: run beckon status`)] : []),
  ];
  return [...listed, { ...tell(createEntryId("more", group), `${all - count} more…`), children }];
}

function ended(entries: readonly MenuEntry[]): MenuItem[] {
  if (entries.length === 0) return [];
  return [{ ...tell("ended", `${headingOf("ended")} (${entries.length})`), children: entries }];
}

function connect(facts: MenuFacts): MenuEntry[] {
  return facts.unconnected.map(({ id, name }) =>
    command(createEntryId("connect", id), `Connect ${name}…`, { do: "connect", agent: id }),
  );
}

function problemEntries({ problems, home }: MenuFacts): MenuEntry[] {
  return problems.map((problem, index) =>
    command(
      createEntryId("problem", String(index)),
      `! ${truncateEnd(shortenHome(problem, home), maxLabelColumns - 2)}`,
      {
        do: "settings",
      },
    ),
  );
}

/** What a person chose is checked; a time that has begun to run is neither "1 hour" nor "tomorrow" any more. */
function quiet(
  { quietUntil }: Preferences,
  { ages, clock }: MenuRowInput,
  { quietHoursEnd }: MenuFacts,
): MenuEntry {
  const isOn = quietUntil !== null && ages.isFuture(quietUntil);
  const isForever = quietUntil === Number.MAX_SAFE_INTEGER;
  const isByHours = quietHoursEnd !== null && ages.isFuture(quietHoursEnd);
  const mode = (name: QuietMode, label: string, checked: boolean): MenuEntry => ({
    ...command(createEntryId("quiet", name), label, { do: "quiet", mode: name }),
    checked,
  });
  const until = isOn && !isForever ? clock(quietUntil) : null;
  const children = [
    ...(isByHours ? [tell("quiet-hours", `Quiet hours until ${clock(quietHoursEnd)} (in settings)`)] : []),
    mode("off", "Off", !isOn),
    ...(until === null ? [] : [{ ...tell("quiet-until", `Until ${until}`), checked: true }]),
    mode("hour", "For 1 hour", false),
    mode("tomorrow", "Until tomorrow", false),
    mode("on", "Until I turn it off", isOn && isForever),
  ];
  const label =
    until !== null
      ? `Quiet until ${until}`
      : isOn
        ? "Quiet until turned off"
        : isByHours
          ? "Quiet hours"
          : "Quiet";
  return { ...tell("quiet", label), children };
}

function separated(parts: readonly MenuItem[][]): MenuItem[] {
  const filled = parts.filter((part) => part.length > 0);
  return filled.flatMap((part, index) =>
    index === 0
      ? part
      : [{ kind: "separator" as const, id: createEntryId("separator", part[0]?.id ?? "") }, ...part],
  );
}
