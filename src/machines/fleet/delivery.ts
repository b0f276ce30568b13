/**
 * Brings to the server what waits in the outbox: to the log, which everybody follows, and to the hash of latest states. A change counts as
 * published once the server has both; until then it stays in the outbox, and is tried again.
 */
import { computeRetryMs } from "../../core/backoff.ts";
import { readErrorMessage } from "../../core/error-message.ts";
import type { Schedule } from "../../core/interfaces/index.ts";
import type { ClockReading } from "../../core/session/event.ts";
import type { Hello } from "../carrier.ts";
import type { DescribedSession } from "../protocol.ts";
import { createEpochKeys, type FleetRecord } from "./fleet-file.ts";
import type { FleetOutbox, Outgoing } from "./outbox.ts";
import { createPlaces } from "./places.ts";
import { type Redis, RedisProblem } from "./redis.ts";
import { createSealer, type SealedPlace } from "./seal.ts";
import { createStateHash } from "./state-hash.ts";
import { formatText, type LogHead } from "./wire.ts";

export interface FleetDeliveryOptions {
  readonly fleet: () => FleetRecord;
  readonly redis: Redis;
  readonly outbox: FleetOutbox;
  readonly nextNumber: () => number;
  readonly hello: () => Hello;
  /** Every session as the others may see it now, by its key. */
  readonly describeAll: () => ReadonlyMap<string, DescribedSession>;
  /** How many entries the log keeps, about. */
  readonly maxEntries: () => number;
  /** Something was written, or could not be. */
  readonly onChange: () => void;
  readonly clock: () => ClockReading;
  readonly schedule: Schedule;
}

export interface FleetDelivery {
  /** Writes an entry that only matters now. Rejects if it cannot be written. */
  post(place: SealedPlace, stream: string, text: string, maxEntries: number): Promise<void>;
  /** Tries now what waits. */
  flush(): void;
  /** Writes everything again if the server has lost its data, which no command would notice. */
  check(): Promise<void>;
  /** The number of the last entry that the log has got; null if none. */
  lastWritten(): number | null;
  /** Why the server has not taken the last change; null if it has. */
  problem(): string | null;
  stop(): void;
}

const backoff = { firstMs: 500, maxMs: 15_000, jitter: 0.3 };
/** Written in one go. */
const batchSize = 64;

export function createFleetDelivery(options: FleetDeliveryOptions): FleetDelivery {
  const { fleet, redis, outbox, clock, schedule, nextNumber } = options;
  const { log } = createPlaces(fleet().id);
  const states = createStateHash(redis, fleet());
  const seal = createFleetSealer(fleet);
  let lastNumber: number | null = null;
  /** The server's hash has everything that was told. */
  let isWhole = false;
  let isFlushing = false;
  let isStopped = false;
  let failures = 0;
  let problem: string | null = null;
  let cancelRetry = () => {};

  const appendTo = (stream: string, sealed: string, maxEntries: number): Promise<unknown> =>
    redis.send("XADD", [stream, "MAXLEN", "~", String(maxEntries), "*", "e", sealed]);

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
    // The others see by it that something is missing, and ask for it.
    lastNumber = outbox.takeLost() ?? lastNumber;
    let before = lastNumber;
    const commands: Promise<unknown>[] = [];
    for (const outgoing of batch) {
      const { at, t, number, message } = outgoing;
      const head: LogHead = { at, t, before, ...(outbox.isLate(outgoing) ? { isLate: true as const } : {}) };
      before = number;
      const sealed = seal("log", number, formatText(head, message));
      commands.push(...writeState(outgoing, sealed), appendTo(log, sealed, options.maxEntries()));
    }
    await Promise.all(commands);
    lastNumber = before;
    if (before !== null) outbox.drop(before);
  }

  /** First the state: who reads the log to its end, and then the states, has missed nothing. */
  function writeState({ key, message: { kind } }: Outgoing, sealed: string): Promise<unknown>[] {
    if (key === null || (kind !== "session" && kind !== "gone")) return [];
    return [states.set(key, kind === "gone" ? null : sealed)];
  }

  /** Every session as it is now, unless the server has that already. Then a hello, at which the others read all of it. */
  async function writeAll(): Promise<void> {
    if (!(await states.isThere())) {
      const { at, t } = clock();
      const head: LogHead = { at, t, before: null };
      const sealed = new Map<string, string>();
      for (const [key, described] of options.describeAll()) {
        const seq = nextNumber();
        sealed.set(key, seal("log", seq, formatText(head, { kind: "session", seq, described })));
      }
      const number = nextNumber();
      const hello = seal("log", number, formatText(head, options.hello()));
      await Promise.all([states.replace(sealed, hello), appendTo(log, hello, options.maxEntries())]);
      lastNumber = number;
    }
    isWhole = true;
  }

  return {
    async post(place, stream, text, maxEntries) {
      await appendTo(stream, seal(place, nextNumber(), text), maxEntries);
    },
    flush: () => void flush(),
    async check() {
      if (!isWhole || (await states.hasHello())) return;
      isWhole = false;
      void flush();
    },
    lastWritten: () => lastNumber,
    problem: () => problem,
    stop() {
      isStopped = true;
      cancelRetry();
    },
  };
}

/** Seals with the fleet's newest key. */
function createFleetSealer(fleet: () => FleetRecord) {
  const { id, machine, keys } = fleet();
  const sealer = createSealer(id, machine, keys);
  const epochKeys = createEpochKeys(fleet);
  return (place: SealedPlace, number: number, text: string): string => {
    const { epoch } = fleet().members;
    const key = epochKeys().get(epoch);
    if (!key) throw new RedisProblem("this machine has no key of the fleet", true);
    return sealer.seal(place, { number, text }, epoch, key).toString("base64");
  };
}
