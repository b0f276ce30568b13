/** What the clients of the event stream know of each session: only what differs from it is sent. */
import type { StreamMessage } from "../core/interfaces/wire.ts";
import { viewKeyOf } from "../core/session/session-ref.ts";
import type { SessionView } from "../core/view/session-view.ts";

export interface SentSessionsOptions {
  readonly sessions: () => readonly SessionView[];
  /** null if there is no such session. */
  readonly findSession: (key: string) => SessionView | null;
}

export interface SentSessions {
  /** Takes the sessions as known to the clients, without sending them. */
  assume(sessions: readonly SessionView[]): void;
  /** Sends the sessions with these keys that differ. */
  compare(keys: Iterable<string>): void;
  /** Sends every session that differs, and the keys of those that are gone. */
  compareAll(): void;
  forget(key: string): void;
  clear(): void;
}

export function createSentSessions(
  options: SentSessionsOptions,
  publish: (message: StreamMessage) => void,
): SentSessions {
  /** As JSON. */
  const sent = new Map<string, string>();

  function compareOne(key: string, session: SessionView): void {
    const text = JSON.stringify(session);
    const before = sent.get(key);
    if (text === before) return;
    sent.set(key, text);
    publish({ event: before === undefined ? "session-appeared" : "session-updated", data: { session } });
  }

  return {
    assume(sessions) {
      for (const session of sessions) sent.set(viewKeyOf(session), JSON.stringify(session));
    },
    compare(keys) {
      for (const key of keys) {
        const session = options.findSession(key);
        if (session) compareOne(key, session);
      }
    },
    compareAll() {
      const known = new Set<string>();
      for (const session of options.sessions()) {
        const key = viewKeyOf(session);
        known.add(key);
        compareOne(key, session);
      }
      for (const key of [...sent.keys()]) {
        if (known.has(key)) continue;
        sent.delete(key);
        publish({ event: "session-departed", data: { key } });
      }
    },
    forget: (key) => void sent.delete(key),
    clear: () => sent.clear(),
  };
}
