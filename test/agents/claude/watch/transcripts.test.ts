import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  createTranscriptReader,
  extractLastAssistantResponse,
  type TranscriptReader,
} from "../../../../src/agents/claude/watch/transcripts.ts";
import { limits } from "../../../../src/core/limits.ts";
import { assistant, attachment, fileOf, result, say, thinking, use, user } from "../rows.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-transcripts-"));
  path = join(folder, "s1.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

const fixture = readFileSync(new URL("../../../fixtures/transcripts/tool_ok_fail-0.jsonl", import.meta.url));
const answerIn = (content: string | Buffer) => {
  writeFileSync(path, content);
  return extractLastAssistantResponse(path);
};

describe("the last assistant response of a transcript file", () => {
  test.each<[string, string, string | null]>([
    ["an empty file", "", null],
    ["prompts only", fileOf([user("a"), user("b")]), null],
    ["thinking only", fileOf([user("a"), assistant("m1", thinking("hm"))]), null],
    ["a tool call only", fileOf([user("a"), use("m1")]), null],
    ["an answer", fileOf([user("a"), say("m1", "hello")]), "hello"],
    ["an answer without a line break at its end", fileOf([user("a"), say("m1", "hello")]).trim(), "hello"],
    [
      "a torn last line",
      `${fileOf([user("a"), say("m1", "hello")])}${say("m2", "more").slice(0, -9)}`,
      "hello",
    ],
    ["a broken line in the middle", fileOf([user("a"), say("m1", "hello"), "{oops", "", "null"]), "hello"],
    ["2000 characters", fileOf([say("m1", "y".repeat(2_000))]), `${"y".repeat(1_900)}...`],
    ["no JSON at all", "\u0000".repeat(5_000), null],
  ])("%s", async (_, content, answer) => {
    expect(await answerIn(content)).toBe(answer);
  });

  test("a missing file, or a folder, has none", async () => {
    expect(await extractLastAssistantResponse(path)).toBeNull();
    expect(await extractLastAssistantResponse(folder)).toBeNull();
  });

  test("a pipe has none, and does not block", async () => {
    Bun.spawnSync(["mkfifo", path]);
    expect(await extractLastAssistantResponse(path)).toBeNull();
  });

  test("can be shortened", async () => {
    writeFileSync(path, fileOf([say("m1", "hello there")]));
    expect(await extractLastAssistantResponse(path, 5)).toBe("hello...");
  });

  test.each([
    ["many rows over 60 KB", Array.from({ length: 12 }, () => attachment(70_000))],
    ["one row longer than the tail", [attachment(300_000)]],
    ["rows longer than the tail times four", [attachment(600_000), attachment(900_000)]],
  ])("is found before %s", async (_, rows) => {
    expect(await answerIn(fileOf([user("a"), say("m1", "far back"), ...rows]))).toBe("far back");
  });

  test("includes a block that is before the tail", async () => {
    expect(
      await answerIn(fileOf([user("a"), say("m1", "one"), use("m1"), attachment(300_000), say("m1", "two")])),
    ).toBe("one\ntwo");
  });

  test("is not searched beyond the limit", async () => {
    const filler = fileOf([attachment(1_000_000)]).repeat(17);
    expect(await answerIn(fileOf([user("a"), say("m1", "too far")]) + filler)).toBeNull();
    expect(await answerIn(fileOf([user("a"), say("m1", "near")]) + filler.slice(0, filler.length / 17))).toBe(
      "near",
    );
  });

  test("is the same wherever the tail starts, also inside of a row or a character", async () => {
    const last = fileOf([user("b"), say("m2", "일이삼사 😀")]);
    const before = fileOf([user("a"), say("m1", "한국어 😀".repeat(40)), result()]);
    for (let cut = 0; cut < 60; cut++) {
      const filler = `${"z".repeat(limits.transcriptTailBytes - Buffer.byteLength(last) - 1 - cut)}\n`;
      expect(await answerIn(before + filler + last)).toBe("일이삼사 😀");
    }
  });

  test("the limit is exact: a row that starts there counts, one that starts a byte earlier does not", async () => {
    const answer = fileOf([say("m1", "just so")]);
    const filler = (bytes: number) =>
      fileOf([attachment(0).replace('"text":""', `"text":"${"x".repeat(bytes)}"`)]);
    const room = limits.maxTranscriptTailBytes - answer.length - filler(0).length;
    expect(await answerIn(fileOf([user("a")]) + answer + filler(room))).toBe("just so");
    expect(await answerIn(fileOf([user("a")]) + answer + filler(room + 1))).toBeNull();
  });
});

async function readToEnd(reader: TranscriptReader) {
  for (;;) {
    const facts = await reader.read(path);
    if (!facts?.isBehind) return facts;
  }
}

describe("reading a transcript again and again", () => {
  test("adds what was written since, and reads nothing twice", async () => {
    const reader = createTranscriptReader();
    const first = fileOf([user("go"), say("m1", "one")]);
    writeFileSync(path, first);
    expect(await reader.read(path)).toMatchObject({ turnCount: 1, lastResponse: "one", interruptedAt: null });

    // Rows that were taken are not looked at again: here they no longer exist.
    const file = await open(path, "r+");
    await file.write(Buffer.alloc(first.length - 100, "x"), 0, first.length - 100, 0);
    await file.close();
    appendFileSync(path, fileOf([user("more"), say("m2", "two")]));
    const facts = await reader.read(path);
    expect(facts).toMatchObject({
      turnCount: 2,
      lastResponse: "two",
      usage: { tokens: { input: 20, output: 10, cacheRead: 200, cacheWrite: 2 } },
    });
    expect(await reader.read(path)).toEqual(facts as never);
  });

  test("after each piece gives the same as reading it at once", async () => {
    const whole = Buffer.concat([fixture, Buffer.from(fileOf([user("한국어 😀"), say("m1", "끝 😀")]))]);
    writeFileSync(path, whole);
    const expected = await createTranscriptReader().read(path);
    expect(expected).toMatchObject({ turnCount: 5, lastResponse: "끝 😀" });
    const cuts = fc.uniqueArray(fc.nat(whole.length), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const reader = createTranscriptReader();
        writeFileSync(path, "");
        const ends = [...at.toSorted((a, b) => a - b), whole.length];
        for (const [i, end] of ends.entries()) {
          appendFileSync(path, whole.subarray(i === 0 ? 0 : ends[i - 1], end));
          await reader.read(path);
        }
        expect(await reader.read(path)).toEqual(expected as never);
      }),
      { numRuns: 30 },
    );
  });

  test("counts a half-written last line once, when it is complete", async () => {
    const reader = createTranscriptReader();
    const row = say("m1", "whole");
    writeFileSync(path, fileOf([user("go")]) + row.slice(0, 40));
    expect(await reader.read(path)).toMatchObject({ turnCount: 1, usage: null, lastResponse: null });
    appendFileSync(path, row.slice(40));
    expect(await reader.read(path)).toMatchObject({ lastResponse: "whole" });
    appendFileSync(path, `\n${fileOf([user("next")])}`);
    expect(await reader.read(path)).toMatchObject({
      turnCount: 2,
      usage: { tokens: { input: 10, output: 5, cacheRead: 100, cacheWrite: 1 } },
    });
  });

  const replacements: [string, (content: string) => void][] = [
    [
      "cut short",
      (content) => {
        truncateSync(path, 0);
        appendFileSync(path, content);
      },
    ],
    [
      "replaced by another file",
      (content) => {
        writeFileSync(`${path}.new`, content);
        renameSync(`${path}.new`, path);
      },
    ],
    [
      "removed and written again",
      (content) => {
        rmSync(path);
        writeFileSync(path, content);
      },
    ],
    [
      "written over, and longer than before",
      (content) => writeFileSync(path, content + fileOf([attachment(5_000)])),
    ],
  ];
  test.each(replacements)("starts over if the file was %s", async (_, replace) => {
    const reader = createTranscriptReader();
    writeFileSync(path, fileOf([user("a"), say("m1", "old"), user("b"), say("m2", "old")]));
    expect(await reader.read(path)).toMatchObject({ turnCount: 2 });
    replace(fileOf([user("c"), say("m3", "new")]));
    expect(await reader.read(path)).toMatchObject({
      turnCount: 1,
      lastResponse: "new",
      usage: { tokens: { output: 5 } },
    });
  });

  test("twice at the same time counts nothing twice", async () => {
    const reader = createTranscriptReader();
    writeFileSync(path, fileOf([user("a")]));
    await reader.read(path);
    appendFileSync(path, fileOf([user("b"), user("c")]));
    const counts = await Promise.all([1, 2, 3].map(async () => (await reader.read(path))?.turnCount));
    expect(counts).toEqual([3, 3, 3]);
  });

  test("gives null for a missing file; a forgotten one is read from its start", async () => {
    const reader = createTranscriptReader();
    expect(await reader.read(path)).toBeNull();
    writeFileSync(path, fileOf([user("a")]));
    expect(await reader.read(path)).toMatchObject({ turnCount: 1 });
    reader.forget(path);
    expect(await reader.read(path)).toMatchObject({ turnCount: 1 });
    rmSync(path);
    expect(await reader.read(path)).toBeNull();
  });

  test("skips a row that is too long, and reads the next one", async () => {
    const reader = createTranscriptReader();
    const room = limits.maxTranscriptRowBytes - user("").length;
    writeFileSync(path, fileOf([user("x".repeat(room)), user("y".repeat(room + 1)), say("m1", "after it")]));
    expect(await readToEnd(reader)).toMatchObject({ turnCount: 1, lastResponse: "after it" });
  });

  test("reads a long file slice by slice, and knows its end at once", async () => {
    const reader = createTranscriptReader();
    const filler = fileOf([attachment(1_000_000)]).repeat(14);
    writeFileSync(path, fileOf([user("a"), assistant("m1", "x", { gitBranch: "old" })]) + filler);
    appendFileSync(path, fileOf([user("b"), say("m2", "the end")]));
    const end = { gitBranch: "main", lastResponse: "the end" };
    const unknown = { turnCount: null, usage: null };
    expect(await reader.read(path)).toMatchObject({ ...end, ...unknown, isBehind: true });
    appendFileSync(path, fileOf([user("c"), say("m3", "a later end")]));
    const later = { gitBranch: "main", lastResponse: "a later end" };
    expect(await reader.read(path)).toMatchObject({ ...later, ...unknown, isBehind: true });
    expect(await reader.read(path)).toMatchObject({
      ...later,
      turnCount: 3,
      usage: { tokens: { input: 30, output: 15 } },
      isBehind: false,
    });
  });
});
