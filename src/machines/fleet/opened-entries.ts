/** Entries of the server, opened: what does not come from a member as it was written is dropped and counted. */
import { createEpochKeys, type FleetRecord } from "./fleet-file.ts";
import type { NumberedState } from "./known-states.ts";
import type { LatestStates } from "./peer.ts";
import type { Dropped } from "./report.ts";
import { createOpener, type SealedEntry, type SealedPlace } from "./seal.ts";
import type { StreamEntry } from "./stream-positions.ts";
import { parseLogText } from "./wire.ts";

/** An entry of another machine, and its id in the stream. */
export type OpenedEntry = readonly [entry: SealedEntry, streamId: string];

export interface EntryOpener {
  /** `readMembers` is called if there are entries of machines or keys that are not known yet; then they are tried again. */
  openAll(
    place: SealedPlace,
    entries: readonly StreamEntry[],
    readMembers: () => Promise<void>,
  ): Promise<readonly OpenedEntry[]>;
  /** The fields of the machine's hash of latest states; null without a hello. */
  openLatest(machine: string, values: readonly unknown[]): LatestStates | null;
  drop(why: Dropped, count?: number): void;
  dropped(): ReadonlyMap<Dropped, number>;
}

const threadsFrom = 4;

export function createEntryOpener(fleet: () => FleetRecord): EntryOpener {
  const { id, machine: own } = fleet();
  const dropped = new Map<Dropped, number>();
  const opener = createOpener({
    fleet: id,
    keys: createEpochKeys(fleet),
    findMember: (machine) => fleet().members.members.find((member) => member.id === machine)?.signing ?? null,
  });
  const open = (place: SealedPlace, sealed: string) => opener.open(place, Buffer.from(sealed, "base64"));

  /** A single change is shown sooner without other threads. */
  async function openEach(place: SealedPlace, entries: readonly StreamEntry[]) {
    const read = ([at, sealed]: StreamEntry) => ({ at, sealed, bytes: Buffer.from(sealed, "base64") });
    const all = entries.map(read);
    if (all.length < threadsFrom)
      return all.map(({ at, sealed, bytes }) => ({ at, sealed, opened: opener.open(place, bytes) }));
    const opened = await opener.openMany(
      place,
      all.map(({ bytes }) => bytes),
    );
    return all.map(({ at, sealed }, index) => ({
      at,
      sealed,
      opened: opened[index] ?? ("damaged" as const),
    }));
  }

  function drop(why: Dropped, count = 1): void {
    if (count > 0) dropped.set(why, (dropped.get(why) ?? 0) + count);
  }

  return {
    async openAll(place, entries, readMembers) {
      let all = await openEach(place, entries);
      if (all.some(({ opened }) => opened === "not a member" || opened === "unknown key")) {
        await readMembers();
        all = all.map((each) =>
          typeof each.opened === "string" ? { ...each, opened: open(place, each.sealed) } : each,
        );
      }
      return all.flatMap(({ at, opened }): OpenedEntry[] => {
        if (typeof opened !== "string") return opened.machine === own ? [] : [[opened, at]];
        drop(opened);
        return [];
      });
    },
    openLatest(machine, values) {
      let hello: LatestStates["hello"] | null = null;
      const sessions: NumberedState[] = [];
      let newest = 0;
      for (const sealed of values) {
        const opened = open("log", String(sealed));
        const parsed = typeof opened === "string" ? null : parseLogText(opened.text);
        if (typeof opened === "string") drop(opened);
        else if (opened.machine !== machine || !parsed) drop("not valid");
        else {
          const { number } = opened;
          const { message } = parsed;
          newest = Math.max(newest, number);
          if (message.kind === "hello") hello = message;
          if (message.kind === "session") sessions.push({ number, described: message.described });
        }
      }
      return hello && { hello, sessions, number: newest };
    },
    drop,
    dropped: () => dropped,
  };
}
