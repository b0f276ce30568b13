/**
 * Reads the output of another program line by line. Of a line that is too long, only the beginning is passed on. If `onLine` returns
 * a promise, the next line is read after it.
 */
export async function readLines(
  stream: ReadableStream<Uint8Array>,
  maxLength: number,
  onLine: (line: string) => unknown,
): Promise<void> {
  const decoder = new TextDecoder();
  let unfinished = "";
  let isSkipping = false;
  for await (const bytes of stream) {
    const parts = (unfinished + decoder.decode(bytes, { stream: true })).split("\n");
    unfinished = parts.pop() ?? "";
    for (const line of parts) {
      if (!isSkipping) await onLine(line);
      isSkipping = false;
    }
    if (unfinished.length <= maxLength) continue;
    if (!isSkipping) await onLine(unfinished);
    isSkipping = true;
    unfinished = "";
  }
}
