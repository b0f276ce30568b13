/** What is listed in the history, and with which text. Pure. */
import type { EventDetails } from "../agents/agent.ts";
import type { HistoryKind, SessionEvent, Severity } from "../core/interfaces/wire.ts";
import type { AgentEvent } from "../core/session/event.ts";
import type { Ask } from "../core/session/session.ts";
import { formatCall, statusTexts } from "../core/session/texts.ts";

export interface ItemText {
  readonly kind: HistoryKind;
  readonly text: string;
  readonly severity?: Severity;
}

/** null if the event is not listed: only the start of a tool is, and asks are listed by themselves. */
export function createEventItem({ change }: AgentEvent, details: EventDetails): ItemText | null {
  switch (change.kind) {
    case "session-start":
      if (change.source === "compact") return { kind: "compact", text: "compacted" };
      return { kind: "started", text: change.source };
    case "session-end":
      return { kind: "ended", text: change.reason ?? "" };
    case "prompt":
      return change.byMachine ? null : { kind: "prompt", text: change.text };
    case "tool-start": {
      if (change.skill) return { kind: "skill", text: change.skill.triggerCommand };
      return { kind: "tool", text: formatCall(change.tool, change.summary) };
    }
    case "tool-end": {
      if (change.outcome !== "failed") return null;
      const text = `${change.tool} failed: ${details.error ?? ""}`.trimEnd();
      return { kind: "tool", text, severity: "warn" };
    }
    case "turn-end":
      if (change.error !== null) return { kind: "failed", text: change.error, severity: "error" };
      return change.lastResponse ? { kind: "answer", text: change.lastResponse } : null;
    case "compact-start":
      return { kind: "compact", text: "compacting" };
    default:
      return details.isNotification ? { kind: "notification", text: details.message ?? "" } : null;
  }
}

export function createAskItem({ kind, tool, summary }: Pick<Ask, "kind" | "tool" | "summary">): ItemText {
  return { kind: kind === "idle" ? "question" : kind, text: formatCall(tool, summary) };
}

export const diedItem: ItemText = { kind: "failed", text: statusTexts.died, severity: "error" };

const portItemLabels: Readonly<Partial<Record<SessionEvent["event_type"], string>>> = {
  port_start: "started ",
  port_end: "ended ",
  untracked_edit: "",
  dependency_resolved: "",
};

/** null if the event is not listed: what happens to a port is, the rest of a session's events are listed already. */
export function createPortItem({ event_type, summary, severity }: SessionEvent): ItemText | null {
  const label = portItemLabels[event_type];
  return label === undefined ? null : { kind: "port", text: `${label}${summary}`, severity };
}
