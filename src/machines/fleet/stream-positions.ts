/** Streams of the server, and how far each was read. */
import { isRecord } from "../../core/json.ts";
import { type Redis, RedisProblem } from "./redis.ts";

export type StreamEntry = readonly [id: string, sealed: string];

export interface StreamPositions {
  /** null if it was never read. */
  get(stream: string): string | null;
  isBefore(stream: string, streamId: string): boolean;
  /** What there is in these after their positions; nothing if none came in time. `waitMs` is null if it need not wait for any. */
  read(
    redis: Redis,
    streams: readonly string[],
    waitMs: number | null,
  ): Promise<(stream: string) => readonly StreamEntry[]>;
  /** What follows this entry is read again; from the start on without it. */
  rewind(stream: string, streamId?: string): void;
  /**
   * Where a stream that was read up to its position goes on: at its end if it was never read, at its start if the server has lost
   * its data and counts from its clock again. Resolves with its end.
   */
  resume(redis: Redis, stream: string): Promise<string>;
}

const start = "0-0";
const answerMs = 5_000;
/** What there is more of is in the next read. */
export const readCount = 500;

export function createStreamPositions(known: Readonly<Record<string, string>>): StreamPositions {
  const positions = new Map(Object.entries(known));
  return {
    get: (stream) => positions.get(stream) ?? null,
    isBefore: (stream, id) => compareIds(positions.get(stream) ?? start, id) < 0,
    async read(redis, streams, waitMs) {
      const block = waitMs === null ? [] : ["BLOCK", String(waitMs)];
      const from = streams.map((stream) => positions.get(stream) ?? start);
      const args = ["COUNT", String(readCount), ...block, "STREAMS", ...streams, ...from];
      const reply = await redis.send("XREAD", args, (waitMs ?? 0) + answerMs);
      const found = isRecord(reply) ? reply : {};
      const entries = new Map(streams.map((stream) => [stream, readEntries(found[stream])]));
      for (const [stream, list] of entries) {
        const last = list.at(-1);
        if (last) positions.set(stream, last[0]);
      }
      return (stream) => entries.get(stream) ?? [];
    },
    rewind: (stream, streamId = start) => void positions.set(stream, streamId),
    async resume(redis, stream) {
      const [last] = readEntries(await redis.send("XREVRANGE", [stream, "+", "-", "COUNT", "1"]));
      const end = last?.[0] ?? start;
      const position = positions.get(stream);
      if (position === undefined) positions.set(stream, end);
      else if (compareIds(end, position) < 0) positions.set(stream, start);
      return end;
    },
  };
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
export const timeOfId = (streamId: string): number => Number(streamId.split("-")[0]);

function compareIds(a: string, b: string): number {
  const [atA = 0, seqA = 0] = a.split("-").map(Number);
  const [atB = 0, seqB = 0] = b.split("-").map(Number);
  return atA - atB || seqA - seqB;
}

/** The server's clock now. */
export async function readServerTime(redis: Redis): Promise<number> {
  const reply = await redis.send("TIME", []);
  const [seconds, micros] = Array.isArray(reply) ? reply.map(Number) : [];
  if (seconds === undefined || micros === undefined || !Number.isFinite(seconds + micros))
    throw new RedisProblem("it does not say what time it is");
  return seconds * 1_000 + micros / 1_000;
}
