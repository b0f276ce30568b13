/**
 * Rules, precedent and trust, as the rest of the app sees them. Nothing of src/rules is loaded before the first permission request, and
 * no rule is judged before there is one.
 */
import { existsSync } from "node:fs";
import { followLinks } from "../answers/real-paths.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Sink } from "../core/interfaces/index.ts";
import type { History } from "../history/index.ts";
import type { RuleJudge, Rules } from "../rules/index.ts";
import type { RuleRequest } from "../rules/judge.ts";
import type { AskMemory } from "../rules/memory.ts";
import { formatLocalTime } from "../system/clock.ts";
import type { Base } from "./base.ts";
import type { RuleRequests } from "./rule-requests.ts";
import type { AppState } from "./state.ts";

export interface AppRules extends Sink, RuleRequests {
  readonly judge: RuleJudge;
  problems(): readonly string[];
  /** Earlier answers come from it. */
  start(history: Pick<History, "study">): void;
}

export function createAppRules(
  base: Base,
  { store, followers }: Pick<AppState, "store" | "followers">,
): AppRules {
  const { paths, clock, onProblem } = base;
  const now = () => clock().at;
  let history: Pick<History, "study"> | null = null;
  let rules: Rules | null = null;
  let loading: Promise<Rules> | null = null;
  let memory: AskMemory | null = null;
  /** Until the module is loaded. */
  const early: [id: string, request: RuleRequest][] = [];
  let findRuleText: typeof import("../rules/memory.ts").findRuleText | null = null;

  async function load(): Promise<Rules> {
    const { createRules } = await import("../rules/index.ts");
    rules = createRules({
      path: paths.rules,
      home: base.home,
      clock,
      formatTime: (at) => formatLocalTime(at, now()),
      followLinks,
      onChange: followers.onRefresh,
      onProblem,
    });
    return rules;
  }

  const open = (): Promise<Rules> => {
    loading ??= load();
    return loading;
  };

  /** At the first request: it costs the history's thread a moment, and this one nothing. */
  async function startMemory(before: number): Promise<void> {
    const module = await import("../rules/memory.ts");
    findRuleText = module.findRuleText;
    memory = module.createAskMemory(now);
    for (const [id, request] of early.splice(0)) memory.remember(id, request);
    memory.addEarlier((await history?.study({ do: "tally", before })) ?? []);
  }

  const judge: RuleJudge = {
    judge: (request) => rules?.judge(request) ?? null,
    mayAnswer: (session) => rules?.mayAnswer(session) ?? false,
    onMarked: (session) => rules?.onMarked(session),
    remember(id, request) {
      if (memory) return memory.remember(id, request);
      early.push([id, request]);
      if (early.length > 1) return;
      // With the history turned off, only what is answered from now on is known.
      startMemory(request.session.asks.find((ask) => ask.request === id)?.at ?? now()).catch((error) =>
        base.log("info", `earlier answers are not known: ${readErrorMessage(error)}`),
      );
    },
    findPrecedent(request) {
      const { agent, subject, session } = request;
      const folder = session.firstCwd ?? session.cwd;
      const precedent = memory?.find(subject, folder) ?? null;
      if (!precedent) return null;
      const text = findRuleText?.(request, folder, precedent) ?? null;
      const isRule = text !== null && folder !== null && session.machine === null;
      return { ...precedent, ...(isRule ? { rule: { text, project: folder, agent } } : {}) };
    },
  };

  if (existsSync(paths.rules))
    void open().catch((error) => onProblem(`your rules could not be read: ${readErrorMessage(error)}`));

  async function openRequests(): Promise<RuleRequests> {
    const [{ createRuleRequests }, book] = await Promise.all([import("./rule-requests.ts"), open()]);
    return createRuleRequests({ base, store, rules: book, history });
  }

  return {
    name: "rules",
    judge,
    onChange: ({ session }) => rules?.follow(session),
    onTransition(transition) {
      if (transition.kind === "ask-ended") memory?.onEnded(transition);
    },
    report: async () => (await openRequests()).report(),
    act: async (action, body) => (await openRequests()).act(action, body),
    trust: async (session, body) => (await openRequests()).trust(session, body),
    problems: () => rules?.problems() ?? [],
    start(recorder) {
      history = recorder;
    },
  };
}
