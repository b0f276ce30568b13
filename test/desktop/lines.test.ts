import { expect, test } from "bun:test";
import { readLines } from "../../src/desktop/lines.ts";

async function linesOf(pieces: readonly string[], maxLength: number): Promise<string[]> {
  const lines: string[] = [];
  await readLines(new Response(streamOf(pieces)).body as ReadableStream<Uint8Array>, maxLength, (line) =>
    lines.push(line),
  );
  return lines;
}

function streamOf(pieces: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      for (const piece of pieces) {
        controller.enqueue(new TextEncoder().encode(piece));
        await Bun.sleep(0);
      }
      controller.close();
    },
  });
}

test("lines are put together, however they come", async () => {
  expect(await linesOf(["a", "b\nc", "\n\n", "d\ne\nf"], 10)).toEqual(["ab", "c", "", "d", "e"]);
});

test("of a line that is too long only its beginning is seen, and never its rest as a line of its own", async () => {
  const [first, ...others] = await linesOf(
    ["x".repeat(8), "y".repeat(8), "z".repeat(40), "evil\n", "good\n"],
    10,
  );
  expect(first).toStartWith("xxxxxxxx");
  expect(others).toEqual(["good"]);
});
