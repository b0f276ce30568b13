/**
 * An ask that can be answered in the tray: all of what is asked, and only below that the answers. It is a menu of its own,
 * which never changes while it is there: no answer ever comes to stand where another entry was a moment ago.
 */

import type { UserAction } from "../../config/user-action.ts";
import type { Answer, AskDetails } from "../../session/ask-details.ts";
import { answerIdOf } from "../../session/keys.ts";
import type { Ask } from "../../session/session.ts";
import { measureMenuWidth, wrapLine } from "../../text/fit.ts";
import { truncateEnd } from "../../text/text.ts";
import type { MenuEntry } from "../view.ts";
import { createEntryId, maxLabelColumns } from "../view.ts";

/** Before every row of an agent's text, so that none can pass for an entry of ours. */
const bar = "│ ";
const columns = maxLabelColumns - bar.length;
const maxRows = 20;
const maxDangers = 5;

export function createAnswerEntries(session: string, ask: Ask, asked: AskDetails): MenuEntry[] {
  const name = answerIdOf(ask);
  const tell = (id: string, label: string): MenuEntry => {
    return { kind: "entry", id: createEntryId(id, session, name), label, action: null };
  };
  const can = (id: string, label: string, answer: Answer): MenuEntry => {
    const action: UserAction = { do: "answer", session, ask: name, answer, by: "tray" };
    const needsAll = answer.do !== "deny";
    return { ...tell(id, label), action, ...(needsAll ? { needsAll } : {}) };
  };
  const rows = asked.lines.flatMap((line) => wrapLine(forMenu(line), columns, measureMenuWidth));
  const isShort = rows.length <= maxRows;
  const shown = isShort ? rows : rows.slice(0, maxRows - 1);
  const dangers = asked.dangers.slice(0, maxDangers);
  const heading = wrapLine(forMenu(asked.heading), maxLabelColumns, measureMenuWidth);
  const isAll = asked.isWhole && isShort && dangers.length === asked.dangers.length;
  return [
    ...heading.map((row, n) => tell(`heading-${n}`, row)),
    ...dangers.map((danger, n) => tell(`danger-${n}`, truncateEnd(`⚠ ${danger}`, maxLabelColumns))),
    ...shown.map((row, n) => tell(`row-${n}`, `${bar}${row}`.trimEnd())),
    ...(isShort ? [] : [tell("more-rows", `… ${rows.length - shown.length} more lines`)]),
    // The first that can be chosen: GTK has it chosen already when the menu is opened by a key.
    look(session, tell("look", isAll ? "Go to terminal" : "Look at all of it in the terminal")),
    ...(isAll ? yes(asked, session, tell, can) : []),
    can("deny", no[asked.kind] ?? "Deny", { do: "deny", message: null }),
  ];
}

const no: Readonly<Record<string, string>> = { plan: "Send back", question: "Decline to answer" };

type Tell = (id: string, label: string) => MenuEntry;
type Can = (id: string, label: string, answer: Answer) => MenuEntry;

function yes(asked: AskDetails, session: string, tell: Tell, can: Can): MenuEntry[] {
  const { kind, dangers, always } = asked;
  if (kind === "question") return replies(asked, session, tell, can);
  if (kind === "plan") return [can("allow", "Approve plan", { do: "allow" })];
  const offers = always.map((words, choice) => ({ words: forMenu(words), choice }));
  const short = offers.filter(({ words }) => wrapLine(words, maxLabelColumns, measureMenuWidth).length === 1);
  return [
    can("allow", dangers.length === 0 ? "Allow" : "Allow anyway", { do: "allow" }),
    ...short.map(({ words, choice }) => can(`always-${choice}`, words, { do: "always", choice })),
    ...(short.length < offers.length ? [tell("more-offers", `For more choices: ${command(session)}`)] : []),
  ];
}

/** What one click cannot say is for the keyboard. */
function replies({ questions }: AskDetails, session: string, tell: Tell, can: Can): MenuEntry[] {
  const [only, ...others] = questions;
  const labels = only?.options.map(({ label }) => label) ?? [];
  const entries = labels.map((label, n) =>
    can(`reply-${n}`, `Answer “${forMenu(label)}”`, { do: "reply", replies: [[label]] }),
  );
  const isOneClick = only !== undefined && others.length === 0 && !only.isMultiple;
  const isShort = entries.every(
    ({ label }) => wrapLine(label, maxLabelColumns, measureMenuWidth).length === 1,
  );
  const isNamed = labels.every((label) => label.trim() !== "");
  if (isOneClick && isShort && isNamed && entries.length > 0) return entries;
  return [tell("by-command", `Answer there, or with: ${command(session)}`)];
}

const look = (session: string, entry: MenuEntry): MenuEntry => ({
  ...entry,
  action: { do: "focus", session },
});

function command(session: string): string {
  const id = session.slice(session.indexOf(":") + 1);
  return truncateEnd(`beckon answer ${id.slice(0, 8)} …`, maxLabelColumns / 2);
}

/** A tab would change the rest to the right edge of some menus. */
const forMenu = (text: string): string => text.replaceAll("\t", "    ");
