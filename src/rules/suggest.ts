/** Finds rules that would have answered as the user did, every time. Pure. */
import type { RuleSuggestion } from "../core/interfaces/wire.ts";
import { findRelativePath, resolvePath } from "../core/text/paths.ts";
import { backTest, createJudge, type IsMarked } from "./back-test.ts";
import { countFixedWords, isSwitch, takesText } from "./open-arguments.ts";
import { type AnsweredAsk, readUserAnswer } from "./past.ts";
import { type PlainCommand, readCommandsOf } from "./plain-command.ts";
import {
  type Allowed,
  type CommandAllowed,
  formatAllowed,
  isHidden,
  nameRule,
  type ReadRule,
  readRule,
} from "./rule.ts";

/** So many like answers, none of them a denial. */
export const minLikeAnswers = 3;
const maxSuggestions = 12;
/** Rules with more options than these say too little. */
const maxOptions = 12;

interface Candidate {
  readonly agent: string;
  readonly project: string;
  allowed: Allowed;
  count: number;
}

export function suggestRules(
  past: readonly AnsweredAsk[],
  existing: readonly ReadRule[],
  isMarked: IsMarked,
): readonly RuleSuggestion[] {
  const candidates = new Map<string, Candidate>();
  for (const ask of past) {
    if (readUserAnswer(ask) !== "allowed" || ask.folder === null) continue;
    for (const allowed of listNarrowest(ask)) addCandidate(candidates, ask.agent, ask.folder, allowed);
  }
  const found: RuleSuggestion[] = [];
  // Two rules together can allow a line that neither allows alone, so each is tried with those before it.
  const rules = [...existing];
  const covered = new Set(existing.flatMap((rule) => listAllowed(rule, existing, past, isMarked)));
  const byCount = [...candidates.values()].filter(({ count }) => count >= minLikeAnswers);
  for (const candidate of byCount.sort((a, b) => b.count - a.count)) {
    const rule = createRule(candidate);
    const fits = rule ? listAllowed(rule, rules, past, isMarked) : [];
    if (!rule || !isLikeYou(fits, covered)) continue;
    const { agent, project, text } = rule;
    found.push({ agent, project, text, test: backTest(rule, existing, past, isMarked) });
    rules.push(rule);
    for (const ask of fits) covered.add(ask);
    if (found.length === maxSuggestions) break;
  }
  return found.sort((a, b) => b.test.answered - a.test.answered);
}

function listAllowed(
  rule: ReadRule,
  others: readonly ReadRule[],
  past: readonly AnsweredAsk[],
  isMarked: IsMarked,
): readonly AnsweredAsk[] {
  const judge = createJudge(rule, others, isMarked);
  return past.filter((ask) => judge(ask) === "allows");
}

/** Enough of what it allows was allowed by the user, and nothing was denied. `covered` is what other rules allow. */
function isLikeYou(fits: readonly AnsweredAsk[], covered: ReadonlySet<AnsweredAsk>): boolean {
  if (fits.some((ask) => readUserAnswer(ask) === "denied")) return false;
  const isNew = (ask: AnsweredAsk) => readUserAnswer(ask) === "allowed" && !covered.has(ask);
  return fits.filter(isNew).length >= minLikeAnswers;
}

function createRule({ agent, project, allowed }: Candidate): ReadRule | null {
  const text = formatAllowed(allowed);
  const name = nameRule(allowed, project, new Set());
  const rule = readRule({ name, agent, project, text, madeAt: 0, madeFrom: "suggestion" });
  return typeof rule === "string" ? null : rule;
}

function addCandidate(
  candidates: Map<string, Candidate>,
  agent: string,
  project: string,
  allowed: Allowed,
): void {
  const key = JSON.stringify([agent, project, allowed.kind === "edit" ? allowed.folder : allowed.words]);
  const known = candidates.get(key);
  candidates.set(key, {
    agent,
    project,
    allowed: known ? mergeOptions(known.allowed, allowed) : allowed,
    count: (known?.count ?? 0) + 1,
  });
}

function mergeOptions(a: Allowed, b: Allowed): Allowed {
  if (a.kind === "edit" || b.kind === "edit") return a;
  const known = new Set(a.options.map((option) => JSON.stringify(option)));
  const added = b.options.filter((option) => !known.has(JSON.stringify(option)));
  return { ...a, isOpen: a.isOpen || b.isOpen, options: [...a.options, ...added].slice(0, maxOptions) };
}

/** The narrowest rules that allow this: one for each of its commands. */
export function listNarrowest({
  subject,
  folder,
}: Pick<AnsweredAsk, "subject" | "folder">): readonly Allowed[] {
  if (!subject || folder === null) return [];
  if (subject.kind === "edit") {
    const [path, ...others] = subject.paths;
    const parent = path === undefined || others.length > 0 ? null : findParent(folder, subject.cwd, path);
    return parent === null ? [] : [{ kind: "edit", folder: parent }];
  }
  const commands = readCommandsOf(subject);
  if (typeof commands === "string") return [];
  return commands
    .flat()
    .filter(([program]) => program !== "cd")
    .map(narrow);
}

/** null for a file beside the project's settings, or a hidden one. */
function findParent(folder: string, cwd: string | null, path: string): string | null {
  const relative = findRelativePath(folder, resolvePath(cwd ?? folder, path));
  const parts = relative?.split("/") ?? [];
  return parts.length < 2 || parts.some(isHidden) ? null : parts.slice(0, -1).join("/");
}

function narrow(command: PlainCommand): Allowed {
  const fixed = countFixedWords(command);
  if (fixed === null) return { kind: "command", words: command, options: [], isOpen: false };
  const words = command.slice(0, fixed) as unknown as PlainCommand;
  const rest = command.slice(fixed);
  return { kind: "command", words, ...readRest(rest, words) };
}

/** Each option with the word after it, which may be its value, unless it is known to have none. */
function readRest(
  rest: readonly string[],
  words: readonly string[],
): Pick<CommandAllowed, "options" | "isOpen"> {
  const options: (readonly string[])[] = [];
  let isOpen = false;
  for (let n = 0; n < rest.length; n++) {
    const word = rest[n] ?? "";
    const next = rest[n + 1];
    if (!word.startsWith("-") || word === "--") {
      isOpen = true;
      continue;
    }
    const hasValue = next !== undefined && !next.startsWith("-") && !isSwitch(word);
    if (hasValue) n++;
    if (!takesText(words, word)) options.push(hasValue ? [word, next] : [word]);
  }
  return { options, isOpen };
}
