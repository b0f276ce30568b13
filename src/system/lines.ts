/** Reads the output of another program line by line. Of a line that is too long, only the beginning is passed on. */
export async function readLines(
  stream: ReadableStream<Uint8Array>,
  maxLength: number,
  onLine: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let unfinished = "";
  let isSkipping = false;
  for await (const bytes of stream) {
    const parts = (unfinished + decoder.decode(bytes, { stream: true })).split("\n");
    unfinished = parts.pop() ?? "";
    for (const line of parts) {
      if (!isSkipping) onLine(line);
      isSkipping = false;
    }
    if (unfinished.length <= maxLength) continue;
    if (!isSkipping) onLine(unfinished);
    isSkipping = true;
    unfinished = "";
  }
}
