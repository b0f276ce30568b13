/** How far each machine was followed. It is kept over restarts of beckon, so that what happened meanwhile can be asked for. */
import { type Static, Type } from "@sinclair/typebox";
import { asList, type JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { readRows } from "../core/saved-rows.ts";
import type { Saver } from "../storage/saver.ts";

const MachineProgress = Type.Object({
  /** The user's name for the machine. */
  name: Type.String({ maxLength: limits.maxIdLength }),
  machineId: Type.String({ minLength: 1, maxLength: limits.maxIdLength }),
  /** The last that came of it. */
  seq: Type.Integer({ minimum: 0 }),
  /** What is added to its wall time: the names of alerts and asks contain times, and must stay the same after a restart. */
  shiftAt: Type.Number(),
});

export type MachineProgress = Static<typeof MachineProgress>;

export interface Progress {
  get(name: string): MachineProgress | null;
  set(progress: MachineProgress): void;
  /** The machine is followed for the first time, from there on. This is saved now: it says nothing about what the history has. */
  begin(progress: MachineProgress): void;
  /** The history has nothing any more that was said after this number. This is saved now too. */
  startOver(seq: number): void;
  forgetOthers(names: ReadonlySet<string>): void;
  /** Saves it now. */
  save(): void;
}

export function createProgress(
  saved: JsonRecord,
  createSaver: (value: () => JsonRecord) => Saver,
  saveNow: (value: JsonRecord) => void,
): Progress {
  const machines = new Map(readRows(MachineProgress, asList(saved.machines)).map((row) => [row.name, row]));
  /** What can be saved at any time: what an earlier run has saved, and where the first links have begun. */
  const begun = new Map(machines);
  const saver = createSaver(() => ({ machines: [...machines.values()] }));

  const saveBegun = () => saveNow({ machines: [...begun.values()] });

  return {
    get: (name) => machines.get(name) ?? null,
    set(progress) {
      machines.set(progress.name, progress);
      saver.schedule();
    },
    begin(progress) {
      machines.set(progress.name, progress);
      begun.set(progress.name, progress);
      saveBegun();
      saver.schedule();
    },
    startOver(seq) {
      for (const rows of [machines, begun])
        for (const row of [...rows.values()]) rows.set(row.name, { ...row, seq: Math.min(row.seq, seq) });
      saveBegun();
      saver.schedule();
    },
    forgetOthers(names) {
      for (const name of begun.keys()) if (!names.has(name)) begun.delete(name);
      for (const name of machines.keys()) {
        if (names.has(name)) continue;
        machines.delete(name);
        saver.schedule();
      }
    },
    save: () => saver.flush(),
  };
}
