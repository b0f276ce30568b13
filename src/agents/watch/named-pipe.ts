/** A named pipe into which an agent writes lines. Nothing of them is kept, and an agent that finds no reader goes on without one. */
import { closeSync, constants, lstatSync, openSync, rmSync } from "node:fs";
import type { Exec } from "../../core/interfaces/index.ts";
import { limits } from "../../core/limits.ts";
import { readOr } from "../../storage/files.ts";
import { readLines } from "../../system/lines.ts";

/** Makes the pipe, also where the agent has left a file because there was none. Only the user can use it. */
export async function makePipe(path: string, exec: Exec): Promise<void> {
  const known = readOr(() => lstatSync(path), null);
  if (known?.isFIFO()) return;
  if (known) rmSync(path);
  await exec(["mkfifo", "-m", "600", path]);
}

/** Reads lines until the returned function is called. */
export function readPipe(
  path: string,
  onLine: (line: string) => void,
  onError: (error: unknown) => void,
): () => void {
  // Also for writing: without a writer the pipe would end when the last session does.
  const writer = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const reader = Bun.file(path).stream().getReader();
  let isClosed = false;
  async function* untilClosed(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const { value, done } = await reader.read();
      if (done || isClosed) return;
      yield value;
    }
  }
  readLines(untilClosed(), limits.maxBodyBytes, onLine).catch(onError);
  return () => {
    isClosed = true;
    void reader.cancel().catch(() => {});
    closeSync(writer);
  };
}
