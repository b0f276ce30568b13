/** Runs a program by its argv: no shell, no more time and no more output than allowed. */
import { limits } from "../core/limits.ts";
import type { Exec, ExecResult } from "../core/ports.ts";
import { timing } from "../core/timing.ts";

const notRun = (stderr: string): ExecResult => ({ code: null, stdout: "", stderr });

export const exec: Exec = async (argv, options = {}) => {
  const { timeoutMs = timing.commandTimeoutMs, input } = options;
  let child: Bun.Subprocess<"pipe" | "ignore", "pipe", "pipe">;
  try {
    child = Bun.spawn([...argv], {
      env: { ...process.env, ...options.env },
      stdin: input === undefined ? "ignore" : "pipe",
      stdout: "pipe",
      stderr: "pipe",
      windowsHide: true,
    });
  } catch (error) {
    return notRun((error as Error).message);
  }
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeoutMs);
  stop.signal.addEventListener("abort", () => child.kill("SIGKILL"));
  if (input !== undefined && typeof child.stdin === "object") {
    await feed(child.stdin, input);
  }
  // What it leaves running keeps its pipes open: what was read until its own end, and a moment more, counts.
  const ended = child.exited.then(() => Bun.sleep(drainMs));
  const aborted = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
  const until = Promise.race([ended, aborted]);
  const [stdout, stderr] = await Promise.all([
    readSome(child.stdout, until, () => stop.abort()),
    readSome(child.stderr, until, () => stop.abort()),
  ]);
  await Promise.race([child.exited, aborted]);
  clearTimeout(timer);
  if (stop.signal.aborted) {
    await child.exited;
    return { code: null, stdout, stderr: stderr || `stopped after ${timeoutMs} ms` };
  }
  return { code: child.exitCode, stdout, stderr };
};

const drainMs = 20;

/** A program that does not read its input may be gone already: that is thrown at once, or later. */
async function feed(stdin: Bun.FileSink, input: string): Promise<void> {
  const ignore = () => {};
  try {
    Promise.resolve(stdin.write(input)).catch(ignore);
    await Promise.resolve(stdin.end()).catch(ignore);
  } catch {}
}

async function readSome(
  stream: ReadableStream<Uint8Array>,
  until: Promise<unknown>,
  tooMuch: () => void,
): Promise<string> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const over = until.then(() => null);
  while (true) {
    const next = await Promise.race([reader.read(), over]);
    if (next === null || next.done) break;
    chunks.push(next.value);
    size += next.value.length;
    if (size > limits.maxCommandOutputBytes) {
      tooMuch();
      break;
    }
  }
  // Not waited for: it would wait for a writer that may never end.
  void reader.cancel().catch(() => {});
  return Buffer.concat(chunks).subarray(0, limits.maxCommandOutputBytes).toString("utf8");
}
