import { expect, test } from "bun:test";
import { readLines } from "../../src/system/lines.ts";
import { settle } from "../virtual-time.ts";

async function collectLines(chunks: readonly string[], maxLength: number): Promise<string[]> {
  const lines: string[] = [];
  await readLines(new Response(createStream(chunks)).body as ReadableStream<Uint8Array>, maxLength, (line) =>
    lines.push(line),
  );
  return lines;
}

function createStream(chunks: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(new TextEncoder().encode(chunk));
        await settle();
      }
      controller.close();
    },
  });
}

test("lines are joined from chunks of any length", async () => {
  expect(await collectLines(["a", "b\nc", "\n\n", "d\ne\nf"], 10)).toEqual(["ab", "c", "", "d", "e"]);
});

test("of a line that is too long only the beginning is passed on, and its rest is not a line of its own", async () => {
  const [first, ...others] = await collectLines(
    ["x".repeat(8), "y".repeat(8), "z".repeat(40), "evil\n", "good\n"],
    10,
  );
  expect(first).toStartWith("xxxxxxxx");
  expect(others).toEqual(["good"]);
});
