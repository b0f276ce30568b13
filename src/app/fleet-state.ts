/** What of the fleets survives a restart: what their servers have not taken, and how far the other machines were followed. */
import { asRecord, type JsonRecord } from "../core/json.ts";
import type { Fleet } from "../machines/fleet/index.ts";
import { loadJsonState, saveJsonState } from "../storage/json-state.ts";
import { createSaver, type Saver } from "../storage/saver.ts";
import type { Base } from "./base.ts";
import { createRecordedValue } from "./recorded.ts";
import type { Sinks } from "./sinks.ts";

export interface FleetState {
  /** Reads the file, if it was not read. */
  open(): void;
  /** What is kept of a fleet, by its id. */
  find(id: string): JsonRecord;
  /** Of a fleet that is closed now, and may be opened again. */
  keep(fleet: Fleet): void;
  saveSoon(): void;
  /** How far the other machines were followed has changed. */
  saveReadSoon(): void;
  /** Before the fleets stop: their servers may take long to answer. */
  flush(): void;
  /** After they have stopped. */
  flushRead(): void;
}

/** What the server has not taken must survive a kill of beckon. */
const saveDelay = { quietMs: 200, maxDelayMs: 1_000 };

export function createFleetState(
  { paths, onProblem }: Pick<Base, "paths" | "onProblem">,
  { whenRecorded }: Pick<Sinks["history"], "whenRecorded">,
  fleets: ReadonlyMap<string, Fleet>,
): FleetState {
  let saver: Saver | null = null;
  let readSaver: Saver | null = null;
  let isStopped = false;
  let saved: JsonRecord = {};
  /** How far the others were followed, as far as the history has that, by the fleet's id. */
  let recorded: JsonRecord = {};
  const recordSoon = createRecordedValue(
    whenRecorded,
    () => Object.fromEntries([...fleets.values()].map((fleet) => [fleet.record().id, fleet.saveRead()])),
    (read) => {
      recorded = { ...recorded, ...read };
      saver?.schedule();
      if (isStopped) saver?.flush();
    },
  );

  function save(): void {
    const open = [...fleets.values()].map((fleet) => {
      const { id } = fleet.record();
      return [id, { ...asRecord(recorded[id]), ...fleet.saveWritten() }];
    });
    saveJsonState(paths.fleetState, { fleets: Object.fromEntries(open) }, { isSynced: false });
  }

  return {
    open() {
      if (saver !== null) return;
      const loaded = loadJsonState(paths.fleetState);
      if (loaded.problem !== null) onProblem(loaded.problem);
      saved = asRecord(loaded.value.fleets);
      recorded = saved;
      saver = createSaver(save, { ...saveDelay, onError: onProblem });
      readSaver = createSaver(recordSoon, { ...saveDelay, onError: onProblem });
    },
    find: (id) => asRecord(saved[id]),
    keep(fleet) {
      saved = { ...saved, [fleet.record().id]: { ...fleet.saveWritten(), ...fleet.saveRead() } };
    },
    saveSoon: () => saver?.schedule(),
    saveReadSoon: () => readSaver?.schedule(),
    flush() {
      isStopped = true;
      saver?.schedule();
      saver?.flush();
    },
    flushRead: recordSoon,
  };
}
