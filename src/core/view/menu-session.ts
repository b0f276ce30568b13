/** A session's entry in the tray's menu, and what can be done with it. */

import type { UserAction } from "../config/user-action.ts";
import { answerIdOf } from "../session/answer-id.ts";
import type { FindAskDetails } from "../session/ask-details.ts";
import { isInterrupted, projectOf } from "../session/session.ts";
import { statusTexts } from "../session/status-text.ts";
import { pathWithTilde } from "../text/home.ts";
import { cutEnd, cutMiddle, firstLine, plain, widthOf } from "../text/line.ts";
import { formatSilence, groupMarks, snoozedUntil } from "./groups.ts";
import { answerEntries } from "./menu-answer.ts";
import { idOf, maxLabel } from "./menu-label.ts";
import { type MenuRow, type MenuRowInput, wantIn } from "./tray-row.ts";
import type { MenuEntry } from "./view.ts";

const maxProject = 24;
/** Of asks and subagents; the terminal shows the rest. */
const maxTold = 4;

export interface SessionEntryInput extends MenuRowInput {
  /** Of what can be answered here. */
  readonly asked: FindAskDetails;
  readonly home: string;
}

/** `name · 4 min · Bash: npm run deploy +1 · muted` */
export function lineOf(row: MenuRow, name: string, { ages, clock, home }: SessionEntryInput): string {
  const start = `${name} · ${ages.since(row.since)} · `;
  const running = row.session.children.filter((child) => child.running).length;
  const asked = row.asks.length > 1 ? ` +${row.asks.length - 1}` : "";
  const children =
    row.group === "working" && running > 0 ? ` +${running} ${running === 1 ? "subagent" : "subagents"}` : "";
  const silence = row.silence === null ? "" : ` · ${formatSilence(row.silence, clock)}`;
  const left = maxLabel - 2 - widthOf(start) - widthOf(asked + silence);
  // Beside a very long name there is no room for all of it: the submenu has them.
  const fitting = widthOf(children) < left ? children : "";
  return start + cutEnd(pathWithTilde(row.what, home), left - widthOf(fitting)) + asked + fitting + silence;
}

export function sessionEntry(row: MenuRow, name: string, given: SessionEntryInput): MenuEntry {
  return {
    kind: "entry",
    id: idOf("session", row.key),
    label: `${groupMarks[row.group]} ${lineOf(row, name, given)}`,
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
    label: cutEnd(label, maxLabel),
    action: null,
  });
  const title = plain(session.title ?? session.lastPrompt ?? "");
  const branch = plain(session.gitBranch ?? "");
  const running = session.children.filter((child) => child.running);
  const answer = group === "ready" && !isInterrupted(session) ? plain(firstLine(session.lastResponse)) : "";
  const told = asks.slice(0, maxTold);
  return [
    ...(title === "" ? [] : [tell(idOf("title", key), `“${cutEnd(title, maxLabel - 2)}”`)]),
    ...(branch === "" ? [] : [tell(idOf("branch", key), `Branch ${cutMiddle(branch, maxLabel - 7)}`)]),
    ...told.map((ask) => {
      const label = `Asks · ${pathWithTilde(wantIn(session, ask), home)}`;
      const open = asked(ask);
      if (open === null) return tell(idOf("ask", key, ask.id), label);
      const entry = tell(idOf("answer", key, answerIdOf(ask)), label);
      return { ...entry, children: answerEntries(key, ask, open) };
    }),
    ...(asks.length > told.length ? [tell(idOf("asks", key), `and ${asks.length - told.length} more`)] : []),
    ...(answer === "" ? [] : [tell(idOf("said", key), `Said “${cutEnd(answer, maxLabel - 7)}”`)]),
    ...(session.turn.error !== null && (group === "failed" || group === "ready")
      ? [tell(idOf("failed", key), `It ${what}`)]
      : []),
    ...running
      .slice(0, maxTold)
      .map((child) =>
        tell(
          idOf("child", key, child.agentId),
          `└ ${child.type || "Subagent"} · ${child.detail ?? statusTexts.thinking}`,
        ),
      ),
    ...(running.length > maxTold ? [tell(idOf("children", key), `└ ${running.length - maxTold} more`)] : []),
  ];
}

function actionsOn(row: MenuRow, given: MenuRowInput): MenuEntry[] {
  const { session, key, asks } = row;
  const can = (name: string, label: string, action: UserAction): MenuEntry => ({
    kind: "entry",
    id: idOf(name, key),
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
  const label = `Mute project “${cutMiddle(project, maxProject)}”`;
  // What the person wrote into the file, a click must not seem to change.
  if (config.mutedProjects.includes(project)) {
    return [own, { ...can("mute-project", `${label} (in settings)`, { do: "settings" }), checked: true }];
  }
  const on = !preferences.mutedProjects.includes(project);
  return [own, { ...can("mute-project", label, { do: "mute-project", project, on }), checked: !on }];
}
