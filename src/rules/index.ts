/**
 * Rules: what the user allows from now on, made from their own answers. A rule is one program in one project, and is tried on the
 * history before it counts. A session can also be trusted for a while. Both only allow; whether they may is up to the policy.
 */

import { limits } from "../core/limits.ts";
import type { Moment } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { shortenHome } from "../core/text/paths.ts";
import { findFit } from "./fit.ts";
import type { RuleJudge } from "./judge.ts";
import { nameRule, parseAllowed, type ReadRule, type Rule, readRule } from "./rule.ts";
import { createRuleFile } from "./rule-file.ts";
import { createTrusts, type SessionTrust } from "./trust.ts";

export interface NewRule {
  readonly agent: string;
  readonly project: string;
  readonly text: string;
  readonly madeFrom: Rule["madeFrom"];
}

export interface Rules extends Pick<RuleJudge, "judge" | "mayAnswer" | "onMarked"> {
  list(): readonly ReadRule[];
  /** Returns a text that says why it cannot be a rule. */
  add(rule: NewRule): ReadRule | string;
  remove(name: string): ReadRule | null;
  /** Until a wall time. Returns a text that says why it cannot be trusted. */
  trust(session: Session, until: number): SessionTrust | string;
  endTrust(session: Session): SessionTrust | null;
  listTrusts(): readonly SessionTrust[];
  /** The session changed: it may be over, or ask in another way. */
  follow(session: Session): void;
  problems(): readonly string[];
}

export interface RulesOptions {
  readonly path: string;
  readonly home: string;
  readonly clock: () => Moment;
  readonly formatTime: (at: number) => string;
  /** The folder without links. null if it cannot be read. */
  readonly followLinks: (path: string) => string | null;
  readonly onChange: () => void;
  readonly onProblem: (text: string) => void;
}

export function createRules(options: RulesOptions): Rules {
  const { clock, onChange } = options;
  const file = createRuleFile(options.path, options.onProblem);
  const trusts = createTrusts(options);

  function add(added: NewRule): ReadRule | string {
    const project = options.followLinks(added.project);
    if (project === null) return `the project ${shortenHome(added.project, options.home)} cannot be read`;
    const allowed = parseAllowed(added.text);
    if (typeof allowed === "string") return `${JSON.stringify(added.text)} ${allowed}`;
    const known = file.rules();
    const same = known.find(
      (rule) => rule.text === added.text && rule.project === project && rule.agent === added.agent,
    );
    if (same) return same;
    if (known.length >= limits.maxRules) return `there are ${limits.maxRules} rules already`;
    const name = nameRule(allowed, project, new Set(known.map((rule) => rule.name)));
    const rule = readRule({ ...added, name, project, madeAt: clock().at });
    if (typeof rule === "string") return rule;
    file.save([...known, rule]);
    onChange();
    return rule;
  }

  return {
    judge(request) {
      // The user wants to read a plan before anything is changed.
      if (request.session.permissionMode === "plan") return null;
      const trusted = trusts.judge(request);
      if (trusted) return trusted;
      const { agent, project, subject } = request;
      if (project === null) return null;
      const rules = file.rules().filter((rule) => rule.agent === agent && rule.project === project);
      const fit = findFit(rules, subject, project);
      if (typeof fit === "string") return null;
      const names = [...new Set(fit.rules.map(({ name }) => name))];
      return { ...fit, name: names.join(", "), folder: project };
    },
    mayAnswer: (session) =>
      file.rules().some(({ agent }) => agent === session.agent) || trusts.list().length > 0,
    onMarked: (session) => void trusts.end(sessionKeyOf(session)),
    list: file.rules,
    add,
    remove(name) {
      const known = file.rules();
      const rule = known.find((one) => one.name === name) ?? null;
      if (rule) file.save(known.filter((one) => one !== rule));
      if (rule) onChange();
      return rule;
    },
    trust: trusts.start,
    endTrust(session) {
      return trusts.end(sessionKeyOf(session));
    },
    listTrusts: trusts.list,
    follow: trusts.follow,
    problems: file.problems,
  };
}

export type { RuleJudge } from "./judge.ts";
export type { ReadRule, Rule } from "./rule.ts";
export type { SessionTrust } from "./trust.ts";
