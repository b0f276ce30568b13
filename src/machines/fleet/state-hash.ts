/**
 * The server's hash of this machine's latest word about each of its sessions, and its hello: for machines that come later than the log
 * goes back.
 */
import { createHmac } from "node:crypto";
import { isRecord } from "../../core/json.ts";
import type { FleetRecord } from "./fleet-file.ts";
import { createPlaces } from "./places.ts";
import type { Redis } from "./redis.ts";

export interface StateHash {
  /** The session's latest state; null if it is gone. */
  set(sessionKey: string, sealed: string | null): Promise<unknown>;
  /** Nothing but this, by the keys of the sessions. */
  replace(states: ReadonlyMap<string, string>, hello: string): Promise<unknown>;
  /** Whether the server has exactly what was written. */
  isThere(): Promise<boolean>;
  /** Whether the server has what was written last of all: a server that has lost its data does not. */
  hasHello(): Promise<boolean>;
}

const helloField = "hello";

export function createStateHash(redis: Redis, { id, machine, keys }: FleetRecord): StateHash {
  const name = createPlaces(id).nowOf(machine);
  /** Hashes of what was written, by the fields. */
  const written = new Map<string, number | bigint>();

  /** A name that says nothing about the session. */
  const fieldOf = (sessionKey: string): string =>
    createHmac("sha256", keys.secretSigning).update(`${id} ${sessionKey}`).digest("base64url").slice(0, 22);

  const isWritten = (field: string, sealed: unknown): boolean =>
    written.get(field) === Bun.hash(String(sealed));

  return {
    set(sessionKey, sealed) {
      const field = fieldOf(sessionKey);
      if (sealed === null) {
        written.delete(field);
        return redis.send("HDEL", [name, field]);
      }
      written.set(field, Bun.hash(sealed));
      return redis.send("HSET", [name, field, sealed]);
    },
    replace(states, hello) {
      const fields = [...states].map(([key, sealed]): [string, string] => [fieldOf(key), sealed]);
      fields.push([helloField, hello]);
      written.clear();
      for (const [field, sealed] of fields) written.set(field, Bun.hash(sealed));
      return Promise.all([redis.send("DEL", [name]), redis.send("HSET", [name, ...fields.flat()])]);
    },
    async isThere() {
      // A change may have been written before the first hello.
      if (!written.has(helloField)) return false;
      const all = await redis.send("HGETALL", [name]);
      const found = Object.entries(isRecord(all) ? all : {});
      return found.length === written.size && found.every(([field, sealed]) => isWritten(field, sealed));
    },
    hasHello: async () => isWritten(helloField, await redis.send("HGET", [name, helloField])),
  };
}
