/** The tools side by side on the same recordings, as a table for people. */
import { median, percentile } from "../bench/rounds.ts";
import type { Recording } from "../replay/recording.ts";
import { replay } from "../replay/replay.ts";
import { mappings, notificationHook, showByMapping } from "./mappings.ts";
import { addUp, type Measured, measureTruth, readShownChanges } from "./meter.ts";

const notificationName = "a Notification hook";

/** Every tool that needs nothing but the hooks of a recording. */
export function measureSimpleTools(recordings: readonly Recording[], options = {}): Map<string, Measured> {
  const tools = Object.entries({ ...mappings, [notificationName]: notificationHook });
  return new Map(
    tools.map(([name, mapping]) => [
      name,
      addUp(
        recordings.map((recording) => measureTruth(recording, showByMapping(recording, mapping), options)),
      ),
    ]),
  );
}

export function measureRecordings(recordings: readonly Recording[]): Map<string, Measured> {
  const measureBeckon = (options = {}) =>
    addUp(
      recordings.map((recording) => measureTruth(recording, readShownChanges(replay(recording, options)))),
    );
  return new Map([
    ["beckon", measureBeckon()],
    ["beckon, by hooks alone", measureBeckon({ hooksOnly: true })],
    ...measureSimpleTools(recordings),
  ]);
}

/** As Markdown: it stands in the README. */
export function formatTruth(measured: ReadonlyMap<string, Measured>): string {
  const seconds = (ms: number) => (Number.isNaN(ms) ? "never" : `${(ms / 1_000).toFixed(2)} s`);
  const rows = [...measured].map(([name, { rightMs, allMs, delaysMs, dialogs, falseAlerts }]) => [
    name,
    // It says nothing of a session that does not ask.
    name === notificationName ? "–" : `${((100 * rightMs) / allMs).toFixed(1)} %`,
    `${delaysMs.length} of ${dialogs}`,
    `${seconds(median(delaysMs))} / ${seconds(percentile(delaysMs, 0.95))}`,
    String(falseAlerts),
  ]);
  const heads = ["", "right state", "dialogs told", "after (median / p95)", "false alarms"];
  return [heads, heads.map((_, column) => (column === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
