/** What the history says about rules: suggestions, a back-test, how often each was used. Runs in the history's thread. Pure. */

import type { BackTest, RulesReport, RuleUse } from "../core/interfaces/wire.ts";
import type { Precedent } from "../core/session/precedent.ts";
import { dayMs } from "../core/timing.ts";
import type { AgentDangers } from "../shell/dangers/context.ts";
import { backTest, createMarkCheck } from "./back-test.ts";
import type { AnsweredAsk } from "./past.ts";
import { type ReadRule, type Rule, readRule } from "./rule.ts";
import { suggestRules } from "./suggest.ts";
import { createTally } from "./tally.ts";

export type StudyTask =
  /** What was answered to asks that opened before this time. */
  | { readonly do: "tally"; readonly before: number }
  | { readonly do: "suggest"; readonly rules: readonly Rule[] }
  | { readonly do: "test"; readonly rule: Rule; readonly rules: readonly Rule[] };

export interface RuleStudy extends Pick<RulesReport, "asks" | "since" | "suggestions"> {
  /** By the rule's name. */
  readonly uses: Readonly<Record<string, RuleUse>>;
}

export type StudyResult<Task extends StudyTask> = Task extends { do: "tally" }
  ? readonly Precedent[]
  : Task extends { do: "suggest" }
    ? RuleStudy
    : BackTest;

const usesMs = 30 * dayMs;

/** `past` from the oldest to the newest. */
export function studyAsks<Task extends StudyTask>(
  past: readonly AnsweredAsk[],
  task: Task,
  dangers: readonly AgentDangers[],
  now: number,
): StudyResult<Task>;
export function studyAsks(
  past: readonly AnsweredAsk[],
  task: StudyTask,
  dangers: readonly AgentDangers[],
  now: number,
): readonly Precedent[] | RuleStudy | BackTest {
  const isMarked = createMarkCheck(dangers);
  switch (task.do) {
    case "tally": {
      const tally = createTally();
      for (const ask of past) if (ask.at < task.before) tally.add(ask);
      return tally.list();
    }
    case "suggest":
      return {
        asks: past.length,
        since: past[0]?.at ?? null,
        suggestions: suggestRules(past, readRules(task.rules), isMarked),
        uses: countUses(past, now),
      };
    case "test": {
      const rule = readRule(task.rule);
      if (typeof rule === "string") throw new Error(rule);
      return backTest(rule, readRules(task.rules), past, isMarked);
    }
  }
}

const readRules = (rules: readonly Rule[]): readonly ReadRule[] =>
  rules.map(readRule).filter((rule) => typeof rule !== "string");

function countUses(past: readonly AnsweredAsk[], now: number): Readonly<Record<string, RuleUse>> {
  const uses: Record<string, RuleUse> = {};
  for (const { how, detail, at } of past) {
    if (how !== "rule" || detail === null) continue;
    for (const name of detail.split(", "))
      uses[name] = { count: (uses[name]?.count ?? 0) + (at > now - usesMs ? 1 : 0), lastAt: at };
  }
  return uses;
}
