/** What the user has answered so far, kept up to date while beckon runs: read once from the history, then from each ask that ends. */

import type { RuleSubject } from "../core/answers/subject.ts";
import { forgetOldest } from "../core/forget-oldest.ts";
import type { Transition } from "../core/interfaces/index.ts";
import type { Precedent } from "../core/session/precedent.ts";
import { projectOf } from "../core/session/session.ts";
import { findFit } from "./fit.ts";
import type { RuleRequest } from "./judge.ts";
import { labelSubject } from "./past.ts";
import { formatAllowed, readRule } from "./rule.ts";
import { listNarrowest, minLikeAnswers } from "./suggest.ts";
import { createTally } from "./tally.ts";

type AskEnded = Extract<Transition, { kind: "ask-ended" }>;

export interface AskMemory {
  /** A request that waits: how it ends is remembered. */
  remember(request: string, asked: RuleRequest): void;
  onEnded(transition: AskEnded): void;
  /** What the history has from before the first request. */
  addEarlier(precedents: readonly Precedent[]): void;
  find(subject: RuleSubject, folder: string | null): Precedent | null;
}

const maxOpen = 500;

export function createAskMemory(now: () => number): AskMemory {
  const tally = createTally();
  const open = new Map<string, RuleRequest>();

  return {
    remember(request, asked) {
      open.set(request, asked);
      forgetOldest(open, maxOpen);
    },
    onEnded({ ask, how, detail = null, waitedMs, session }) {
      const asked = open.get(ask.request ?? "");
      if (!asked) return;
      open.delete(ask.request ?? "");
      const { agent, subject } = asked;
      const folder = session.firstCwd ?? session.cwd;
      const project = projectOf(session);
      tally.add({ agent, folder, project, subject, text: ask.summary, at: now(), waitedMs, how, detail });
    },
    addEarlier: tally.addEarlier,
    find(subject, folder) {
      const label = labelSubject(subject, folder);
      return label === null ? null : tally.find(label);
    },
  };
}

/** The rule that would answer this and nothing else like it, if the user has answered often enough. null if there is none. */
export function findRuleText(
  { agent, subject, project }: Pick<RuleRequest, "agent" | "subject" | "project">,
  folder: string | null,
  precedent: Precedent | null,
): string | null {
  if (project === null || !precedent || precedent.allowed < minLikeAnswers || precedent.denied > 0)
    return null;
  const [allowed, ...others] = listNarrowest({ subject, folder });
  if (!allowed || others.length > 0) return null;
  const text = formatAllowed(allowed);
  const rule = readRule({ name: "offered", agent, project, text, madeAt: 0, madeFrom: "suggestion" });
  // After `cd packages/api`, the rule would be for other scripts than those that were allowed.
  const isFit = typeof rule !== "string" && typeof findFit([rule], subject, project) !== "string";
  return isFit ? text : null;
}
