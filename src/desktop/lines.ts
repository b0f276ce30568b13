/** What another program writes, cut into lines. Of one that is too long only the beginning is told, so that nothing grows. */
export async function readLines(
  stream: ReadableStream<Uint8Array>,
  maxLength: number,
  take: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let unfinished = "";
  let isSkipping = false;
  for await (const bytes of stream) {
    const parts = (unfinished + decoder.decode(bytes, { stream: true })).split("\n");
    unfinished = parts.pop() ?? "";
    for (const line of parts) {
      if (!isSkipping) take(line);
      isSkipping = false;
    }
    if (unfinished.length <= maxLength) continue;
    if (!isSkipping) take(unfinished);
    isSkipping = true;
    unfinished = "";
  }
}
