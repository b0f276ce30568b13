/** Replays recordings of the real CLI: every change of its own status must be shown in time, and stay right. */
import { afterAll, describe, expect, test } from "bun:test";
import { createRandom } from "../random.ts";
import { expectedMisses } from "./hooks-only-misses.ts";
import { judge, type Verdict } from "./judge.ts";
import { type Recording, type Row, readRecordings } from "./recording.ts";
import { type ReplayOptions, replay, type Shown } from "./replay.ts";

const withinMs = 250;
const recordings = readRecordings();
const withStatus = recordings.filter((recording) => recording.hasStatus);
const columns = ["file", "hooks alone", "jittered", "late prompts"] as const;
type Column = (typeof columns)[number];
const results = new Map<string, Map<Column, Verdict[]>>();

function addResult(name: string, column: Column, verdict: Verdict): Verdict {
  const row = results.get(name) ?? new Map<Column, Verdict[]>();
  results.set(name, row.set(column, [...(row.get(column) ?? []), verdict]));
  return verdict;
}

function formatCell(verdicts: readonly Verdict[]): string {
  const sum = (count: (v: Verdict) => number) => verdicts.reduce((n, v) => n + count(v), 0);
  return `${sum((v) => v.right)}/${sum((v) => v.all)}`;
}

/** Prints how many status changes were shown right, for each recording and in total. */
afterAll(() => {
  const line = (name: string, cells: readonly string[]) =>
    name.padEnd(28) + cells.map((c) => c.padStart(13)).join("");
  console.log(line("status changes shown right", columns));
  for (const [name, row] of results)
    console.log(
      line(
        name,
        columns.map((c) => formatCell(row.get(c) ?? [])),
      ),
    );
  const all = columns.map((c) => formatCell([...results.values()].flatMap((row) => row.get(c) ?? [])));
  console.log(line(`all ${results.size} recordings`, all));
  console.log(
    `replay: ${all[0]} within ${withinMs} ms; hooks alone: ${all[1]}; jittered by up to 300 ms: ${all[2]}; late prompts: ${all[3]}`,
  );
});

describe("with the status file", () => {
  for (const recording of withStatus) {
    test(recording.name, () => {
      const verdict = addResult(recording.name, "file", judge(recording, replay(recording), withinMs));
      expect(verdict.wrong).toEqual([]);
      expect(verdict.all).toBeGreaterThan(0);
    });
  }
});

describe("by hooks alone", () => {
  for (const recording of withStatus) {
    const misses = expectedMisses[recording.name] ?? {};
    const except = Object.values(misses).join("; ");
    test(`${recording.name}${except && `, except: ${except}`}`, () => {
      const shown = replay(recording, { hooksOnly: true });
      const verdict = addResult(recording.name, "hooks alone", judge(recording, shown, 600));
      expect(verdict.wrong.map((line) => line.replace(/^\S+ at (\d+) ms.*/, "$1"))).toEqual(
        Object.keys(misses),
      );
    });
  }
});

/** The dialogs that were shown, one per ask id, with its last text. Unattended sessions have none. */
function listDialogs(recording: Recording, shown: readonly Shown[]): string[] {
  const unattended = new Set(
    recording.rows.flatMap((row) =>
      row.env?.CLAUDE_CODE_SESSION_ATTENDED === "0" ? [String(row.payload?.session_id)] : [],
    ),
  );
  const dialogs = new Map<string, string>();
  for (const session of shown.flatMap((s) => s.sessions)) {
    if (unattended.has(session.sessionId)) continue;
    for (const ask of session.asks) {
      if (ask.kind !== "idle")
        dialogs.set(`${session.sessionId} ${ask.id}`, `${ask.kind} ${ask.tool} ${ask.summary}`);
    }
  }
  return [...dialogs.values()].sort();
}

function readEnd(shown: readonly Shown[]) {
  return shown
    .at(-1)
    ?.sessions.map((s) => [
      s.sessionId,
      s.state,
      s.activityPhase,
      s.asks.map((a) => [a.kind, a.tool, a.summary]),
    ]);
}

/** Another hook delayed the subagent's request, so its dialog never appeared. */
const noDialog = new Set(["agent_fg"]);

const isHookRow = (row: Row) => row.src === "hook";

describe("hooks and file shifted against each other by up to 300 ms", () => {
  for (const recording of recordings) {
    test(`${recording.name}: ends in the same state, with one ask per dialog and its text`, () => {
      const expected = replay(recording);
      for (const shiftMs of [-300, -210, -120, -60, 60, 120, 210, 300]) {
        const shown = replay(recording, { stampShift: (row) => (isHookRow(row) ? shiftMs : 0) });
        expect(readEnd(shown)).toEqual(readEnd(expected));
        if (!noDialog.has(recording.name))
          expect(listDialogs(recording, shown)).toEqual(listDialogs(recording, expected));
        if (!recording.hasStatus) continue;
        expect(addResult(recording.name, "jittered", judge(recording, shown, 600)).wrong).toEqual([]);
      }
    });
  }
});

/** How long after a prompt its turn can ask at the earliest, and then how late a prompt's hook is assumed to start. */
const firstAskMs = 1_500;
const lateStartMs = 9;

/** Moves the stamp of each prompt to just after the first request of its turn. */
function delayPrompts({ rows }: Recording): (row: Row) => number {
  return (row) => {
    if (row.payload?.hook_event_name !== "UserPromptSubmit") return 0;
    const ask = rows.find(
      ({ ms, payload }) =>
        (payload?.hook_event_name === "PermissionRequest" || payload?.hook_event_name === "Elicitation") &&
        payload.session_id === row.payload?.session_id &&
        payload.prompt_id === row.payload?.prompt_id &&
        ms > row.ms &&
        ms < row.ms + firstAskMs,
    );
    return ask ? ask.ms - row.ms + lateStartMs : 0;
  };
}

describe("prompts stamped after the first request of their turn", () => {
  for (const recording of recordings) {
    const stampShift = delayPrompts(recording);
    if (!recording.rows.some((row) => stampShift(row) > 0)) continue;
    test(`${recording.name}: the same dialogs, and every status right`, () => {
      const expected = replay(recording);
      const shown = replay(recording, { stampShift });
      expect(readEnd(shown)).toEqual(readEnd(expected));
      if (!noDialog.has(recording.name))
        expect(listDialogs(recording, shown)).toEqual(listDialogs(recording, expected));
      if (recording.hasStatus)
        expect(addResult(recording.name, "late prompts", judge(recording, shown, 600)).wrong).toEqual([]);
    });
  }
});

describe("events late by up to 300 ms, and some duplicated", () => {
  for (const recording of recordings) {
    test(`${recording.name}: ends in the same state`, () => {
      const expected = readEnd(replay(recording));
      for (let seed = 1; seed <= 4; seed++) {
        const random = createRandom(seed);
        const options: ReplayOptions = {
          delay: () => random.next() * 300,
          times: () => (random.chance(0.25) ? 2 : 1),
        };
        expect(readEnd(replay(recording, options))).toEqual(expected);
      }
    });
  }
});
