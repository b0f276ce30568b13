/** Runs a program without a shell, with a limit on its time and its output. */
import type { Exec } from "../core/interfaces/index.ts";
import { limits } from "../core/limits.ts";
import { timing } from "../core/timing.ts";

export const exec: Exec = async (argv, options = {}) => {
  const { timeoutMs = timing.commandTimeoutMs, input, inputFile } = options;
  let child: Bun.Subprocess<"pipe" | "ignore" | Bun.BunFile, "pipe", "pipe">;
  try {
    child = Bun.spawn([...argv], {
      env: { ...process.env, ...options.env },
      stdin: inputFile === undefined ? (input === undefined ? "ignore" : "pipe") : Bun.file(inputFile),
      stdout: "pipe",
      stderr: "pipe",
      windowsHide: true,
    });
  } catch (error) {
    return { code: null, stdout: "", stderr: (error as Error).message };
  }
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  abort.signal.addEventListener("abort", () => child.kill("SIGKILL"));
  if (input !== undefined && typeof child.stdin === "object") {
    await writeInput(child.stdin, input);
  }
  // A process that it started can keep the pipes open. Output until shortly after its own end counts.
  const ended = child.exited.then(() => Bun.sleep(drainMs));
  const aborted = new Promise<void>((resolve) => abort.signal.addEventListener("abort", () => resolve()));
  const until = Promise.race([ended, aborted]);
  const [stdout, stderr] = await Promise.all([
    readUntil(until, child.stdout, () => abort.abort()),
    readUntil(until, child.stderr, () => abort.abort()),
  ]);
  await Promise.race([child.exited, aborted]);
  clearTimeout(timer);
  if (abort.signal.aborted) {
    await child.exited;
    return { code: null, stdout, stderr: stderr || `stopped after ${timeoutMs} ms` };
  }
  return { code: child.exitCode, stdout, stderr };
};

const drainMs = 20;

/** A program that does not read its input can be gone already. That throws at once, or later. */
async function writeInput(stdin: Bun.FileSink, input: string): Promise<void> {
  const ignore = () => {};
  try {
    Promise.resolve(stdin.write(input)).catch(ignore);
    await Promise.resolve(stdin.end()).catch(ignore);
  } catch {}
}

async function readUntil(
  until: Promise<unknown>,
  stream: ReadableStream<Uint8Array>,
  onTooMuch: () => void,
): Promise<string> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const end = until.then(() => null);
  while (true) {
    const next = await Promise.race([reader.read(), end]);
    if (next === null || next.done) break;
    chunks.push(next.value);
    size += next.value.length;
    if (size > limits.maxCommandOutputBytes) {
      onTooMuch();
      break;
    }
  }
  // Not awaited: it would wait for a writer that may never end.
  void reader.cancel().catch(() => {});
  return Buffer.concat(chunks).subarray(0, limits.maxCommandOutputBytes).toString("utf8");
}
