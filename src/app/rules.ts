/**
 * Rules, precedent and trust, as the rest of the app sees them. Nothing of src/rules is loaded before the first permission request, and
 * no rule is judged before there is one.
 */
import { existsSync } from "node:fs";
import { followLinks } from "../answers/real-paths.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Sink } from "../core/interfaces/index.ts";
import type { RulesReport, TrustView } from "../core/interfaces/wire.ts";
import { asText, type JsonRecord, readNumber } from "../core/json.ts";
import { projectOf, type Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import type { History } from "../history/index.ts";
import type { NewRule, RuleJudge, Rules } from "../rules/index.ts";
import type { RuleRequest } from "../rules/judge.ts";
import type { AskMemory } from "../rules/memory.ts";
import type { RuleStudy } from "../rules/study.ts";
import { formatLocalTime } from "../system/clock.ts";
import type { Base } from "./base.ts";
import type { AppState } from "./state.ts";

export interface AppRules extends Sink {
  readonly judge: RuleJudge;
  report(): Promise<RulesReport>;
  /** Adds, removes or tests a rule. With a text if it cannot. */
  act(action: string, body: JsonRecord): Promise<object | string | null>;
  /** Trusts a session until a time, or no longer. */
  trust(session: Session, body: JsonRecord): Promise<object | string>;
  problems(): readonly string[];
  /** Earlier answers come from it. */
  start(history: Pick<History, "study">): void;
}

const noStudy: RuleStudy = { asks: 0, since: null, suggestions: [], uses: {} };

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

  function listTrusts(): readonly TrustView[] {
    return (rules?.listTrusts() ?? []).map(({ session, until, since, uses }) => {
      const found = store.find(session, clock());
      return { session, project: found && projectOf(found), until, since, uses };
    });
  }

  function readNewRule(body: JsonRecord): NewRule | string {
    const { text, project } = body;
    if (typeof text !== "string" || text === "") return "text must be the rule";
    if (typeof project !== "string" || project === "") return "project must be the project's folder";
    const agent = asText(body.agent) || base.defaultProvider;
    return { text, project, agent, madeFrom: body.from === "suggestion" ? "suggestion" : "text" };
  }

  async function testRule(body: JsonRecord): Promise<object | string> {
    const book = await open();
    const known = book.list().find(({ name }) => name === body.name);
    const added = known ?? readNewRule(body);
    if (typeof added === "string") return added;
    const others = book.list().filter((rule) => rule !== known);
    const rule = { ...added, name: known?.name ?? "test", madeAt: 0 };
    if (!history) return "the history is not read yet";
    try {
      return { ok: true, test: await history.study({ do: "test", rule, rules: others }) };
    } catch (error) {
      return readErrorMessage(error);
    }
  }

  return {
    name: "rules",
    judge,
    onChange: ({ session }) => rules?.follow(session),
    onTransition(transition) {
      if (transition.kind === "ask-ended") memory?.onEnded(transition);
    },
    async report() {
      const book = await open();
      let problem: string | null = null;
      const study =
        (await history?.study({ do: "suggest", rules: book.list() }).catch((error) => {
          problem = readErrorMessage(error);
          return null;
        })) ?? noStudy;
      const listed = book
        .list()
        .map(({ allowed: _, ...rule }) => ({ ...rule, use: study.uses[rule.name] ?? null }));
      const settings = Object.entries(base.config().answering.autoAllow).flatMap(([project, texts]) =>
        texts.map((text) => ({ text, project, use: study.uses[text] ?? null })),
      );
      const { asks, since, suggestions } = study;
      const problems = [...book.problems(), ...(problem === null ? [] : [problem])];
      return { rules: listed, settings, trusts: listTrusts(), asks, since, suggestions, problems };
    },
    async act(action, body) {
      const book = await open();
      if (action === "test") return testRule(body);
      if (action === "remove") {
        const removed = book.remove(asText(body.name));
        return removed ? { ok: true, rule: removed } : `there is no rule ${asText(body.name)}`;
      }
      if (action !== "add") return null;
      const added = readNewRule(body);
      if (typeof added === "string") return added;
      const rule = book.add(added);
      return typeof rule === "string" ? rule : { ok: true, rule };
    },
    async trust(session, body) {
      const book = await open();
      if (body.end === true) return { ok: true, ended: book.endTrust(session) !== null };
      const until = readNumber(body.until);
      if (until === null) return "until must be a time in milliseconds, or end must be true";
      const trust = book.trust(session, until);
      if (typeof trust === "string") return { refused: 409, error: trust };
      base.log("info", `${sessionKeyOf(session)} is trusted until ${formatLocalTime(until, now())}`);
      return { ok: true, trust };
    },
    problems: () => rules?.problems() ?? [],
    start(recorder) {
      history = recorder;
    },
  };
}
