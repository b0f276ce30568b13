/**
 * Follows a fleet: the log of all machines, who is there, and what is asked of this machine, over one connection that waits for news. When
 * it opens, what was said meanwhile is read first, then the latest states of each machine; so nothing is missed, and nothing is shown that
 * is over.
 */

import type { Schedule } from "../../core/interfaces/index.ts";
import { isRecord } from "../../core/json.ts";
import { type Attempt, keepConnected } from "../../system/keep-connected.ts";
import type { DescribedSession } from "../protocol.ts";
import type { FleetRecord } from "./fleet-file.ts";
import { readEpochKeys } from "./fleet-file.ts";
import type { LatestStates, NumberedText, Peer } from "./peer.ts";
import { createPlaces } from "./places.ts";
import { type Redis, RedisProblem } from "./redis.ts";
import type { Dropped } from "./report.ts";
import { createOpener, type SealedEntry, type SealedPlace } from "./seal.ts";
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
  /** Its state has changed. */
  readonly onChange: () => void;
  readonly onProblem: (text: string) => void;
  /** Where an earlier run has stopped; null if there was none. */
  readonly position: string | null;
  readonly schedule: Schedule;
}

export interface FleetReader {
  /** The last entry of the log that was read; null if none. */
  position(): string | null;
  isConnected(): boolean;
  problem(): string | null;
  dropped(): ReadonlyMap<Dropped, number>;
  retryNow(): void;
  stop(): Promise<void>;
}

type StreamEntry = readonly [id: string, sealed: string];

const backoff = { firstMs: 500, maxMs: 15_000, jitter: 0.3 };
/** How long a read waits for news. */
const blockMs = 5_000;
const answerMs = 5_000;
const readCount = 500;
/** Machines whose states are read at once. */
const loadCount = 32;
/** More than a pulse can take: a server that lies about it cannot make a request count for long. */
const maxAgoMs = 15_000;
const start = "0-0";

export function createFleetReader(options: ReaderOptions): FleetReader {
  const { fleet } = options;
  const { id, machine: own } = fleet();
  const places = createPlaces(id);
  const requests = places.requestsTo(own);
  const positions = new Map([
    [places.log, options.position ?? ""],
    [places.pulses, start],
    [requests, start],
  ]);
  const dropped = new Map<Dropped, number>();
  /** The last request of each machine. */
  const lastRequests = new Map<string, number>();
  const opener = createOpener({
    fleet: id,
    keys: () => keys(),
    findMember: (machine) => fleet().members.members.find((member) => member.id === machine)?.signing ?? null,
  });
  let isConnected = false;
  /** Reading the keys takes longer than opening an entry. */
  let known: { readonly from: FleetRecord; readonly keys: ReturnType<typeof readEpochKeys> } | null = null;

  function keys() {
    const from = fleet();
    if (known?.from !== from) known = { from, keys: readEpochKeys(from) };
    return known.keys;
  }

  const drop = (why: Dropped, count = 1): void => {
    if (count > 0) dropped.set(why, (dropped.get(why) ?? 0) + count);
  };

  /** Entries of machines or keys that are not known yet are tried again once the list of members is read. */
  async function openAll(
    redis: Redis,
    place: SealedPlace,
    entries: readonly StreamEntry[],
  ): Promise<[SealedEntry, string][]> {
    const open = (sealed: string) => opener.open(place, Buffer.from(sealed, "base64"));
    let first = entries.map(([at, sealed]) => ({ at, sealed, opened: open(sealed) }));
    if (first.some(({ opened }) => opened === "not a member" || opened === "unknown key")) {
      await options.readMembers(redis);
      first = first.map((each) =>
        typeof each.opened === "string" ? { ...each, opened: open(each.sealed) } : each,
      );
    }
    return first.flatMap(({ at, opened }): [SealedEntry, string][] => {
      if (typeof opened !== "string") return opened.machine === own ? [] : [[opened, at]];
      drop(opened);
      return [];
    });
  }

  async function takeLog(redis: Redis, entries: readonly StreamEntry[]): Promise<void> {
    const texts = new Map<Peer, NumberedText[]>();
    for (const [{ machine, number, text }] of await openAll(redis, "log", entries)) {
      const peer = options.peerOf(machine);
      const parsed = parseLogText(text);
      if (!parsed) drop("not valid");
      if (!peer || !parsed) continue;
      const list = texts.get(peer) ?? [];
      texts.set(peer, list);
      list.push({ ...parsed, number });
    }
    for (const [peer, list] of texts) drop("repeated", peer.take(list));
  }

  /** `serverAt`: the server's clock, if the entries may be old. */
  async function takePulses(
    redis: Redis,
    entries: readonly StreamEntry[],
    serverAt: number | null,
  ): Promise<void> {
    for (const [{ machine, number, text }, at] of await openAll(redis, "pulse", entries)) {
      const pulse = parsePulse(text);
      const agoMs = serverAt === null ? 0 : Math.min(Math.max(0, serverAt - timeOfId(at)), maxAgoMs);
      if (!pulse) drop("not valid");
      else if (options.peerOf(machine)?.takePulse(number, pulse, agoMs) === false && serverAt === null)
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

  /** What there is after the positions; null if nothing came in time. */
  async function read(redis: Redis, streams: readonly string[], waitMs: number | null) {
    const block = waitMs === null ? [] : ["BLOCK", String(waitMs)];
    const from = streams.map((stream) => positions.get(stream) || start);
    const args = ["COUNT", String(readCount), ...block, "STREAMS", ...streams, ...from];
    const reply = await redis.send("XREAD", args, (waitMs ?? 0) + answerMs);
    const found = isRecord(reply) ? reply : {};
    for (const stream of streams) {
      const last = readEntries(found[stream]).at(-1);
      if (last) positions.set(stream, last[0]);
    }
    return (stream: string) => readEntries(found[stream]);
  }

  /** What was said since the last time, for the history; and who is there. */
  async function catchUp(redis: Redis): Promise<void> {
    const last = readEntries(await redis.send("XREVRANGE", [places.log, "+", "-", "COUNT", "1"])).at(0)?.[0];
    const end = last ?? start;
    const position = positions.get(places.log) ?? "";
    if (position === "") positions.set(places.log, end);
    // The server has lost its data, and counts from its clock again.
    else if (compareIds(end, position) < 0) positions.set(places.log, start);
    while (compareIds(positions.get(places.log) ?? start, end) < 0) {
      const entries = (await read(redis, [places.log], null))(places.log);
      if (entries.length === 0) break;
      await takeLog(redis, entries);
    }
    positions.set(places.pulses, start);
    const serverAt = readTime(await redis.send("TIME", []));
    for (;;) {
      const entries = (await read(redis, [places.pulses], null))(places.pulses);
      if (entries.length === 0) break;
      await takePulses(redis, entries, serverAt);
    }
  }

  async function loadLatest(redis: Redis): Promise<void> {
    const needed = [...options.peers()].filter(([, peer]) => peer.needsLatest());
    for (let first = 0; first < needed.length; first += loadCount)
      await Promise.all(
        needed.slice(first, first + loadCount).map(async ([machine, peer]) => {
          const all = await redis.send("HGETALL", [places.nowOf(machine)]);
          drop("repeated", peer.takeLatest(readLatest(machine, Object.values(isRecord(all) ? all : {}))));
        }),
      );
  }

  function readLatest(machine: string, values: readonly unknown[]): LatestStates | null {
    let hello: LatestStates["hello"] | null = null;
    const sessions: { readonly number: number; readonly described: DescribedSession }[] = [];
    let newest = 0;
    for (const sealed of values) {
      const opened = opener.open("log", Buffer.from(String(sealed), "base64"));
      const parsed = typeof opened === "string" ? null : parseLogText(opened.text);
      if (typeof opened === "string") drop(opened);
      else if (opened.machine !== machine || !parsed) drop("not valid");
      else {
        const { message } = parsed;
        newest = Math.max(newest, opened.number);
        if (message.kind === "hello") hello = message;
        if (message.kind === "session")
          sessions.push({ number: opened.number, described: message.described });
      }
    }
    return hello && { hello, sessions, number: newest };
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
      options.onConnected();
      while (!signal.aborted) {
        await loadLatest(redis);
        const reading = read(redis, [places.log, places.pulses, requests], blockMs);
        reading.catch(() => {});
        const found = await Promise.race([reading, over.promise]);
        await takePulses(redis, found(places.pulses), null);
        await takeLog(redis, found(places.log));
        await takeRequests(redis, found(requests));
        for (const peer of options.peers().values()) peer.checkPulse();
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
    position: () => positions.get(places.log) || null,
    isConnected: () => isConnected,
    problem: connection.problem,
    dropped: () => dropped,
    retryNow: connection.retryNow,
    stop: connection.stop,
  };

  function readTime(reply: unknown): number {
    const [seconds, micros] = Array.isArray(reply) ? reply.map(Number) : [];
    if (seconds === undefined || micros === undefined || !Number.isFinite(seconds + micros))
      throw new RedisProblem("it does not say what time it is");
    return seconds * 1_000 + micros / 1_000;
  }
}

/** Entries of a stream have one field: what is sealed. */
function readEntries(reply: unknown): StreamEntry[] {
  if (!Array.isArray(reply)) return [];
  return reply.flatMap((entry: unknown): StreamEntry[] => {
    const [at, fields] = Array.isArray(entry) ? entry : [];
    return typeof at === "string" ? [[at, Array.isArray(fields) ? String(fields[1]) : ""]] : [];
  });
}

/** The server's clock when it got the entry. */
const timeOfId = (streamId: string): number => Number(streamId.split("-")[0]);

function compareIds(a: string, b: string): number {
  const [atA = 0, seqA = 0] = a.split("-").map(Number);
  const [atB = 0, seqB = 0] = b.split("-").map(Number);
  return atA - atB || seqA - seqB;
}
