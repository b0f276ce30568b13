/**
 * Reads the output of another program line by line. Of a line that is too long, only the beginning is passed on. If `onLine` returns
 * a promise, the next line is read after it.
 */
export async function readLines(
  output: AsyncIterable<Uint8Array>,
  maxLength: number,
  onLine: (line: string) => unknown,
): Promise<void> {
  const decoder = new TextDecoder();
  /** The beginning of the next line. Joined once: a line of 2 MB that arrives byte by byte would be copied each time. */
  let pieces: string[] = [];
  let length = 0;
  let isSkipping = false;

  async function end(): Promise<void> {
    if (!isSkipping) await onLine(pieces.join(""));
    pieces = [];
    length = 0;
  }

  for await (const bytes of output) {
    const [first = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n");
    for (const [index, piece] of [first, ...others].entries()) {
      if (index > 0) {
        await end();
        isSkipping = false;
      }
      if (!isSkipping) pieces.push(piece);
      length += piece.length;
    }
    if (length <= maxLength) continue;
    await end();
    isSkipping = true;
  }
}

export interface ThrottleOptions {
  readonly bytesPerSecond: number;
  /** Nothing is read after it, even if a process that the program left behind keeps its output open. */
  readonly signal: AbortSignal;
}

/** The output of a program that is not trusted. What it prints beyond that rate waits in its pipe. */
export async function* throttle(
  stream: ReadableStream<Uint8Array>,
  { bytesPerSecond, signal }: ThrottleOptions,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  let room = bytesPerSecond;
  let filledT = performance.now();
  try {
    while (!signal.aborted) {
      const { value, done } = await reader.read();
      if (done || signal.aborted) return;
      yield value;
      const now = performance.now();
      room = Math.min(bytesPerSecond, room + ((now - filledT) / 1_000) * bytesPerSecond) - value.length;
      filledT = now;
      if (room < 0) await Bun.sleep((-room / bytesPerSecond) * 1_000);
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
