/**
 * An ask that can be answered, in the submenu of its session: everything that is asked, and below it the answers. The ids of the
 * entries contain the ask's, so a click on an answer never goes to another ask.
 */
import { type AnswerStep, createStep, findOffer, judgeAnswer, listOffers } from "../../answers/policy.ts";
import { nameApproval, nameDenial } from "../../answers/words.ts";
import type { UserAction } from "../../config/user-action.ts";
import type { Answer, AskDetails } from "../../session/ask-details.ts";
import { answerIdOf } from "../../session/keys.ts";
import type { Ask } from "../../session/session.ts";
import { parseSessionKey } from "../../session/session-ref.ts";
import { dangerMark } from "../../session/texts.ts";
import { measureMenuWidth, wrapLine } from "../../text/fit.ts";
import { truncateEnd } from "../../text/text.ts";
import { createEntryId, type MenuEntry, type MenuItem, maxLabelColumns } from "../view.ts";

/** Starts every row of an agent's text, so that none can look like one of beckon's entries. */
const textBar = "│ ";
const columns = maxLabelColumns - textBar.length;
const maxRows = 20;
const maxDangers = 5;

interface AnswerContext {
  readonly session: string;
  readonly ask: Ask;
  readonly details: AskDetails;
  /** The user has chosen to allow this ask, which is dangerous, and has to confirm it. */
  readonly isConfirming: boolean;
}

export function createAnswerEntries(context: AnswerContext): MenuItem[] {
  const { session, ask, details, isConfirming } = context;
  // Menus show text without an action in grey, but this text has to be read. It is also the first entry with an action, which
  // GTK preselects if the menu is opened with a key.
  const focus: UserAction = { do: "focus", session };
  const rows = details.lines.flatMap((line) => wrapLine(expandTabs(line), columns, measureMenuWidth));
  const hasAllRows = rows.length <= maxRows;
  const shownRows = hasAllRows ? rows : rows.slice(0, maxRows - 1);
  const dangers = details.dangers.slice(0, maxDangers);
  const heading = wrapLine(expandTabs(details.heading), maxLabelColumns, measureMenuWidth);
  const isWholeShown = details.isWhole && hasAllRows && dangers.length === details.dangers.length;
  const step = createStep("menu", { isWholeShown, isConfirmed: isConfirming });
  const create = createEntryFactory(context, step);
  const focusLabel = isWholeShown ? "Go to terminal" : "Look at all of it in the terminal";
  return [
    ...heading.map((row, n) => create.text(`heading-${n}`, row)),
    ...dangers.map((danger, n) =>
      create.command(`danger-${n}`, truncateEnd(dangerMark + danger, maxLabelColumns), focus),
    ),
    ...shownRows.map((row, n) => create.command(`row-${n}`, `${textBar}${row}`.trimEnd(), focus)),
    ...(hasAllRows ? [] : [create.text("more-rows", `… ${rows.length - shownRows.length} more lines`)]),
    { kind: "separator", id: createEntryId("answers", session, answerIdOf(ask)) },
    create.command("focus-ask", focusLabel, focus),
    ...createApprovals(context, step, create),
    create.answer("deny", nameDenial(details), { do: "deny", message: null }),
  ];
}

interface EntryFactory {
  text(id: string, label: string): MenuEntry;
  command(id: string, label: string, action: UserAction): MenuEntry;
  answer(id: string, label: string, answer: Answer): MenuEntry;
}

function createEntryFactory({ session, ask, details }: AnswerContext, step: AnswerStep): EntryFactory {
  const answerId = answerIdOf(ask);
  const command = (id: string, label: string, action: UserAction | null): MenuEntry => ({
    kind: "entry",
    id: createEntryId(id, session, answerId),
    label,
    action,
  });
  return {
    text: (id, label) => command(id, label, null),
    command,
    answer: (id, label, answer) => ({
      ...command(id, label, { do: "answer", session, ask: answerId, answer, step }),
      ...(judgeAnswer(details, answer, { ...step, isWholeShown: false }).kind === "allowed"
        ? {}
        : { needsAll: true }),
    }),
  };
}

function createApprovals(context: AnswerContext, step: AnswerStep, create: EntryFactory): MenuEntry[] {
  const { session, ask, details } = context;
  const offers = listOffers(details, step);
  if (findOffer(offers, "reply")) return createReplies(context, create);
  const allow = findOffer(offers, "allow");
  if (!allow) return [];
  const isPlan = details.kind === "plan";
  if (allow.needsConfirmation) {
    const confirm: UserAction = { do: "confirm", session, ask: answerIdOf(ask) };
    return [
      { ...create.command("confirm", isPlan ? "Approve plan… ⚠" : "Allow… ⚠", confirm), needsAll: true },
    ];
  }
  const label = isPlan ? "Approve plan" : "Allow";
  const confirmed = `Yes, ${nameApproval(details.kind)} it ⚠`;
  const rules = findOffer(offers, "always") ? details.always : [];
  const choices = rules.map((rule, choice) => ({ label: expandTabs(rule), choice }));
  const fitting = choices.filter((rule) => fitsOneRow(rule.label));
  return [
    create.answer("allow", details.dangers.length > 0 ? confirmed : label, { do: "allow" }),
    ...fitting.map((rule) =>
      create.answer(`always-${rule.choice}`, rule.label, { do: "always", choice: rule.choice }),
    ),
    ...(fitting.length < choices.length
      ? [create.text("more-offers", `For more choices: ${formatCommand(session)}`)]
      : []),
  ];
}

/** Several questions, or one with several answers, need more than one click: the command line takes those. */
function createReplies({ session, details }: AnswerContext, create: EntryFactory): MenuEntry[] {
  const [only, ...others] = details.questions;
  const labels = only?.options.map(({ label }) => label) ?? [];
  const entries = labels.map((label, n) =>
    create.answer(`reply-${n}`, `Answer “${expandTabs(label)}”`, { do: "reply", replies: [[label]] }),
  );
  const isOneClick = only !== undefined && others.length === 0 && !only.isMultiple;
  const isNamed = labels.every((label) => label.trim() !== "");
  const canClick = isOneClick && isNamed && entries.every(({ label }) => fitsOneRow(label));
  if (canClick && entries.length > 0) return entries;
  return [create.text("by-command", `Answer there, or see: ${formatCommand(session)}`)];
}

const fitsOneRow = (label: string): boolean =>
  wrapLine(label, maxLabelColumns, measureMenuWidth).length === 1;

/** It shows the ask, and the commands that answer this one only. */
function formatCommand(session: string): string {
  const id = parseSessionKey(session)?.sessionId ?? session;
  return truncateEnd(`beckon answer ${id.slice(0, 8)}`, maxLabelColumns / 2);
}

/** Some menus align what follows a tab to the right. */
const expandTabs = (text: string): string => text.replaceAll("\t", "    ");
