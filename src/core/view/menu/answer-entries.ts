/**
 * The submenu of an ask that can be answered: everything that is asked, and below it the answers. It never changes while it is
 * open, so no answer appears where another entry was a moment ago.
 */
import type { Answer, AskDetails } from "../../session/ask-details.ts";
import { answerIdOf } from "../../session/keys.ts";
import type { Ask } from "../../session/session.ts";
import { measureMenuWidth, wrapLine } from "../../text/fit.ts";
import { truncateEnd } from "../../text/text.ts";
import { createEntryId, type MenuEntry, maxLabelColumns } from "../view.ts";

/** Starts every row of an agent's text, so that none can look like an entry of ours. */
const bar = "│ ";
const columns = maxLabelColumns - bar.length;
const maxRows = 20;
const maxDangers = 5;

export function createAnswerEntries(session: string, ask: Ask, details: AskDetails): MenuEntry[] {
  const answerId = answerIdOf(ask);
  const text: CreateText = (id, label) => ({
    kind: "entry",
    id: createEntryId(id, session, answerId),
    label,
    action: null,
  });
  const button: CreateButton = (id, label, answer) => ({
    ...text(id, label),
    action: { do: "answer", session, ask: answerId, answer, by: "tray" },
    ...(answer.do === "deny" ? {} : { needsAll: true }),
  });
  const rows = details.lines.flatMap((line) => wrapLine(expandTabs(line), columns, measureMenuWidth));
  const hasAllRows = rows.length <= maxRows;
  const shownRows = hasAllRows ? rows : rows.slice(0, maxRows - 1);
  const dangers = details.dangers.slice(0, maxDangers);
  const heading = wrapLine(expandTabs(details.heading), maxLabelColumns, measureMenuWidth);
  const isComplete = details.isWhole && hasAllRows && dangers.length === details.dangers.length;
  const focusLabel = isComplete ? "Go to terminal" : "Look at all of it in the terminal";
  return [
    ...heading.map((row, n) => text(`heading-${n}`, row)),
    ...dangers.map((danger, n) => text(`danger-${n}`, truncateEnd(`⚠ ${danger}`, maxLabelColumns))),
    ...shownRows.map((row, n) => text(`row-${n}`, `${bar}${row}`.trimEnd())),
    ...(hasAllRows ? [] : [text("more-rows", `… ${rows.length - shownRows.length} more lines`)]),
    // The first entry with an action: GTK preselects it if the menu is opened with a key.
    { ...text("look", focusLabel), action: { do: "focus", session } },
    ...(isComplete ? createApprovals(details, session, text, button) : []),
    button("deny", denyLabels[details.kind] ?? "Deny", { do: "deny", message: null }),
  ];
}

const denyLabels: Readonly<Record<string, string>> = { plan: "Send back", question: "Decline to answer" };

type CreateText = (id: string, label: string) => MenuEntry;
type CreateButton = (id: string, label: string, answer: Answer) => MenuEntry;

function createApprovals(
  details: AskDetails,
  session: string,
  text: CreateText,
  button: CreateButton,
): MenuEntry[] {
  const { kind, dangers, always } = details;
  if (kind === "question") return createReplies(details, session, text, button);
  if (kind === "plan") return [button("allow", "Approve plan", { do: "allow" })];
  const offers = always.map((label, choice) => ({ label: expandTabs(label), choice }));
  const fitting = offers.filter(({ label }) => fitsOneRow(label));
  return [
    button("allow", dangers.length === 0 ? "Allow" : "Allow anyway", { do: "allow" }),
    ...fitting.map(({ label, choice }) => button(`always-${choice}`, label, { do: "always", choice })),
    ...(fitting.length < offers.length
      ? [text("more-offers", `For more choices: ${formatCommand(session)}`)]
      : []),
  ];
}

/** Several questions, or one with several answers, need more than one click: the command line takes those. */
function createReplies(
  { questions }: AskDetails,
  session: string,
  text: CreateText,
  button: CreateButton,
): MenuEntry[] {
  const [only, ...others] = questions;
  const labels = only?.options.map(({ label }) => label) ?? [];
  const entries = labels.map((label, n) =>
    button(`reply-${n}`, `Answer “${expandTabs(label)}”`, { do: "reply", replies: [[label]] }),
  );
  const isOneClick = only !== undefined && others.length === 0 && !only.isMultiple;
  const isNamed = labels.every((label) => label.trim() !== "");
  const canClick = isOneClick && isNamed && entries.every(({ label }) => fitsOneRow(label));
  if (canClick && entries.length > 0) return entries;
  return [text("by-command", `Answer there, or with: ${formatCommand(session)}`)];
}

const fitsOneRow = (label: string): boolean =>
  wrapLine(label, maxLabelColumns, measureMenuWidth).length === 1;

function formatCommand(session: string): string {
  const id = session.slice(session.indexOf(":") + 1);
  return truncateEnd(`beckon answer ${id.slice(0, 8)} …`, maxLabelColumns / 2);
}

/** Some menus align what follows a tab to the right. */
const expandTabs = (text: string): string => text.replaceAll("\t", "    ");
