/** One scenario on the real CLI: driven, and then judged by the CLI's own status. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judge, type Verdict } from "../replay/judge.ts";
import type { Shown } from "../replay/play.ts";
import { openWorld, type World, type WorldOptions } from "./world.ts";

/** Hooks, file, and the `status` that is asked every 60 ms: what a person would call at once. */
const withinMs = 600;

const verdicts: Verdict[] = [];

export function summary(): string {
  const sum = (of: "right" | "all") => verdicts.reduce((n, verdict) => n + verdict[of], 0);
  return `real CLI, within ${withinMs} ms: ${sum("right")} of ${sum("all")} status changes shown right, ${verdicts.length} scenarios`;
}

export async function inWorld(
  name: string,
  drive: (world: World) => Promise<void>,
  options?: WorldOptions,
): Promise<void> {
  const world = await openWorld(options);
  try {
    await drive(world);
    await expectNoComplaint(world);
    if (recordTo) write(join(recordTo, `${name}.jsonl`), world.recorder.recording(name).rows);
  } catch (error) {
    await keepFailed(name, world);
    throw error;
  } finally {
    await world.close();
  }
}

/** beckon runs all the while: every change of the CLI's status was shown, and these dialogs, each once, by its name. */
export async function live(
  name: string,
  dialogs: readonly string[],
  drive: (world: World) => Promise<void>,
  options?: WorldOptions,
): Promise<void> {
  await inWorld(
    name,
    async (world) => {
      await world.beckon.start();
      await drive(world);
      await world.linger();
      world.recorder.mark("end");
      const verdict = judge(world.recorder.recording(name), world.recorder.shown, withinMs, { isLive: true });
      verdicts.push(verdict);
      expect(verdict.wrong).toEqual([]);
      expect(verdict.all).toBeGreaterThan(0);
      expect(dialogsIn(world.recorder.shown)).toEqual([...dialogs].sort());
    },
    options,
  );
}

/** The dialogs that were shown, each by its id, with the last text it had. */
function dialogsIn(shown: readonly Shown[]): string[] {
  const texts = new Map<string, string>();
  for (const { sessionId, asks } of shown.flatMap(({ sessions }) => sessions)) {
    for (const { id, kind, tool, summary } of asks) {
      if (kind !== "idle") texts.set(`${sessionId} ${id}`, `${kind} ${tool}: ${summary}`);
    }
  }
  return [...texts.values()].sort();
}

async function expectNoComplaint(world: World): Promise<void> {
  expect((await world.screen()).split("\n").filter((line) => /hook.*(error|fail)/i.test(line))).toEqual([]);
  expect(world.beckon.complaints()).toEqual([]);
}

/** RECORD_TO=FOLDER keeps every scenario's rows: a new one for test/fixtures/recordings, or to see what happened. */
const recordTo = process.env.RECORD_TO;

/** For whoever has to find out why: what happened, with what was shown between, and the screen. */
async function keepFailed(name: string, world: World): Promise<void> {
  const file = join(tmpdir(), `beckon-failed-${name}.jsonl`);
  const shown = world.recorder.shown.map((row) => ({ ...row, src: "shown" }));
  write(file, [...world.recorder.recording(name).rows, ...shown]);
  const screen = await world.screen().catch(String);
  console.log(`${file} has what happened. The screen:\n${screen.replaceAll(/\n{2,}/g, "\n")}`);
}

function write(file: string, rows: readonly { readonly ms: number }[]): void {
  const lines = rows.toSorted((a, b) => a.ms - b.ms).map((row) => `${JSON.stringify(row)}\n`);
  writeFileSync(file, lines.join(""));
}
