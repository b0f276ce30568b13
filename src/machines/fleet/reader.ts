/**
 * Follows a fleet: the log of all machines, who is there, and what is asked of this machine, over one connection that waits for news. When
 * it opens, what was said meanwhile is read first, then the latest states of each machine; so nothing is missed, and nothing is shown that
 * is over.
 */
import type { Schedule } from "../../core/interfaces/index.ts";
import { isRecord } from "../../core/json.ts";
import { type Attempt, keepConnected } from "../../system/keep-connected.ts";
import type { FleetRecord } from "./fleet-file.ts";
import { createEntryOpener, type EntryOpener } from "./opened-entries.ts";
import { catchUpMs, type NumberedText, type Peer } from "./peer.ts";
import { createPlaces } from "./places.ts";
import { type Redis, RedisProblem } from "./redis.ts";
import type { SealedPlace } from "./seal.ts";
import {
  createStreamPositions,
  readCount,
  readServerTime,
  type StreamEntry,
  timeOfId,
} from "./stream-positions.ts";
import { parseLogText, parsePulse, parseRequestText, type RequestText } from "./wire.ts";

export interface ReaderOptions {
  readonly fleet: () => FleetRecord;
  readonly openRedis: () => Redis;
  /** Reads who belongs to the fleet now. Rejects if this machine does not any more. */
  readonly readMembers: (redis: Redis) => Promise<void>;
  /** null if there is no such member, or it is this machine. */
  readonly peerOf: (machine: string) => Peer | null;
  readonly peers: () => ReadonlyMap<string, Peer>;
  /** Something that is asked of this machine. */
  readonly onRequest: (machine: string, text: Extract<RequestText, { request: unknown }>) => void;
  readonly onConnected: () => void;
  /** `position`, and what the peers know, have changed. */
  readonly onRead: () => void;
  /** Its state has changed. */
  readonly onChange: () => void;
  readonly onProblem: (text: string) => void;
  /** Where an earlier run has stopped; null if there was none. */
  readonly position: string | null;
  readonly schedule: Schedule;
}

export interface FleetReader {
  /** The last entry of the log that the peers know; null if none. */
  position(): string | null;
  isConnected(): boolean;
  problem(): string | null;
  readonly dropped: EntryOpener["dropped"];
  stop(): Promise<void>;
}

const backoff = { firstMs: 500, maxMs: 15_000, jitter: 0.3 };
/** How long a read waits for news. */
const blockMs = 5_000;
/** Machines whose states are read at once. */
const loadCount = 32;
/** How often it is looked at every machine. */
const lookMs = 1_000;
/** More than a pulse can take: a server that lies about it cannot make a request count for long. */
const maxAgoMs = 15_000;

export function createFleetReader(options: ReaderOptions): FleetReader {
  const { id, machine: own } = options.fleet();
  const { log, pulses, requestsTo, nowOf } = createPlaces(id);
  const requests = requestsTo(own);
  const positions = createStreamPositions(options.position === null ? {} : { [log]: options.position });
  const opener = createEntryOpener(options.fleet);
  const { drop } = opener;
  /** The last request of each machine. */
  const lastRequests = new Map<string, number>();
  /** Machines that have said something since it was looked whether their latest states are needed. */
  const heard = new Set<string>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isConnected = false;
  let wasConnected = false;
  let { position } = options;

  const openAll = (redis: Redis, place: SealedPlace, entries: readonly StreamEntry[]) =>
    opener.openAll(place, entries, () => options.readMembers(redis));

  async function takeLog(redis: Redis, entries: readonly StreamEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const texts = new Map<Peer, NumberedText[]>();
    for (const [{ machine, number, text }] of await openAll(redis, "log", entries)) {
      const peer = options.peerOf(machine);
      const parsed = parseLogText(text);
      if (!parsed) drop("not valid");
      if (!peer || !parsed) continue;
      heard.add(machine);
      const list = texts.get(peer) ?? [];
      texts.set(peer, list);
      list.push({ ...parsed, number });
    }
    for (const [peer, list] of texts) drop("repeated", peer.take(list));
    position = entries.at(-1)?.[0] ?? position;
    options.onRead();
  }

  /** `serverAt`: the server's clock, if the entries may be old. `isLogRead`: there is nothing in the log that they could follow. */
  async function takePulses(
    redis: Redis,
    entries: readonly StreamEntry[],
    serverAt: number | null,
    isLogRead: boolean,
  ): Promise<void> {
    for (const [{ machine, number, text }, at] of await openAll(redis, "pulse", entries)) {
      const pulse = parsePulse(text);
      heard.add(machine);
      const agoMs = serverAt === null ? 0 : Math.min(Math.max(0, serverAt - timeOfId(at)), maxAgoMs);
      if (!pulse) drop("not valid");
      else if (
        options.peerOf(machine)?.takePulse(number, pulse, agoMs, isLogRead) === false &&
        serverAt === null
      )
        drop("repeated");
    }
  }

  async function takeRequests(redis: Redis, entries: readonly StreamEntry[]): Promise<void> {
    for (const [{ machine, number, text }] of await openAll(redis, "request", entries)) {
      const parsed = parseRequestText(text);
      if (!parsed) drop("not valid");
      else if (parsed.head.to !== own) drop("not for this machine");
      else if (number <= (lastRequests.get(machine) ?? 0)) drop("repeated");
      else {
        lastRequests.set(machine, number);
        if ("reply" in parsed) options.peerOf(machine)?.takeReply(parsed.reply);
        else options.onRequest(machine, parsed);
      }
    }
  }

  /** What was said since the last time, for the history; and who is there. */
  async function catchUp(redis: Redis): Promise<void> {
    // The connection may have been lost before what was read last was taken.
    if (position !== null) positions.rewind(log, position);
    const end = await positions.resume(redis, log);
    position = positions.get(log);
    while (positions.isBefore(log, end)) {
      const entries = (await positions.read(redis, [log], null))(log);
      if (entries.length === 0) break;
      await takeLog(redis, entries);
    }
    positions.rewind(pulses);
    const serverAt = await readServerTime(redis);
    for (;;) {
      const entries = (await positions.read(redis, [pulses], null))(pulses);
      if (entries.length === 0) break;
      await takePulses(redis, entries, serverAt, false);
    }
  }

  async function loadLatest(redis: Redis): Promise<void> {
    const needed = findHeard().filter(([, peer]) => peer.needsLatest());
    for (let first = 0; first < needed.length; first += loadCount)
      await Promise.all(
        needed.slice(first, first + loadCount).map(async ([machine, peer]) => {
          const all = await redis.send("HGETALL", [nowOf(machine)]);
          const values = Object.values(isRecord(all) ? all : {});
          const latest = await opener.openLatest(machine, values);
          // It may have been removed meanwhile.
          if (options.peerOf(machine) === peer) drop("repeated", peer.takeLatest(latest));
        }),
      );
    if (needed.length > 0) options.onRead();
  }

  /** All of them now and then: with hundreds, looking at each after each read would cost more than what was read. */
  function findHeard(): (readonly [string, Peer])[] {
    const names = [...heard];
    heard.clear();
    if (performance.now() - lookedAt > lookMs) {
      lookedAt = performance.now();
      for (const peer of options.peers().values()) peer.checkPulse();
      return [...options.peers()];
    }
    return names.flatMap((machine) => {
      const peer = options.peerOf(machine);
      return peer ? [[machine, peer] as const] : [];
    });
  }

  async function connect({ signal, onConnected }: Attempt): Promise<void> {
    const redis = options.openRedis();
    // A read that waits for news does not end when its connection is closed.
    const over = Promise.withResolvers<never>();
    over.promise.catch(() => {});
    const end = () => {
      redis.close();
      over.reject(new RedisProblem("it was stopped"));
    };
    signal.addEventListener("abort", end);
    try {
      await options.readMembers(redis);
      await catchUp(redis);
      onConnected();
      isConnected = true;
      lookedAt = Number.NEGATIVE_INFINITY;
      // If the server was away, the others have yet to say what is over.
      const loadAt = performance.now() + (wasConnected ? catchUpMs : 0);
      wasConnected = true;
      options.onConnected();
      while (!signal.aborted) {
        const waitMs = Math.ceil(loadAt - performance.now());
        if (waitMs <= 0) await loadLatest(redis);
        const reading = positions.read(redis, [log, pulses, requests], waitMs > 0 ? waitMs : blockMs);
        reading.catch(() => {});
        const found = await Promise.race([reading, over.promise]);
        await takeLog(redis, found(log));
        await takePulses(redis, found(pulses), null, found(log).length < readCount);
        await takeRequests(redis, found(requests));
      }
    } finally {
      redis.close();
      signal.removeEventListener("abort", end);
      isConnected = false;
      for (const peer of options.peers().values()) peer.lose(null);
      options.onChange();
    }
  }

  const connection = keepConnected({
    connect,
    backoff,
    // A wrong password or a missing right may be put right at the server.
    permanentRetryMs: 60_000,
    schedule: options.schedule,
    onFailure: options.onChange,
    onProblem: options.onProblem,
  });
  return {
    position: () => position,
    isConnected: () => isConnected,
    problem: connection.problem,
    dropped: opener.dropped,
    stop: connection.stop,
  };
}
