/** Every agent beckon understands: a row each. */
import type { AgentEvent } from "../core/event.ts";
import { type Stamped, translate as translateClaude } from "./claude/translate.ts";
import type { Hook } from "./envelope.ts";

export interface Agent {
  translate(hook: Hook, stamped: Stamped): AgentEvent | null;
}

export const agents: Readonly<Record<string, Agent | undefined>> = {
  __proto__: null as never,
  claude: { translate: translateClaude },
};
