/**
 * What reading a transcript costs: once from its start, in slices, and after that for each row that is added. A row that is added
 * to a gigabyte should cost what it costs in a megabyte, and no slice should keep other work waiting.
 */
import { appendFileSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTranscriptReader } from "../../src/agents/claude/watch/transcripts.ts";
import { formatFigures, median, meets } from "./rounds.ts";

const sizes = { "1 MB": 1e6, "100 MB": 1e8, "1 GB": 1e9 } as const;
const appends = 200;

function createRows(n: number): string {
  const usage = { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 50_000 };
  const message = {
    id: `msg_${n}`,
    role: "assistant",
    model: "claude-opus-5-5",
    content: [{ type: "text", text: "x".repeat(800) }],
    usage,
  };
  const output = [{ type: "tool_result", tool_use_id: `t${n}`, content: "a line of output\n".repeat(500) }];
  const rows = [
    { type: "assistant", sessionId: "s", requestId: `req_${n}`, message },
    { type: "user", sessionId: "s", message: { role: "user", content: output } },
  ];
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

function writeTranscript(path: string, bytes: number): number {
  const file = openSync(path, "w");
  let n = 0;
  for (let written = 0; written < bytes; )
    written += writeSync(file, Array.from({ length: 50 }, () => createRows(n++)).join(""));
  closeSync(file);
  return n;
}

async function measure(path: string, bytes: number) {
  let n = writeTranscript(path, bytes);
  const reader = createTranscriptReader();
  Bun.gc(true);
  const rssBefore = process.memoryUsage.rss();
  const cpuBefore = process.cpuUsage();
  let peak = rssBefore;
  let lateMs = 0;
  let last = performance.now();
  // Other work: how late it is shows how long the reading kept it waiting.
  const ticking = setInterval(() => {
    const now = performance.now();
    lateMs = Math.max(lateMs, now - last - 1);
    last = now;
  }, 1);
  for (let isBehind = true; isBehind; ) {
    isBehind = (await reader.read(path))?.isBehind === true;
    peak = Math.max(peak, process.memoryUsage.rss());
    await Bun.sleep(1);
  }
  clearInterval(ticking);
  const { user, system } = process.cpuUsage(cpuBefore);
  const added: number[] = [];
  for (let i = 0; i < appends; i++) {
    appendFileSync(path, createRows(n++));
    const started = performance.now();
    await reader.read(path);
    added.push(performance.now() - started);
  }
  rmSync(path);
  return { cpuMs: (user + system) / 1_000, peakMb: (peak - rssBefore) / 1e6, lateMs, added };
}

const folder = mkdtempSync(join(tmpdir(), "beckon-bench-transcript-"));
const added = new Map<string, number[]>();
let longest = 0;
try {
  for (const [name, bytes] of Object.entries(sizes)) {
    const { cpuMs, peakMb, lateMs, added: times } = await measure(join(folder, "s.jsonl"), bytes);
    added.set(name, times);
    longest = Math.max(longest, lateMs);
    console.log(
      `${name}: read once with ${cpuMs.toFixed(0)} ms of CPU, ${peakMb.toFixed(0)} MB more at the peak, other work late by at most ${lateMs.toFixed(0)} ms`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(formatFigures(added, "ms/row added", ["1 MB"]));
const [small = [], , large = []] = [...added.values()];
const met = [
  meets("a row added to 1 GB, against 1 MB", median(large) / median(small), "at most", 1.5),
  meets("other work late, in ms", longest, "at most", 50),
];
process.exitCode = met.every(Boolean) ? 0 : 1;
