/** How new the states are that are known of a machine's sessions: the server can hand out older ones. */

import { forgetOldest } from "../../core/forget-oldest.ts";
import { sessionKeyOf } from "../../core/session/session-ref.ts";
import { type DescribedSession, maxMirroredSessions, type OwnerMessage } from "../protocol.ts";

/** A state, with the number of its entry. */
export interface NumberedState {
  readonly number: number;
  readonly described: DescribedSession;
}

export interface KnownStates {
  /** This is the newest about its session, if it is about the state of one. */
  remember(message: OwnerMessage, number: number): void;
  /** The newest state of each session that is not older than what is known of it. */
  choose(states: readonly NumberedState[]): readonly NumberedState[];
  /** For `saved` in a later run. */
  save(): Readonly<Record<string, number>>;
}

/** Also of sessions that are gone. */
const maxKnown = 2 * maxMirroredSessions;

export function createKnownStates(saved: Readonly<Record<string, unknown>>): KnownStates {
  const newest = new Map(
    Object.entries(saved).flatMap(([key, number]): [string, number][] =>
      typeof number === "number" ? [[key, number]] : [],
    ),
  );

  function set(key: string, number: number): void {
    newest.delete(key);
    newest.set(key, number);
    forgetOldest(newest, maxKnown);
  }

  return {
    remember(message, number) {
      const key = stateKeyOf(message);
      if (key !== null) set(key, number);
    },
    choose(states) {
      const chosen = new Map<string, NumberedState>();
      for (const state of states) {
        const key = keyOf(state.described);
        const known = Math.max(newest.get(key) ?? 0, chosen.get(key)?.number ?? 0);
        if (state.number >= known) chosen.set(key, state);
      }
      for (const [key, { number }] of chosen) set(key, number);
      return [...chosen.values()];
    },
    save: () => Object.fromEntries(newest),
  };
}

/** The session whose state the message is; null if it is none. */
export function stateKeyOf(message: OwnerMessage): string | null {
  if (message.kind === "gone") return sessionKeyOf(message);
  return message.kind === "session" ? keyOf(message.described) : null;
}

const keyOf = ({ session: { agent, sessionId } }: DescribedSession): string =>
  sessionKeyOf({ agent: String(agent), sessionId: String(sessionId) });
