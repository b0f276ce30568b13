/** An alert about something that can be answered on the spot: its exact words, and the buttons that go with them. */
import { answerIdOf } from "../session/answer-id.ts";
import type { Answer, AskDetails } from "../session/ask-details.ts";
import type { Ask } from "../session/session.ts";
import { cutEnd, plain, widthOf } from "../text/line.ts";
import { foldLine, inProportion } from "../text/rows.ts";
import type { Alert, AlertButton } from "./view.ts";

/** What the body says of the ask, before where and when. */
export interface ExactText extends Pick<Alert, "isExact" | "buttons"> {
  readonly lines: readonly string[];
}

/**
 * Narrow enough that no desktop wraps a row again: xfce4-notifyd puts a hyphen into a word that it parts, and cuts a line
 * that takes more than six rows.
 */
const columns = 40;
/** More than most desktops show. What needs all of it is not offered there. */
const maxRows = 12;
const maxOptions = 3;
/** Three of them stand side by side. */
const maxOption = 20;
const maxDanger = 80;

/** `summary`: what is said of it where there is no room for all. */
export function exactWords(
  session: string,
  ask: Ask,
  asked: AskDetails,
  summary: readonly string[],
): ExactText {
  const name = answerIdOf(ask);
  const button = (id: string, label: string, answer: Answer): AlertButton => ({
    id: `${id}@${name}`,
    label,
    action: { do: "answer", session, ask: name, answer, by: "notification" },
    needsAll: answer.do !== "deny",
  });
  const texts = asked.isWhole ? textsOf(asked) : [];
  const all = texts.map(rowsOf).find((rows) => rows.length <= maxRows);
  const warnings = asked.dangers.map((danger) => cutEnd(`⚠ ${danger}`, maxDanger));
  const buttons = buttonsOf(asked, all !== undefined && warnings.length === 0, button);
  if (all === undefined || buttons.length === 0) return { lines: [...warnings, ...summary], buttons };
  return { lines: [...warnings, ...all], isExact: true, buttons };
}

/** Tabs are of whatever width a desktop makes them. */
function rowsOf(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => foldLine(line.replaceAll("\t", "    "), columns, inProportion));
}

/** All that is to be decided by; of a question it can be less than all it says. */
function textsOf({ kind, heading, lines, questions }: AskDetails): readonly (readonly string[])[] {
  if (kind === "question")
    return [lines, ...(questions.length === 1 ? [[questions[0]?.question ?? ""]] : [])];
  const isInTitle = kind === "plan" || heading === "Run a command" || heading === "Fetch a page";
  return [isInTitle ? lines : [heading, ...lines]];
}

type Make = (id: string, label: string, answer: Answer) => AlertButton;

function buttonsOf(asked: AskDetails, isSafe: boolean, button: Make): readonly AlertButton[] {
  const { kind } = asked;
  const deny = (label: string) => button("deny", label, { do: "deny", message: null });
  if (kind === "question") return isSafe ? optionsOf(asked, button) : [];
  if (kind === "plan") return isSafe ? [button("allow", "Approve", { do: "allow" }), deny("Send back")] : [];
  return [...(isSafe ? [button("allow", "Allow", { do: "allow" })] : []), deny("Deny")];
}

/** In quotes: no option can pass for a button of ours. */
function optionsOf({ questions }: AskDetails, button: Make): readonly AlertButton[] {
  const [only, ...others] = questions;
  if (!only || others.length > 0 || only.isMultiple || only.options.length > maxOptions) return [];
  const isShort = ({ label }: { readonly label: string }) =>
    plain(label) === label && label !== "" && widthOf(label) <= maxOption;
  if (!only.options.every(isShort)) return [];
  return only.options.map(({ label }, n) =>
    button(`reply-${n}`, `“${label}”`, { do: "reply", replies: [[label]] }),
  );
}

/** Of a place that shows so many rows of the body: what may be offered there. */
export function buttonsWithin({ body, isExact, buttons = [] }: Alert, rows: number): readonly AlertButton[] {
  const isAll = isExact === true && body.split("\n").length <= rows;
  return buttons.filter(({ needsAll }) => isAll || !needsAll);
}
