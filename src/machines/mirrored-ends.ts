/** How the asks of another machine's sessions ended: it describes a session without an ask first, and then says why. */
import { inTerminal, nameEnding } from "../core/answers/words.ts";
import { forgetOldest } from "../core/forget-oldest.ts";
import type { AskEnd } from "../core/interfaces/index.ts";
import type { PastAsk } from "../core/interfaces/wire.ts";
import { createAskAlertKey } from "../core/session/keys.ts";
import type { Ask, Session } from "../core/session/session.ts";
import { truncateEnd } from "../core/text/text.ts";
import { readEnding } from "./past-session.ts";
import type { OwnerMessage } from "./protocol.ts";

export interface MirroredEndsOptions {
  /** The user's name for the machine. */
  readonly machine: string;
  /** Wall time. */
  readonly now: () => number;
  readonly onAskEnded: (end: AskEnd) => void;
}

type EndMessage = Omit<Extract<OwnerMessage, { kind: "ask-ended" }>, "kind" | "seq">;

export interface MirroredEnds {
  /** The session is described without the ask. */
  close(session: Session, ask: Ask): void;
  /** What its history has of asks, from while it was not linked. */
  takeMissed(asks: readonly PastAsk[]): void;
  take(end: EndMessage): void;
  clear(): void;
}

/** A machine that never says how its asks ended must not fill the memory. */
const maxClosedAsks = 1_000;
const maxWhereWidth = 100;

export function createMirroredEnds({ machine, now, onAskEnded }: MirroredEndsOptions): MirroredEnds {
  /** Until it is known how they ended. */
  const closed = new Map<string, { readonly session: Session; readonly ask: Ask }>();
  /** By their requests. */
  const missed = new Map<string, PastAsk>();

  function endMissed(session: Session, { id, request }: Ask): void {
    const ended = missed.get(request ?? "");
    const { agent, sessionId } = session;
    if (ended) take({ agent, sessionId, ask: id, how: ended.how ?? "dismissed", where: ended.place });
  }

  function take({ agent, sessionId, ask: askId, how: name, where }: EndMessage): void {
    const key = createAskAlertKey({ machine, agent, sessionId }, askId);
    const found = closed.get(key);
    closed.delete(key);
    if (!found) return;
    const how = readEnding(name);
    const outcome = nameEnding(how, found.ask.kind);
    const by = where === "terminal" ? inTerminal : where && truncateEnd(where, maxWhereWidth);
    onAskEnded({ ...found, how, outcome, by, at: now() });
  }

  return {
    close(session, ask) {
      closed.set(createAskAlertKey(session, ask.id), { session, ask });
      forgetOldest(closed, maxClosedAsks);
      endMissed(session, ask);
    },
    takeMissed(asks) {
      for (const ask of asks) if (ask.request !== null && ask.closedAt !== null) missed.set(ask.request, ask);
      forgetOldest(missed, maxClosedAsks);
      for (const { session, ask } of [...closed.values()]) endMissed(session, ask);
    },
    take,
    clear() {
      closed.clear();
      missed.clear();
    },
  };
}
