/** Rules and earlier answers, for requests that wait: what a rule allows is answered before anybody could see it. */
import { createStep, judgeAnswer } from "../core/answers/policy.ts";
import type { Config } from "../core/config/config.ts";
import type { Schedule } from "../core/interfaces/index.ts";
import type { Moment } from "../core/session/event.ts";
import type { Ask, Session } from "../core/session/session.ts";
import type { SessionRefLike } from "../core/session/session-ref.ts";
import { timing } from "../core/timing.ts";
import type { RuleJudge, RuleRequest, RuleVerdict } from "../rules/judge.ts";
import { findAsk, type PendingRequest } from "./pending-request.ts";
import { followLinks, staysInside } from "./real-paths.ts";

export interface RuleAnswersOptions {
  readonly config: () => Pick<Config, "answering">;
  /** The rules that the user made from their answers. */
  readonly rules?: RuleJudge;
  /** The session as it stands now. */
  readonly getSettled: (ref: SessionRefLike) => Session | null;
  readonly isPending: (request: string) => boolean;
  /** A rule's answer is on its way to the agent. */
  readonly isSentByRule: (request: string) => boolean;
  /** Whether the requests of this agent can be answered from here at all. */
  readonly isAnswered: (agent: string) => boolean;
  readonly clock: () => Moment;
  readonly schedule: Schedule;
  /** Allows what is asked, in the name of a rule. */
  readonly allow: (session: Session, ask: Ask, by: string) => Promise<unknown>;
  /** What can be answered has changed. */
  readonly onChange: () => void;
  readonly onError: (text: string) => void;
}

export interface RuleAnswers {
  /** The request waits now. */
  onAdded(request: PendingRequest): void;
  /** Without the asks that a rule is answering at this moment, or may answer as soon as their hook comes. */
  withoutAnswering(sessions: readonly Session[]): readonly Session[];
}

export function createRuleAnswers(options: RuleAnswersOptions): RuleAnswers {
  const { config, rules, getSettled } = options;
  /** Requests that a rule allows, until the agent has the answer. */
  const answering = new Set<string>();
  let isShownSoon = false;

  /** Once: an alert whose text changes is shown again. */
  function addPrecedent(request: PendingRequest): void {
    const asked = readRuleRequest(request);
    if (!asked || !rules) return;
    rules.remember(request.request, asked);
    request.precedent = rules.findPrecedent(asked);
  }

  /** null if no rule can name what it asks. */
  function readRuleRequest({
    agent,
    answering: support,
    payload,
    context,
    ...ref
  }: PendingRequest): RuleRequest | null {
    const subject = support.readSubject?.(payload) ?? null;
    const session = getSettled({ agent, ...ref });
    if (!rules || !subject || !session) return null;
    const follow = (path: string | null) => (path === null ? null : followLinks(path));
    const folders = { project: follow(context.cwd), subject: { ...subject, cwd: follow(subject.cwd) } };
    return { agent, session, ...folders };
  }

  function findRule(request: PendingRequest): RuleVerdict | null {
    const session = getSettled(request);
    // Also if there is another reason why no rule may allow it.
    if (session && request.details.dangers.length > 0) rules?.onMarked(session);
    if (judgeAnswer(request.details, { do: "allow" }, createStep("rule")).kind !== "allowed") return null;
    // In a container the same path is another folder, with other links.
    if (session?.place?.local === false) return null;
    const { answering: support, payload, context } = request;
    const listed = support.autoAllow(config().answering.autoAllow, payload, context);
    if (listed) return { ...listed, name: listed.rule };
    const asked = readRuleRequest(request);
    return asked && (rules?.judge(asked) ?? null);
  }

  async function answerByRule(
    request: PendingRequest,
    { name, folder, ...reads }: RuleVerdict,
  ): Promise<void> {
    if (folder !== null && !(await staysInside({ folder, ...reads }))) return;
    const session = getSettled(request);
    const ask = findAsk(session, request.request);
    if (session && ask) await options.allow(session, ask, `rule ${name}`);
  }

  function hideAsks(session: Session): Session {
    if (session.asks.length === 0 || session.machine !== null) return session;
    const asks = session.asks.filter(({ request, ...ask }) =>
      request === null
        ? !isAwaitingHook(session, ask)
        : !answering.has(request) && !options.isSentByRule(request),
    );
    return asks.length === session.asks.length ? session : { ...session, asks };
  }

  /** The status file or a reminder can report a dialog before the hook that names it, or one that a rule has answered already. */
  function isAwaitingHook(session: Session, { kind, t }: Pick<Ask, "kind" | "t">): boolean {
    const leftMs = t + timing.ruleGapMs - options.clock().t;
    if (kind !== "permission" || leftMs <= 0 || !mayAnswer(session)) return false;
    if (!isShownSoon)
      options.schedule(() => {
        isShownSoon = false;
        options.onChange();
      }, leftMs);
    isShownSoon = true;
    return true;
  }

  const mayAnswer = (session: Session): boolean =>
    options.isAnswered(session.agent) &&
    (Object.keys(config().answering.autoAllow).length > 0 || rules?.mayAnswer(session) === true);

  return {
    onAdded(request) {
      addPrecedent(request);
      const allowed = findRule(request);
      if (!allowed) return;
      answering.add(request.request);
      answerByRule(request, allowed)
        .catch((error) => options.onError(`a rule could not be checked: ${error}`))
        .finally(() => {
          answering.delete(request.request);
          // If it could not be answered, it is shown now.
          if (options.isPending(request.request)) options.onChange();
        });
    },
    withoutAnswering: (sessions) =>
      sessions.some(({ asks }) => asks.length > 0) ? sessions.map(hideAsks) : sessions,
  };
}
