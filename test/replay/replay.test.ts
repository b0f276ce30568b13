/** The real CLI's recordings, replayed: is every change of its own status shown, in time, and does it stay right? */
import { afterAll, describe, expect, test } from "bun:test";
import { blindMisses } from "./blind.ts";
import { judge, type Verdict } from "./judge.ts";
import { type Options, play, type Shown } from "./play.ts";
import { type Recording, type Row, readRecordings } from "./recording.ts";

const withinMs = 250;
const recordings = readRecordings();
const withStatus = recordings.filter((recording) => recording.hasStatus);
const summary: string[] = [];

afterAll(() => {
  for (const line of summary) console.log(line);
});

function sum(title: string, verdicts: readonly Verdict[]): void {
  const right = verdicts.reduce((n, v) => n + v.right, 0);
  const all = verdicts.reduce((n, v) => n + v.all, 0);
  summary.push(`${title}: ${right} of ${all} status changes shown right, ${verdicts.length} replays`);
}

describe("with the status file", () => {
  const verdicts: Verdict[] = [];
  afterAll(() => sum(`replay, within ${withinMs} ms`, verdicts));
  for (const recording of withStatus) {
    test(recording.name, () => {
      const verdict = judge(recording, play(recording), withinMs);
      verdicts.push(verdict);
      expect(verdict.wrong).toEqual([]);
      expect(verdict.all).toBeGreaterThan(0);
    });
  }
});

describe("by hooks alone", () => {
  const verdicts: Verdict[] = [];
  afterAll(() => sum("blind replay, within 600 ms", verdicts));
  for (const recording of withStatus) {
    const misses = blindMisses[recording.name] ?? {};
    const except = Object.values(misses).join("; ");
    test(`${recording.name}${except && `, except: ${except}`}`, () => {
      const verdict = judge(recording, play(recording, { blind: true }), 600);
      verdicts.push(verdict);
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
  const verdicts: Verdict[] = [];
  afterAll(() => sum("jittered replay, within 600 ms", verdicts));
  for (const recording of recordings) {
    test(`${recording.name}: the same end, one ask per dialog, with its text`, () => {
      const plain = play(recording);
      for (const shiftMs of [-300, -210, -120, -60, 60, 120, 210, 300]) {
        const shown = play(recording, { stampShift: (row) => (isHookRow(row) ? shiftMs : 0) });
        expect(endOf(shown)).toEqual(endOf(plain));
        if (!noDialog.has(recording.name))
          expect(dialogsOf(recording, shown)).toEqual(dialogsOf(recording, plain));
        if (!recording.hasStatus) continue;
        const verdict = judge(recording, shown, 600);
        verdicts.push(verdict);
        expect(verdict.wrong).toEqual([]);
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
