/** desk.json: the preferences, the alerts that are shown, and the limits that were crossed. Two rooms own them, one file has them. */
import type { JsonRecord } from "../core/json.ts";
import { loadJsonState, saveJsonState } from "../storage/json-state.ts";
import type { Paths } from "../storage/paths.ts";
import { createSaver } from "../storage/saver.ts";

export interface AlertState {
  /** What the file had at the start. */
  readonly saved: JsonRecord;
  /** A sentence for the log and the user; null if the file is good or missing. */
  readonly problem: string | null;
  /** A saver for one part of the file. The whole file is written. */
  createPart(name: string): (value: () => unknown) => ReturnType<typeof createSaver>;
}

export function openAlertState(
  { alertState: path }: Pick<Paths, "alertState">,
  onProblem: (text: string) => void,
): AlertState {
  const { value: saved, problem } = loadJsonState(path);
  if (problem !== null) onProblem(problem);
  const parts = new Map<string, () => unknown>();
  const save = () => {
    const values = [...parts].map(([name, value]) => [name, value()]);
    saveJsonState(path, { version: 1, ...Object.fromEntries(values) });
  };
  // Which alerts are shown must be known after a kill too, or they are shown twice.
  const saver = createSaver(save, { quietMs: 30, maxDelayMs: 200, maxPauseMs: 0, onError: onProblem });
  return {
    saved,
    problem,
    createPart: (name) => (value) => {
      parts.set(name, value);
      return saver;
    },
  };
}
