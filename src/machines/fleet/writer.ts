/** What this machine says to a fleet: what is new about its sessions, as far as the others may see it. delivery.ts brings it there. */
import type { SessionChange, Transition } from "../../core/interfaces/index.ts";
import type { JsonRecord } from "../../core/json.ts";
import { isProbe } from "../../core/session/probe.ts";
import type { Session } from "../../core/session/session.ts";
import { parseSessionKey, type SessionRefLike, sessionKeyOf } from "../../core/session/session-ref.ts";
import { minuteMs } from "../../core/timing.ts";
import { chooseSessions, describeWithin } from "../described.ts";
import type { DescribedSession, OwnerMessage } from "../protocol.ts";
import { createSessionNews, type SessionNewsOptions } from "../session-news.ts";
import { createFleetDelivery, type FleetDelivery, type FleetDeliveryOptions } from "./delivery.ts";
import { createOutbox } from "./outbox.ts";
import { shareOf } from "./share.ts";

export interface WriterOptions
  extends Pick<SessionNewsOptions<never>, "get" | "pending" | "onProblem">,
    Omit<FleetDeliveryOptions, "outbox" | "nextNumber" | "describeAll"> {
  /** This machine's own sessions. */
  readonly sessions: () => readonly Session[];
  /** What the others may see of a session. */
  readonly share: (described: DescribedSession) => DescribedSession;
  /** What `save` returned in an earlier run. */
  readonly saved: JsonRecord;
  /** Something waits, or was written. */
  readonly onChange: () => void;
}

export interface FleetWriter
  extends Pick<FleetDelivery, "post" | "flush" | "check" | "lastWritten" | "problem" | "stop"> {
  onChange(change: Pick<SessionChange, "session">): void;
  onTransition(transition: Transition): void;
  /** What can be answered may have changed. */
  onRefresh(): void;
  /** The number of the next entry. */
  nextNumber(): number;
  /** Changes that the server does not have yet. */
  waiting(): number;
  save(): JsonRecord;
}

export function createFleetWriter(options: WriterOptions): FleetWriter {
  const { fleet, clock } = options;
  const outbox = createOutbox(Array.isArray(options.saved.outbox) ? options.saved.outbox : []);
  const lastSaved = typeof options.saved.lastNumber === "number" ? options.saved.lastNumber : 0;
  let isStopped = false;
  const news = createSessionNews<never>({
    ...options,
    // The clock was set back. The file is saved now and then: a minute after its number is after anything that was written.
    ...(lastSaved > clock().at * 1_000 ? { lastSeq: lastSaved + minuteMs * 1_000 } : {}),
    isFollowed: () => !isStopped,
    tell,
  });
  const delivery = createFleetDelivery({ ...options, outbox, nextNumber: news.nextSeq, describeAll });
  /** Hashes of what the others know about each session, as they see it. */
  const told = new Map<string, number | bigint>();

  /** False if the others know that already. */
  function setTold(key: string, described: DescribedSession): boolean {
    const hash = Bun.hash(JSON.stringify(described));
    if (told.get(key) === hash) return false;
    told.set(key, hash);
    return true;
  }

  function add(message: OwnerMessage, number: number, key: string | null): void {
    const { at, t } = clock();
    outbox.add({ number, at, t, key, message });
    options.onChange();
    delivery.flush();
  }

  function tell(message: OwnerMessage, session: SessionRefLike): void {
    if (isProbe(session) || !("seq" in message)) return;
    const key = sessionKeyOf(session);
    if (message.kind === "session") {
      const described = options.share(message.described);
      if (setTold(key, described)) add({ ...message, described }, message.seq, key);
      return;
    }
    if (message.kind === "gone") told.delete(key);
    // Where somebody answered names their other machines and chats.
    const isHidden = message.kind === "ask-ended" && shareOf(fleet()) !== "full";
    add(isHidden ? { ...message, where: null } : message, message.seq, key);
  }

  function forget(key: string): void {
    news.onDeparted(key);
    // It has not changed since all sessions were written.
    const ref = told.has(key) && parseSessionKey(key);
    if (!ref) return;
    told.delete(key);
    const seq = news.nextSeq();
    add({ kind: "gone", seq, agent: ref.agent, sessionId: ref.sessionId }, seq, key);
  }

  function describeAll(): ReadonlyMap<string, DescribedSession> {
    const all = new Map<string, DescribedSession>();
    for (const session of chooseSessions(options.sessions())) {
      const described = options.share(describeWithin(session, clock().t, options.pending).described);
      all.set(sessionKeyOf(session), described);
      setTold(sessionKeyOf(session), described);
    }
    return all;
  }

  return {
    ...delivery,
    onChange: ({ session }) => news.onChange(session),
    onTransition(transition) {
      if (transition.kind === "departed") forget(transition.key);
      if (transition.kind === "ask-opened") news.onAskOpened(transition.session);
      if (transition.kind === "ask-ended") news.onAskEnded(transition);
    },
    onRefresh() {
      for (const session of options.sessions()) if (session.asks.length > 0) news.onChange(session);
    },
    nextNumber: news.nextSeq,
    waiting: outbox.size,
    save: () => ({ outbox: outbox.save(), lastNumber: news.nextSeq() }),
    stop() {
      isStopped = true;
      delivery.stop();
      news.clear();
    },
  };
}
