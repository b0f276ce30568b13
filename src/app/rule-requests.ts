/** What the user asks for on the page or the command line about their rules and trusted sessions. Loaded when they do. */
import { readErrorMessage } from "../core/error-message.ts";
import type { RulesReport, TrustView } from "../core/interfaces/wire.ts";
import { asText, type JsonRecord, readNumber } from "../core/json.ts";
import { projectOf, type Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import type { PastReader } from "../history/reader.ts";
import type { NewRule, Rules } from "../rules/index.ts";
import type { RuleStudy } from "../rules/study.ts";
import { formatLocalTime } from "../system/clock.ts";
import type { Base } from "./base.ts";
import type { AppState } from "./state.ts";

export interface RuleRequestsOptions {
  readonly base: Pick<Base, "clock" | "config" | "defaultProvider" | "log">;
  readonly store: Pick<AppState["store"], "find">;
  readonly rules: Rules;
  /** null if the app has none yet. */
  readonly history: Pick<PastReader, "study"> | null;
}

export interface RuleRequests {
  report(): Promise<RulesReport>;
  /** Adds, removes or tests a rule. With a text if it cannot, with null if there is no such action. */
  act(action: string, body: JsonRecord): Promise<object | string | null>;
  /** Trusts a session until a time, or no longer. */
  trust(session: Session, body: JsonRecord): Promise<object | string>;
}

const noStudy: RuleStudy = { asks: 0, since: null, suggestions: [], uses: {} };

export function createRuleRequests({ base, store, rules, history }: RuleRequestsOptions): RuleRequests {
  function listTrusts(): readonly TrustView[] {
    return rules.listTrusts().map(({ session, until, since, uses }) => {
      const found = store.find(session, base.clock());
      return { session, project: found && projectOf(found), until, since, uses };
    });
  }

  function readNewRule(body: JsonRecord): NewRule | string {
    const { text, name, project } = body;
    if (text === undefined && typeof name === "string")
      return `there is no rule ${name}. A rule is written like Bash(npm test *)`;
    if (typeof text !== "string" || text === "") return "text must be the rule";
    if (typeof project !== "string" || project === "") return "project must be the project's folder";
    const agent = asText(body.agent) || base.defaultProvider;
    return { text, project, agent, madeFrom: body.from === "suggestion" ? "suggestion" : "text" };
  }

  async function testRule(body: JsonRecord): Promise<object | string> {
    const known = rules.list().find(({ name }) => name === body.name);
    const added = known ?? readNewRule(body);
    if (typeof added === "string") return added;
    const others = rules.list().filter((rule) => rule !== known);
    const rule = { ...added, name: known?.name ?? "test", madeAt: 0 };
    if (!history) return "the history is not read yet";
    try {
      return { ok: true, test: await history.study({ do: "test", rule, rules: others }) };
    } catch (error) {
      return readErrorMessage(error);
    }
  }

  return {
    async report() {
      let problem: string | null = null;
      const study =
        (await history?.study({ do: "suggest", rules: rules.list() }).catch((error) => {
          problem = readErrorMessage(error);
          return null;
        })) ?? noStudy;
      const listed = rules
        .list()
        .map(({ allowed: _, ...rule }) => ({ ...rule, use: study.uses[rule.name] ?? null }));
      const settings = Object.entries(base.config().answering.autoAllow).flatMap(([project, texts]) =>
        texts.map((text) => ({ text, project, use: study.uses[text] ?? null })),
      );
      const { asks, since, suggestions } = study;
      const problems = [...rules.problems(), ...(problem === null ? [] : [problem])];
      return { rules: listed, settings, trusts: listTrusts(), asks, since, suggestions, problems };
    },
    async act(action, body) {
      if (action === "test") return testRule(body);
      if (action === "remove") {
        const removed = rules.remove(asText(body.name));
        return removed ? { ok: true, rule: removed } : `there is no rule ${asText(body.name)}`;
      }
      if (action !== "add") return null;
      const added = readNewRule(body);
      if (typeof added === "string") return added;
      const rule = rules.add(added);
      return typeof rule === "string" ? rule : { ok: true, rule };
    },
    async trust(session, body) {
      if (body.end === true) return { ok: true, ended: rules.endTrust(session) !== null };
      const until = readNumber(body.until);
      if (until === null) return "until must be a time in milliseconds, or end must be true";
      const trust = rules.trust(session, until);
      if (typeof trust === "string") return { refused: 409, error: trust };
      base.log(
        "info",
        `${sessionKeyOf(session)} is trusted until ${formatLocalTime(until, base.clock().at)}`,
      );
      return { ok: true, trust };
    },
  };
}
