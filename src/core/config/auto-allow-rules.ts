/** The rules of `answering.autoAllow`: what the user allows permanently, as far as it only reads. */
import { hasDotSegments, isAbsolute, resolvePath } from "../text/paths.ts";
import { makeVisible } from "../text/visible.ts";
import { explainRefusal, isListedProgram, isReadOnlyCommand } from "./read-only-commands.ts";

/** Rules by project folder. */
export type AutoAllowRules = Readonly<Record<string, readonly string[]>>;

export interface AutoAllowRule {
  readonly tool: string;
  /** For Bash, the first words of the command; `isOpen` if more may follow. */
  readonly words: readonly string[];
  readonly isOpen: boolean;
}

const readTools: ReadonlySet<string> = new Set(["Read", "Grep", "Glob", "LS", "NotebookRead"]);
const allowedRules =
  'Rules may name Read, Grep, Glob, LS, NotebookRead, and commands that only read, like "Bash(ls *)"';

/** Returns a text that says why it is not a rule. */
export function parseAutoAllowRule(text: string): AutoAllowRule | string {
  if (readTools.has(text)) return { tool: text, words: [], isOpen: true };
  const inner = /^Bash\((.*)\)$/s.exec(text)?.[1];
  if (inner === undefined) return `does not only read. ${allowedRules}`;
  const isOpen = /(?: |:)\*$/.test(inner);
  const words = splitPlainCommand(isOpen ? inner.slice(0, -2) : inner);
  if (words === null) return `must be one plain command, with at most a * at its end. ${allowedRules}`;
  const program = words[0] ?? "";
  const reason = explainRefusal(program);
  if (reason !== null) return `is never allowed without asking: ${reason}. ${allowedRules}`;
  if (!isListedProgram(program)) return `is not a command that is known to only read. ${allowedRules}`;
  // What may follow an open rule is checked when a command comes.
  return isReadOnlyCommand(words)
    ? { tool: "Bash", words, isOpen }
    : `has options that may do more than read. ${allowedRules}`;
}

const maxCommandLength = 1_000;
/** A word without any character that a shell would interpret. In zsh, `^x` and `a~b` can be patterns. */
const word = /[\p{L}\p{N}_./,:@%+-][\p{L}\p{N}_./,:@%+=-]*|"[^"$`\\!\n\r]*"|'[^'\n\r]*'/uy;

/** Splits a command that is only a program and its arguments into words. Returns null for anything else. */
export function splitPlainCommand(command: string): string[] | null {
  if (command.length > maxCommandLength) return null;
  const text = command.replace(/^ +| +$/g, "");
  if (text === "" || makeVisible(text) !== text) return null;
  const words: string[] = [];
  let at = 0;
  while (at < text.length) {
    word.lastIndex = at;
    const match = word.exec(text)?.[0];
    if (match === undefined) return null;
    at += match.length;
    const gap = /^ +/.exec(text.slice(at, at + 60))?.[0].length ?? 0;
    if (gap === 0 && at < text.length) return null;
    at += gap;
    words.push(/^["']/.test(match) ? match.slice(1, -1) : match);
  }
  // `LC_ALL=x ls` sets a variable, and in some shells `=ls` is a path.
  return /[=~]/.test(words[0] ?? "") ? null : words;
}

/** Returns what is wrong with the folder of a rule, null if nothing is. */
export function checkRuleFolder(folder: string): string | null {
  if (!isAbsolute(folder) || hasDotSegments(folder)) return "must be the full path of a project folder";
  return /^\/?(?:[A-Za-z]:)?$/.test(resolvePath(folder, "")) ? "is the whole disk, not a project" : null;
}

export function findRuleMistakes(rules: AutoAllowRules): string[] {
  return Object.entries(rules).flatMap(([folder, list]) => {
    const mistake = checkRuleFolder(folder);
    if (mistake !== null) return [`${JSON.stringify(folder)} ${mistake}`];
    return list.flatMap((rule) => {
      const parsed = parseAutoAllowRule(rule);
      return typeof parsed === "string" ? [`${JSON.stringify(rule)} ${parsed}`] : [];
    });
  });
}

export function dropInvalidRules(rules: AutoAllowRules): AutoAllowRules {
  const valid = Object.entries(rules).filter(([folder]) => checkRuleFolder(folder) === null);
  return Object.fromEntries(
    valid.map(([folder, list]) => [
      folder,
      list.filter((rule) => typeof parseAutoAllowRule(rule) !== "string"),
    ]),
  );
}
