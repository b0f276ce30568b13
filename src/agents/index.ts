/** Every agent beckon understands: a row each. */

import type { JsonRecord } from "../core/json.ts";
import type { Answer, AskDetails } from "../core/session/ask-details.ts";
import type { AgentEvent } from "../core/session/event.ts";
import { autoAllow } from "./claude/auto-allow.ts";
import { decide } from "./claude/decide.ts";
import { describeRequest } from "./claude/describe.ts";
import { dedupeKey, stripToolOutput } from "./claude/payload.ts";
import { type Stamped, translate as translateClaude } from "./claude/translate.ts";
import type { HookMessage } from "./envelope.ts";

export interface Agent {
  translate(hook: HookMessage, stamped: Stamped): AgentEvent | null;
  /** The event's text without what tools returned: whole files, outputs and pictures are not beckon's to keep. */
  stripToolOutput(text: string, from: number, payload: JsonRecord): string;
  /** What no other event of its session is called; null: nothing but its whole text tells it apart. */
  dedupeKey(payload: JsonRecord): string | null;
  /** Its permission requests can be answered. */
  readonly answering: AnswerSupport;
}

export interface AnswerSupport {
  describe(payload: JsonRecord, where: { readonly cwd: string | null }): AskDetails | null;
  /** What the hook prints; a text: what is wrong with the answer. */
  decide(payload: JsonRecord, answer: Answer): object | string;
  autoAllow: typeof autoAllow;
}

export const agents: Readonly<Record<string, Agent | undefined>> = {
  __proto__: null as never,
  claude: {
    translate: translateClaude,
    stripToolOutput: stripToolOutput,
    dedupeKey: dedupeKey,
    answering: { describe: describeRequest, decide, autoAllow },
  },
};
