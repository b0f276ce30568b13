/**
 * What the other agents cost a user of one: start time, CPU and memory with only Claude Code's folder in the home, and with those of
 * all agents, side by side. `--against BINARY` adds another build, such as one whose table has a single row.
 *
 * BENCH_ROUNDS and BENCH_IDLE_MS make it shorter.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  cpuMsOf,
  prepareSubjects,
  proportionalMb,
  residentMb,
  type Subject,
  startBeckon,
  withFolder,
} from "./processes.ts";
import {
  type Case,
  type Figures,
  formatComparison,
  formatFigures,
  interleave,
  listDifferences,
  median,
  meets,
} from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 15);
const idleMs = Number(process.env.BENCH_IDLE_MS ?? 30_000);
/** After this long the start is over, and what it needed has been given back. */
const calmMs = 20_000;

const one = "only Claude Code";
const all = "all agents";
const folders: Readonly<Record<string, readonly string[]>> = {
  [one]: [".claude"],
  [all]: [
    ...[".claude", ".codex/sessions", ".config/opencode", ".copilot", ".gemini"],
    ...[".qwen", ".config/kilo", ".kimi-code", ".grok"],
  ],
};

/** The median of the differences within each round: a slow minute slows both. */
function addedBy(figures: Figures): number {
  return median(listDifferences(figures, all, one));
}

async function measureStart(subjects: readonly Subject[]): Promise<boolean> {
  const cpu = new Map<string, number[]>();
  const cases = subjects.map(
    ({ name, binary, home }): Case => ({
      name,
      async run(round) {
        const app = await startBeckon(binary, home);
        await Bun.sleep(300);
        if (round >= 0) cpu.set(name, [...(cpu.get(name) ?? []), cpuMsOf(app.pid)]);
        await app.stop();
        return app.startMs;
      },
    }),
  );
  const figures = await interleave(cases, { rounds, warmUp: 2 });
  console.log(formatFigures(figures, "ms to the first answer", [one], 1));
  console.log(formatFigures(cpu, "ms CPU of the start", [one], 0));
  return meets("start with all agents, ms more than with one", addedBy(figures), "at most", 5);
}

async function measureIdle(subjects: readonly Subject[]): Promise<boolean> {
  const apps = await Promise.all(subjects.map(({ binary, home }) => startBeckon(binary, home)));
  await Bun.sleep(calmMs);
  const before = apps.map(({ pid }) => cpuMsOf(pid));
  await Bun.sleep(idleMs);
  const resident = apps.map(({ pid }) => residentMb(pid));
  const rows = [
    { label: "CPU ms", values: apps.map(({ pid }, n) => cpuMsOf(pid) - (before[n] ?? 0)), digits: 0 },
    { label: "resident MB", values: resident },
    { label: "proportional MB", values: apps.map(({ pid }) => proportionalMb(pid) ?? Number.NaN) },
  ];
  console.log(`${idleMs / 1_000} s without events`);
  console.log(
    formatComparison(
      rows,
      subjects.map(({ name }) => name),
    ),
  );
  for (const app of apps) await app.stop();
  const [oneMb = Number.NaN, allMb = Number.NaN] = resident;
  return meets("resident memory with all agents, MB more than with one", allMb - oneMb, "at most", 1);
}

const isMet = await withFolder(async (folder) => {
  const subjects = prepareSubjects(folder, folders, (home, names) => {
    for (const path of names) mkdirSync(join(home, path), { recursive: true });
  });
  return [await measureStart(subjects), await measureIdle(subjects)].every(Boolean);
});
process.exit(isMet ? 0 : 1);
