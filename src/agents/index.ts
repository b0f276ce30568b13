/** Every agent beckon understands: a row each. */
import type { Answer, Asked } from "../core/asked.ts";
import type { AgentEvent } from "../core/event.ts";
import { askedOf } from "./claude/asked.ts";
import { autoAllow } from "./claude/auto-allow.ts";
import { decide } from "./claude/decide.ts";
import { lean, nameOf } from "./claude/lean.ts";
import { type Stamped, translate as translateClaude } from "./claude/translate.ts";
import type { Fields, Hook } from "./envelope.ts";

export interface Agent {
  translate(hook: Hook, stamped: Stamped): AgentEvent | null;
  /** The event's text without what tools returned: whole files, outputs and pictures are not beckon's to keep. */
  lean(text: string, from: number, payload: Fields): string;
  /** What no other event of its session is called; null: nothing but its whole text tells it apart. */
  nameOf(payload: Fields): string | null;
  /** Its permission requests can be answered. */
  readonly answering: Answering;
}

export interface Answering {
  asked(payload: Fields, where: { readonly cwd: string | null }): Asked | null;
  /** What the hook prints; a text: what is wrong with the answer. */
  decide(payload: Fields, answer: Answer): object | string;
  autoAllow: typeof autoAllow;
}

export const agents: Readonly<Record<string, Agent | undefined>> = {
  __proto__: null as never,
  claude: { translate: translateClaude, lean, nameOf, answering: { asked: askedOf, decide, autoAllow } },
};
