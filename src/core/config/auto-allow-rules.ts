/** The rules of `answering.autoAllow`: what a person allows once and for all, as far as it only reads. */
import { hasDotSegments, isAbsolute, resolvePath } from "../text/paths.ts";
import { makeVisible } from "../text/visible.ts";
import { findReadOnlyCommand, isReadOnlyCommand } from "./read-only-commands.ts";

/** By the folder of the project. */
export type AutoAllowRules = Readonly<Record<string, readonly string[]>>;

export interface AutoAllowRule {
  readonly tool: string;
  /** The command's first words, for Bash; then `isOpen` says whether more may follow. */
  readonly words: readonly string[];
  readonly isOpen: boolean;
}

const readers: ReadonlySet<string> = new Set(["Read", "Grep", "Glob", "LS", "NotebookRead"]);
const can =
  'Rules may name Read, Grep, Glob, LS, NotebookRead, and commands that only read, like "Bash(git diff *)"';

/** A text: why it is no rule. */
export function parseAutoAllowRule(text: string): AutoAllowRule | string {
  if (readers.has(text)) return { tool: text, words: [], isOpen: true };
  const inner = /^Bash\((.*)\)$/s.exec(text)?.[1];
  if (inner === undefined) return `does not only read. ${can}`;
  const isOpen = /(?: |:)\*$/.test(inner);
  const words = splitPlainCommand(isOpen ? inner.slice(0, -2) : inner);
  if (words === null) return `must be one plain command, with a * at its end at most. ${can}`;
  if (findReadOnlyCommand(words) === null) return `names no command that is known to only read. ${can}`;
  // `git branch` alone only reads; what may follow is judged when it comes.
  return isReadOnlyCommand(words)
    ? { tool: "Bash", words, isOpen }
    : `has options that may do more than read. ${can}`;
}

const maxCommand = 1_000;
/** No sign that a shell would make something of. */
const word = /[\p{L}\p{N}_./,:@%+^~-][\p{L}\p{N}_./,:@%+=^~-]*|"[^"$`\\!\n\r]*"|'[^'\n\r]*'/uy;

/** The words of a command that is nothing but a program and its arguments; null: it is more. */
export function splitPlainCommand(command: string): string[] | null {
  if (command.length > maxCommand) return null;
  const text = command.replace(/^ +| +$/g, "");
  if (text === "" || makeVisible(text) !== text) return null;
  const words: string[] = [];
  let at = 0;
  while (at < text.length) {
    word.lastIndex = at;
    const found = word.exec(text)?.[0];
    if (found === undefined) return null;
    at += found.length;
    const gap = /^ +/.exec(text.slice(at, at + 60))?.[0].length ?? 0;
    if (gap === 0 && at < text.length) return null;
    at += gap;
    words.push(/^["']/.test(found) ? found.slice(1, -1) : found);
  }
  // `PAGER=x git log` sets a variable, and in some shells `=ls` is a path.
  return /[=~]/.test(words[0] ?? "") ? null : words;
}

/** What is wrong with a rule's folder; null: nothing. */
export function checkRuleFolder(folder: string): string | null {
  if (!isAbsolute(folder) || hasDotSegments(folder)) return "must be the whole path of a project's folder";
  return /^\/?(?:[A-Za-z]:)?$/.test(resolvePath(folder, "")) ? "is everything, not a project" : null;
}

export function findRuleMistakes(rules: AutoAllowRules): string[] {
  return Object.entries(rules).flatMap(([folder, list]) => {
    const wrong = checkRuleFolder(folder);
    if (wrong !== null) return [`${JSON.stringify(folder)} ${wrong}`];
    return list.flatMap((rule) => {
      const read = parseAutoAllowRule(rule);
      return typeof read === "string" ? [`${JSON.stringify(rule)} ${read}`] : [];
    });
  });
}

/** Without what is wrong. */
export function dropInvalidRules(rules: AutoAllowRules): AutoAllowRules {
  const good = Object.entries(rules).filter(([folder]) => checkRuleFolder(folder) === null);
  return Object.fromEntries(
    good.map(([folder, list]) => [
      folder,
      list.filter((rule) => typeof parseAutoAllowRule(rule) !== "string"),
    ]),
  );
}
