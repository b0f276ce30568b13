/** The real CLI's recordings, replayed: is every change of its own status shown, in time, and does it stay right? */
import { afterAll, describe, expect, test } from "bun:test";
import { blindMisses } from "./blind.ts";
import { judge, type Verdict } from "./judge.ts";
import { type Options, play, type Shown } from "./play.ts";
import { type Recording, type Row, readRecordings } from "./recording.ts";

const withinMs = 250;
const recordings = readRecordings();
const withStatus = recordings.filter((recording) => recording.hasStatus);
const columns = ["file", "hooks alone", "jittered"] as const;
type Column = (typeof columns)[number];
const results = new Map<string, Map<Column, Verdict[]>>();

function note(name: string, column: Column, verdict: Verdict): Verdict {
  const row = results.get(name) ?? new Map<Column, Verdict[]>();
  results.set(name, row.set(column, [...(row.get(column) ?? []), verdict]));
  return verdict;
}

function cell(verdicts: readonly Verdict[]): string {
  const sum = (count: (v: Verdict) => number) => verdicts.reduce((n, v) => n + count(v), 0);
  return `${sum((v) => v.right)}/${sum((v) => v.all)}`;
}

/** Status changes shown right, of all: a line a recording, and their sum. */
afterAll(() => {
  const line = (name: string, cells: readonly string[]) =>
    name.padEnd(28) + cells.map((c) => c.padStart(13)).join("");
  console.log(line("status changes shown right", columns));
  for (const [name, row] of results)
    console.log(
      line(
        name,
        columns.map((c) => cell(row.get(c) ?? [])),
      ),
    );
  const all = columns.map((c) => cell([...results.values()].flatMap((row) => row.get(c) ?? [])));
  console.log(line(`all ${results.size} recordings`, all));
  console.log(
    `replay: ${all[0]} within ${withinMs} ms; blind replay: ${all[1]}; jittered by up to 300 ms: ${all[2]}`,
  );
});

describe("with the status file", () => {
  for (const recording of withStatus) {
    test(recording.name, () => {
      const verdict = note(recording.name, "file", judge(recording, play(recording), withinMs));
      expect(verdict.wrong).toEqual([]);
      expect(verdict.all).toBeGreaterThan(0);
    });
  }
});

describe("by hooks alone", () => {
  for (const recording of withStatus) {
    const misses = blindMisses[recording.name] ?? {};
    const except = Object.values(misses).join("; ");
    test(`${recording.name}${except && `, except: ${except}`}`, () => {
      const shown = play(recording, { blind: true });
      const verdict = note(recording.name, "hooks alone", judge(recording, shown, 600));
      expect(verdict.wrong.map((line) => line.replace(/^\S+ at (\d+) ms.*/, "$1"))).toEqual(
        Object.keys(misses),
      );
    });
  }
});

/** The dialogs that were shown, each by its id with the last text it had; machine-run sessions show none to anybody. */
function dialogsOf(recording: Recording, shown: readonly Shown[]): string[] {
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

function endOf(shown: readonly Shown[]) {
  return shown
    .at(-1)
    ?.sessions.map((s) => [
      s.sessionId,
      s.state,
      s.activityPhase,
      s.asks.map((a) => [a.kind, a.tool, a.summary]),
    ]);
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Another hook held the subagent's request: its dialog never came on the screen. */
const noDialog = new Set(["agent_fg"]);

const isHookRow = (row: Row) => row.src === "hook";

describe("hooks and file shifted against each other by up to 300 ms", () => {
  for (const recording of recordings) {
    test(`${recording.name}: the same end, one ask per dialog, with its text`, () => {
      const plain = play(recording);
      for (const shiftMs of [-300, -210, -120, -60, 60, 120, 210, 300]) {
        const shown = play(recording, { stampShift: (row) => (isHookRow(row) ? shiftMs : 0) });
        expect(endOf(shown)).toEqual(endOf(plain));
        if (!noDialog.has(recording.name))
          expect(dialogsOf(recording, shown)).toEqual(dialogsOf(recording, plain));
        if (!recording.hasStatus) continue;
        expect(note(recording.name, "jittered", judge(recording, shown, 600)).wrong).toEqual([]);
      }
    });
  }
});

describe("late by up to 300 ms, and some of them twice", () => {
  for (const recording of recordings) {
    test(`${recording.name}: the same end`, () => {
      const plain = endOf(play(recording));
      for (let seed = 1; seed <= 4; seed++) {
        const next = random(seed);
        const options: Options = { delay: () => next() * 300, times: () => (next() < 0.25 ? 2 : 1) };
        expect(endOf(play(recording, options))).toEqual(plain);
      }
    });
  }
});
