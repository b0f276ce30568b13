/**
 * Writes to a fleet what is new about this machine's sessions: to the log, which everybody follows, and to the hash of the latest states,
 * for those that come later. A change counts as published once the server has both. Until then it waits in the outbox.
 */
import { createHmac } from "node:crypto";
import { computeRetryMs } from "../../core/backoff.ts";
import { readErrorMessage } from "../../core/error-message.ts";
import type { Schedule, SessionChange, Transition } from "../../core/interfaces/index.ts";
import { isRecord, type JsonRecord } from "../../core/json.ts";
import { isProbe } from "../../core/session/probe.ts";
import type { Session } from "../../core/session/session.ts";
import { parseSessionKey, type SessionRefLike, sessionKeyOf } from "../../core/session/session-ref.ts";
import { minuteMs } from "../../core/timing.ts";
import type { Hello } from "../carrier.ts";
import { chooseSessions, describeWithin } from "../described.ts";
import type { DescribedSession, OwnerMessage } from "../protocol.ts";
import { createSessionNews, type SessionNewsOptions } from "../session-news.ts";
import { type FleetRecord, readEpochKeys } from "./fleet-file.ts";
import { createOutbox, type Outgoing } from "./outbox.ts";
import { createPlaces } from "./places.ts";
import { type Redis, RedisProblem } from "./redis.ts";
import { createSealer, type SealedPlace } from "./seal.ts";
import { shareOf } from "./share.ts";
import { formatText, type LogHead } from "./wire.ts";

export interface WriterOptions
  extends Pick<SessionNewsOptions<never>, "clock" | "get" | "pending" | "onProblem"> {
  readonly fleet: () => FleetRecord;
  readonly redis: Redis;
  /** This machine's own sessions. */
  readonly sessions: () => readonly Session[];
  readonly hello: () => Hello;
  /** What the others may see of a session. */
  readonly share: (described: DescribedSession) => DescribedSession;
  /** How many entries the log keeps, about. */
  readonly maxEntries: () => number;
  /** What `save` returned in an earlier run. */
  readonly saved: JsonRecord;
  /** Something waits, or was written. */
  readonly onChange: () => void;
  readonly schedule: Schedule;
}

export interface FleetWriter {
  onChange(change: Pick<SessionChange, "session">): void;
  onTransition(transition: Transition): void;
  /** What can be answered may have changed. */
  onRefresh(): void;
  /** Writes an entry that only matters now. Rejects if it cannot be written. */
  post(place: SealedPlace, stream: string, text: string, maxEntries: number): Promise<void>;
  /** Tries now what waits. */
  flush(): void;
  /** Changes that the server does not have yet. */
  waiting(): number;
  /** Why the server has not taken the last change; null if it has. */
  problem(): string | null;
  save(): JsonRecord;
  stop(): void;
}

const backoff = { firstMs: 500, maxMs: 15_000, jitter: 0.3 };
/** Written in one go. */
const batchSize = 64;
const helloField = "hello";

export function createFleetWriter(options: WriterOptions): FleetWriter {
  const { fleet, redis, clock, schedule } = options;
  const { id, machine, keys } = fleet();
  const places = createPlaces(id);
  const now = places.nowOf(machine);
  const sealer = createSealer(id, machine, keys);
  const outbox = createOutbox(Array.isArray(options.saved.outbox) ? options.saved.outbox : []);
  const lastSaved = typeof options.saved.lastNumber === "number" ? options.saved.lastNumber : 0;
  const news = createSessionNews<never>({
    ...options,
    // The clock was set back. The file is saved now and then: a minute after its number is after anything that was written.
    ...(lastSaved > clock().at * 1_000 ? { lastSeq: lastSaved + minuteMs * 1_000 } : {}),
    isFollowed: () => !isStopped,
    tell,
  });
  /** Hashes of what the others know about each session, as they see it. */
  const told = new Map<string, number | bigint>();
  /** Hashes of what the server's hash has, by its fields. */
  const written = new Map<string, number | bigint>();
  let lastNumber: number | null = null;
  /** The server's hash has everything that was told. */
  let isWhole = false;
  let isFlushing = false;
  let isStopped = false;
  let failures = 0;
  let problem: string | null = null;
  let cancelRetry = () => {};

  /** A name that says nothing about the session. */
  const fieldOf = (key: string): string =>
    createHmac("sha256", keys.secretSigning).update(`${id} ${key}`).digest("base64url").slice(0, 22);

  function seal(place: SealedPlace, number: number, text: string): string {
    const record = fleet();
    const { epoch } = record.members;
    const key = readEpochKeys(record).get(epoch);
    if (!key) throw new RedisProblem("this machine has no key of the fleet", true);
    return sealer.seal(place, { number, text }, epoch, key).toString("base64");
  }

  function add(message: OwnerMessage, number: number, key: string | null): void {
    const { at, t } = clock();
    outbox.add({ number, at, t, key, message });
    options.onChange();
    void flush();
  }

  function tell(message: OwnerMessage, session: SessionRefLike): void {
    if (isProbe(session) || !("seq" in message)) return;
    const key = sessionKeyOf(session);
    if (message.kind !== "session") {
      if (message.kind === "gone") told.delete(key);
      // Where somebody answered names their other machines and chats.
      const isHidden = message.kind === "ask-ended" && shareOf(fleet()) !== "full";
      add(isHidden ? { ...message, where: null } : message, message.seq, key);
      return;
    }
    const described = options.share(message.described);
    const hash = Bun.hash(JSON.stringify(described));
    if (told.get(key) === hash) return;
    told.set(key, hash);
    add({ ...message, described }, message.seq, key);
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

  /** One at a time, until nothing waits. */
  async function flush(): Promise<void> {
    if (isFlushing || isStopped) return;
    isFlushing = true;
    cancelRetry();
    try {
      // First: what waits is older than the states that the server gets then.
      while (outbox.size() > 0 && !isStopped) await writeBatch();
      if (!isWhole && !isStopped) await writeAll();
      failures = 0;
      problem = null;
    } catch (error) {
      isWhole = false;
      failures++;
      problem = readErrorMessage(error);
      const retryMs = computeRetryMs(backoff, failures, { retryAfterMs: null, random: Math.random() });
      cancelRetry = schedule(() => void flush(), retryMs);
    } finally {
      isFlushing = false;
      options.onChange();
    }
    if (problem === null && outbox.size() > 0) void flush();
  }

  async function writeBatch(): Promise<void> {
    const batch = outbox.first(batchSize);
    let before = lastNumber;
    const commands: Promise<unknown>[] = [];
    for (const outgoing of batch) {
      const { at, t, number, message } = outgoing;
      const head: LogHead = { at, t, before, ...(outbox.isLate(outgoing) ? { isLate: true as const } : {}) };
      before = number;
      const sealed = seal("log", number, formatText(head, message));
      commands.push(...writeState(outgoing, sealed), appendTo(places.log, sealed, options.maxEntries()));
    }
    await Promise.all(commands);
    lastNumber = before;
    outbox.drop(batch.length);
  }

  /** First the state: who reads the log to its end, and then the states, has missed nothing. */
  function writeState({ key, message }: Outgoing, sealed: string): Promise<unknown>[] {
    if (key === null || (message.kind !== "session" && message.kind !== "gone")) return [];
    const field = fieldOf(key);
    if (message.kind === "gone") {
      written.delete(field);
      return [redis.send("HDEL", [now, field])];
    }
    written.set(field, Bun.hash(sealed));
    return [redis.send("HSET", [now, field, sealed])];
  }

  const appendTo = (stream: string, sealed: string, maxEntries: number): Promise<unknown> =>
    redis.send("XADD", [stream, "MAXLEN", "~", String(maxEntries), "*", "e", sealed]);

  /** Every session as it is now, unless the server has that already. Then a hello, at which the others read all of it. */
  async function writeAll(): Promise<void> {
    if (await hasAll()) {
      isWhole = true;
      return;
    }
    written.clear();
    const { at, t } = clock();
    const states = chooseSessions(options.sessions()).map((session) => {
      const { described: whole } = describeWithin(session, t, options.pending);
      const described = options.share(whole);
      const key = sessionKeyOf(session);
      told.set(key, Bun.hash(JSON.stringify(described)));
      const number = news.nextSeq();
      const head: LogHead = { at, t, before: null };
      const sealed = seal("log", number, formatText(head, { kind: "session", seq: number, described }));
      written.set(fieldOf(key), Bun.hash(sealed));
      return [fieldOf(key), sealed];
    });
    const number = news.nextSeq();
    const hello = seal("log", number, formatText({ at, t, before: null } satisfies LogHead, options.hello()));
    written.set(helloField, Bun.hash(hello));
    await Promise.all([
      redis.send("DEL", [now]),
      ...(states.length === 0 ? [] : [redis.send("HSET", [now, ...states.flat()])]),
      redis.send("HSET", [now, helloField, hello]),
      appendTo(places.log, hello, options.maxEntries()),
    ]);
    lastNumber = number;
    isWhole = true;
  }

  async function hasAll(): Promise<boolean> {
    if (written.size === 0) return false;
    const all = await redis.send("HGETALL", [now]);
    const found = Object.entries(isRecord(all) ? all : {});
    return (
      found.length === written.size &&
      found.every(([field, sealed]) => written.get(field) === Bun.hash(String(sealed)))
    );
  }

  return {
    onChange: ({ session }) => news.onChange(session),
    onTransition(transition) {
      if (transition.kind === "departed") forget(transition.key);
      if (transition.kind === "ask-ended") news.onAskEnded(transition);
    },
    onRefresh() {
      for (const session of options.sessions()) if (session.asks.length > 0) news.onChange(session);
    },
    async post(place, stream, text, maxEntries) {
      await appendTo(stream, seal(place, news.nextSeq(), text), maxEntries);
    },
    flush: () => void flush(),
    waiting: outbox.size,
    problem: () => problem,
    save: () => ({ outbox: outbox.save(), lastNumber: news.nextSeq() }),
    stop() {
      isStopped = true;
      cancelRetry();
      news.clear();
    },
  };
}
