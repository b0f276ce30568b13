/** The hook events of a recording, translated. */
import { claude } from "../../src/agents/claude/index.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import type { AgentEvent } from "../../src/core/session/event.ts";
import type { Recording } from "../replay/recording.ts";

export function createIngestedEvents({ rows, startedAt }: Recording): AgentEvent[] {
  return rows.flatMap(({ ms, payload }, index) => {
    const message = payload?.hook_event_name
      ? openEnvelope({ provider: "claude", _meta: {}, payload }, "claude", null)
      : null;
    const event =
      message && claude.translate(message, { at: startedAt + ms, t: ms, id: `e${index}`, key: `k${index}` });
    return event ? [event] : [];
  });
}
