/** Tries a rule on what the user was asked before: what it would have answered, and what of that the user denied. Pure. */
import type { RuleSubject } from "../core/answers/subject.ts";
import type { BackTest, CountedText } from "../core/interfaces/wire.ts";
import type { AgentDangers } from "../shell/dangers/context.ts";
import { findFit, type NoFit } from "./fit.ts";
import { type AnsweredAsk, isMarked, readUserAnswer } from "./past.ts";
import { readCommandsOf } from "./plain-command.ts";
import type { ReadRule } from "./rule.ts";

/** Remembers what it has checked: the same command is asked about often. */
export type IsMarked = (ask: AnsweredAsk) => boolean;

export function createMarkCheck(dangers: readonly AgentDangers[]): IsMarked {
  const known = new WeakMap<RuleSubject, boolean>();
  return ({ subject, folder }) => {
    if (!subject) return true;
    const found = known.get(subject) ?? isMarked(subject, folder, dangers);
    known.set(subject, found);
    return found;
  };
}

export type PastVerdict = "allows" | NoFit | "marked" | "elsewhere";

/** Would this rule have allowed it? `others` are the user's other rules: one line can need several. */
export function createJudge(
  rule: ReadRule,
  others: readonly ReadRule[],
  isMarkedAsk: IsMarked,
): (ask: AnsweredAsk) => PastVerdict {
  const { agent, project } = rule;
  const rules = [rule, ...others.filter((other) => other.agent === agent && other.project === project)];
  const known = new Map<RuleSubject, PastVerdict>();
  function judge(ask: AnsweredAsk, subject: RuleSubject): PastVerdict {
    const fit = findFit(rules, subject, project);
    if (typeof fit === "string") return fit;
    if (!fit.rules.includes(rule)) return "no rule";
    return isMarkedAsk(ask) ? "marked" : "allows";
  }
  return (ask) => {
    const { subject } = ask;
    if (!subject || ask.folder !== project || ask.agent !== agent) return "elsewhere";
    const verdict = known.get(subject) ?? judge(ask, subject);
    known.set(subject, verdict);
    return verdict;
  };
}

const maxExamples = 5;

export function backTest(
  rule: ReadRule,
  others: readonly ReadRule[],
  past: readonly AnsweredAsk[],
  isMarkedAsk: IsMarked,
): BackTest {
  const answered: AnsweredAsk[] = [];
  const near = new Map<string, { count: number; why: string }>();
  const judge = createJudge(rule, others, isMarkedAsk);
  for (const ask of past) {
    const verdict = judge(ask);
    if (verdict === "allows") answered.push(ask);
    else if (verdict !== "elsewhere" && isNear(rule, ask)) {
      const text = nameSubject(ask);
      const known = near.get(text);
      near.set(text, {
        count: (known?.count ?? 0) + 1,
        why: verdict === "no rule" ? "other words" : verdict,
      });
    }
  }
  const waits = answered.filter((ask) => ask.how !== "rule").sort((a, b) => a.waitedMs - b.waitedMs);
  const longest = waits.at(-1);
  return {
    asks: past.length,
    since: past[0]?.at ?? null,
    answered: answered.length,
    allowedByYou: answered.filter((ask) => readUserAnswer(ask) === "allowed").length,
    deniedByYou: answered.filter((ask) => readUserAnswer(ask) === "denied").length,
    savedMs: waits.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
    medianMs: waits[Math.floor(waits.length / 2)]?.waitedMs ?? 0,
    longest: longest ? { ms: longest.waitedMs, at: longest.at } : null,
    would: countTexts(answered),
    stillAsks: [...near]
      .map(([text, { count, why }]) => ({ text, count, why }))
      .sort((a, b) => b.count - a.count)
      .slice(0, maxExamples),
  };
}

const nameSubject = ({ subject, text }: AnsweredAsk): string =>
  subject?.kind === "command" ? subject.command : (subject?.paths.join(", ") ?? text);

function countTexts(asks: readonly AnsweredAsk[]): readonly CountedText[] {
  const counts = new Map<string, number>();
  for (const ask of asks) counts.set(nameSubject(ask), (counts.get(nameSubject(ask)) ?? 0) + 1);
  return [...counts]
    .map(([text, count]) => ({ text, count }))
    .sort((a, b) => b.count - a.count)
    .slice(0, maxExamples);
}

/** It has the rule's program in it, so the user may expect that the rule allows it. */
function isNear({ allowed }: ReadRule, { subject }: AnsweredAsk): boolean {
  if (allowed.kind === "edit") return subject?.kind === "edit";
  if (subject?.kind !== "command") return false;
  const commands = readCommandsOf(subject);
  const [program, first] = allowed.words;
  const start = first === undefined ? program : `${program} ${first}`;
  if (typeof commands === "string") return subject.command.includes(start);
  return commands
    .flat()
    .some((command) => command[0] === program && (first === undefined || subject.command.includes(start)));
}
