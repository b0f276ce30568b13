/** In the recordings of the real CLI, no session was stuck. */
import { expect, test } from "bun:test";
import { viewKeyOf } from "../../src/core/session/session-ref.ts";
import { readRecordings } from "./recording.ts";
import { replay } from "./replay.ts";

test("no session of a recording is shown as stuck", () => {
  const recordings = readRecordings();
  let sessions = 0;
  const stuck: string[] = [];
  for (const recording of recordings) {
    const shown = replay(recording);
    sessions += new Set(shown.flatMap((one) => one.sessions.map(viewKeyOf))).size;
    for (const { ms, sessions: views } of shown)
      for (const view of views)
        if (view.stuck) stuck.push(`${recording.name} at ${ms} ms: ${view.stuck.kind} ${view.stuck.last}`);
  }
  expect(stuck).toEqual([]);
  console.log(`${recordings.length} recordings, ${sessions} sessions, none shown as stuck`);
});
