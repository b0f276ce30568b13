/** Entries of the server, opened: what does not come from a member as it was written is dropped and counted. */
import { maxLineBytes, maxMirroredSessions } from "../protocol.ts";
import { createEpochKeys, type FleetRecord } from "./fleet-file.ts";
import type { NumberedState } from "./known-states.ts";
import type { LatestStates } from "./peer.ts";
import type { Dropped } from "./report.ts";
import { createOpener, type Fault, type SealedEntry, type SealedPlace } from "./seal.ts";
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
  openLatest(machine: string, values: readonly unknown[]): Promise<LatestStates | null>;
  drop(why: Dropped, count?: number): void;
  dropped(): ReadonlyMap<Dropped, number>;
}

const threadsFrom = 4;
/** Opened at once; in between, everything else that this machine does has its turn. */
const sliceEntries = 64;
const sliceLength = 4 * 1024 * 1024;
/** Of an entry: no message of a member is longer, and in base64 it takes four characters for three bytes. */
const maxSealedLength = 2 * maxLineBytes;
/** What is read of a machine's hash, which everybody who has the server's password can fill. */
const maxStates = 2 * maxMirroredSessions;

type Opened = SealedEntry | Fault;

export function createEntryOpener(fleet: () => FleetRecord): EntryOpener {
  const { id, machine: own } = fleet();
  const dropped = new Map<Dropped, number>();
  const opener = createOpener({
    fleet: id,
    keys: createEpochKeys(fleet),
    findMember: (machine) => fleet().members.members.find((member) => member.id === machine)?.signing ?? null,
  });

  /** A single change is shown sooner without other threads. */
  async function openSlice(place: SealedPlace, texts: readonly string[]): Promise<readonly Opened[]> {
    const all = texts.map((text) =>
      text.length > maxSealedLength ? Buffer.alloc(0) : Buffer.from(text, "base64"),
    );
    return all.length < threadsFrom
      ? all.map((bytes) => opener.open(place, bytes))
      : opener.openMany(place, all);
  }

  /** In parts, in the order of the texts. */
  async function* openParts(place: SealedPlace, texts: readonly string[]) {
    const slices = sliceTexts(texts);
    let next = slices.length > 0 ? openSlice(place, slices[0] ?? []) : null;
    for (let index = 1; next; index++) {
      const current: Promise<readonly Opened[]> = next;
      const slice = slices[index];
      if (slice) await new Promise((resolve) => setImmediate(resolve));
      // The threads are not left without work.
      next = slice ? openSlice(place, slice) : null;
      yield await current;
    }
  }

  async function openEach(place: SealedPlace, texts: readonly string[]): Promise<Opened[]> {
    const opened: Opened[] = [];
    for await (const part of openParts(place, texts)) opened.push(...part);
    return opened;
  }

  function drop(why: Dropped, count = 1): void {
    if (count > 0) dropped.set(why, (dropped.get(why) ?? 0) + count);
  }

  return {
    async openAll(place, entries, readMembers) {
      const opened = await openEach(
        place,
        entries.map(([, sealed]) => sealed),
      );
      const unknown = [...opened.keys()].filter((index) => isUnknown(opened[index]));
      if (unknown.length > 0) {
        await readMembers();
        const again = await openEach(
          place,
          unknown.map((index) => entries[index]?.[1] ?? ""),
        );
        for (const [n, index] of unknown.entries()) opened[index] = again[n] ?? "damaged";
      }
      return entries.flatMap(([streamId], index): OpenedEntry[] => {
        const entry = opened[index] ?? "damaged";
        if (typeof entry !== "string") return entry.machine === own ? [] : [[entry, streamId]];
        drop(entry);
        return [];
      });
    },
    async openLatest(machine, values) {
      const texts = values.slice(0, maxStates).map(String);
      drop("not valid", values.length - texts.length);
      let hello: LatestStates["hello"] | null = null;
      const sessions: NumberedState[] = [];
      let newest = 0;
      const take = (opened: Opened): void => {
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
      };
      for await (const part of openParts("log", texts)) for (const opened of part) take(opened);
      return hello && { hello, sessions, number: newest };
    },
    drop,
    dropped: () => dropped,
  };
}

const isUnknown = (opened: Opened | undefined): boolean =>
  opened === "not a member" || opened === "unknown key";

function sliceTexts(texts: readonly string[]): string[][] {
  const slices: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const text of texts) {
    const last = slices.at(-1);
    if (!last || last.length >= sliceEntries || length >= sliceLength) {
      slices.push([text]);
      length = text.length;
    } else {
      last.push(text);
      length += text.length;
    }
  }
  return slices;
}
