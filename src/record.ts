/** What beckon writes down of asks and alerts, for `beckon log`: who answered what, and what was not shown, and why. */
import { keyOf } from "./core/alert-keys.ts";
import type { AgentEvent } from "./core/event.ts";
import { isOfProbe, isProbe } from "./core/probe.ts";
import { type Ask, isBlocking, type Session } from "./core/session.ts";
import { projectOf } from "./core/snapshot.ts";
import type { Alert } from "./core/view.ts";
import type { Verdict } from "./held-words.ts";
import type { Decisions, Logged } from "./storage/decisions.ts";

export interface RecorderOptions {
  readonly decisions: Pick<Decisions, "add">;
  readonly mask: (text: string) => string;
  readonly now: () => number;
  readonly find: (key: string) => Session | null;
}

export interface Recorder {
  verdict(verdict: Verdict): void;
  /** Asks that ended without beckon's doing. */
  follow(after: Session, event: AgentEvent, before: Session | null): void;
  shown(alert: Alert): void;
  notShown(key: string, why: string): void;
}

const maxLength = 300;

export function createRecorder({ decisions, mask, now, find }: RecorderOptions): Recorder {
  const text = (value: string) => {
    const line = mask(value).replace(/\s+/g, " ").trim();
    return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
  };

  function add(session: Session, entry: Pick<Logged, "what" | "asked" | "outcome" | "by">): void {
    if (isProbe(session)) return;
    const about = { at: now(), session: keyOf(session), project: projectOf(session) };
    decisions.add({ ...about, ...entry, asked: text(entry.asked), outcome: text(entry.outcome) });
  }

  return {
    verdict({ session, ask, answered, by }) {
      add(session, { what: "answered", asked: wordsOf(ask), outcome: answered, by: text(by) });
    },
    follow(after, event, before) {
      if (event.move.kind === "ask-answered" || !before || before.asks.length === 0) return;
      const left = new Set(after.asks.map(({ id }) => id));
      for (const ask of before.asks) {
        if (left.has(ask.id) || !isBlocking(ask) || ask.from !== "hook") continue;
        add(after, { what: "answered", asked: wordsOf(ask), outcome: endOf(event), by: "in the terminal" });
      }
    },
    shown(alert) {
      const session = find(alert.session);
      if (!session) return;
      add(session, {
        what: "shown",
        asked: `${alert.title}: ${alert.body}`,
        outcome: "alert shown",
        by: null,
      });
    },
    notShown(key, why) {
      const session = find(key.split("#", 1)[0] ?? "");
      if (!session || isOfProbe(key)) return;
      const ask = session.asks.find(({ id }) => key.endsWith(`#${id}`));
      add(session, { what: "not shown", asked: ask ? wordsOf(ask) : "", outcome: why, by: null });
    },
  };
}

/** In the state's words, where secrets are masked: the exact text is nowhere on disk. */
function wordsOf({ tool, summary, kind }: Ask): string {
  return kind === "permission" && tool ? `${tool}: ${summary}` : summary || kind;
}

/** What the event that closed an ask says about how it was answered. */
function endOf({ move }: AgentEvent): string {
  switch (move.kind) {
    case "tool-end":
      return move.outcome === "denied" ? "denied" : "allowed";
    case "status":
      return move.status === "busy" ? "answered" : "No or Esc";
    case "session-end":
    case "gone":
      return "the session ended";
    default:
      return "over";
  }
}
