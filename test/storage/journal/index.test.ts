import { afterAll, expect, test } from "bun:test";
import { appendFileSync, chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { limits } from "../../../src/core/limits.ts";
import { modeOf, removeTemporaryFolders, temporaryFolder } from "../folder.ts";
import { cut, entry, linesOf, newest, open, textOf } from "./fixture.ts";

afterAll(removeTemporaryFolders);

test("what was appended is read back in order after a restart, field by field", async () => {
  const dir = temporaryFolder();
  const { journal } = open(dir);
  await Promise.all([
    journal.append(entry("a", { deep: [1, { x: "ü☂" }] }, { boot: null })),
    journal.append(entry("b", "text", { spool: ["12.34.ab", 99] })),
  ]);
  await journal.append(entry('c "quoted"\n', null));
  expect(linesOf(dir).lines).toEqual([
    { id: "a", at: 1_700_000_000_000, t: 12.5, boot: null, key: "k-a", body: { deep: [1, { x: "ü☂" }] } },
    { id: "b", at: 1_700_000_000_000, t: 12.5, boot: "b", key: "k-b", spool: ["12.34.ab", 99], body: "text" },
    { id: 'c "quoted"\n', at: 1_700_000_000_000, t: 12.5, boot: "b", key: 'k-c "quoted"\n', body: null },
  ]);
});

test("a body laid out over several lines stays one line and means the same", async () => {
  const dir = temporaryFolder();
  const body = { a: [1, 2, { b: "with \n inside" }] };
  await open(dir).journal.append(
    entry("a", null, { text: JSON.stringify(body, null, 2).replaceAll("\n", "\r\n") }),
  );
  expect(textOf(dir).match(/[\r\n]/g)).toEqual(["\n"]);
  expect(linesOf(dir).lines[0]?.body).toEqual(body);
});

test("any JSON there is comes back as it was", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 4 })), { maxLength: 5 }),
      async (events) => {
        const dir = temporaryFolder();
        const { journal } = open(dir);
        await Promise.all(events.map(([id, body]) => journal.append(entry(id, body))));
        journal.close();
        const { lines, skipped } = linesOf(dir);
        expect(skipped).toBe(0);
        expect(lines.map(({ id, body }) => [id, body])).toEqual(
          events.map(([id, body]) => [id, JSON.parse(JSON.stringify(body))]),
        );
      },
    ),
    { numRuns: 50 },
  );
});

test("a body nested deeper than JSON.stringify can write is kept", async () => {
  const dir = temporaryFolder();
  const text = "[".repeat(60_000) + "]".repeat(60_000);
  await open(dir).journal.append(entry("deep", null, { text }));
  expect(linesOf(dir).ids).toEqual(["deep"]);
});

test("an event is on disk once its append is settled, and not a position before", async () => {
  const dir = temporaryFolder();
  const { journal } = open(dir);
  const start = journal.position();
  const done = journal.append(entry("a"));
  expect(journal.position()).toEqual(start);
  await done;
  expect(linesOf(dir).ids).toEqual(["a"]);
  const middle = journal.position();
  await journal.append(entry("b"));
  expect(linesOf(dir, middle).ids).toEqual(["b"]);
  expect(linesOf(dir, start).ids).toEqual(["a", "b"]);
  expect(linesOf(dir, journal.position()).ids).toEqual([]);
});

test("events of one moment are written together at its end, and settle in the order they came", async () => {
  const dir = temporaryFolder();
  const { journal } = open(dir);
  await journal.append(entry("first"));
  const order: string[] = [];
  const appends = ["a", "b", "c"].map((id) => journal.append(entry(id)).then(() => order.push(id)));
  expect(textOf(dir).split("\n")).toHaveLength(2);
  await Promise.all(appends);
  expect(order).toEqual(["a", "b", "c"]);
  expect(linesOf(dir).ids).toEqual(["first", "a", "b", "c"]);
});

test("more than fits into one write keeps its order", async () => {
  const dir = temporaryFolder();
  const { journal } = open(dir);
  const ids = Array.from({ length: 40 }, (_, n) => `${n}`);
  await Promise.all(ids.map((id) => journal.append(entry(id, "ü".repeat(5_000)))));
  expect(linesOf(dir).ids).toEqual(ids);
});

test("close writes what was still waiting", async () => {
  const dir = temporaryFolder();
  const { journal } = open(dir);
  const done = journal.append(entry("a"));
  journal.close();
  expect(linesOf(dir).ids).toEqual(["a"]);
  await done;
});

test("the journal is its owner's alone, also where its file was not", async () => {
  const dir = join(temporaryFolder(), "journal");
  await open(dir).journal.append(entry("a"));
  expect([modeOf(dir), modeOf(newest(dir))]).toEqual(["700", "600"]);
  chmodSync(newest(dir), 0o644);
  await open(dir).journal.append(entry("b"));
  expect(modeOf(newest(dir))).toBe("600");
});

test("a broken line in the middle is skipped, and the log says where", async () => {
  const dir = temporaryFolder();
  const { journal } = open(dir);
  await journal.append(entry("a"));
  journal.close();
  const at = textOf(dir).length;
  appendFileSync(newest(dir), '{"id":"b","at":1\n{"id":7}\n\0\0\0\nnull\n');
  await open(dir).journal.append(entry("c"));
  const { ids, skipped, errors } = linesOf(dir);
  expect(ids).toEqual(["a", "c"]);
  expect(skipped).toBe(4);
  expect(errors[0]).toContain(`journal 0000000001.jsonl: skipped 17 bytes at ${at} `);
});

test("a line longer than any beckon writes is passed over without being held in memory", async () => {
  const dir = temporaryFolder();
  const { journal } = open(dir);
  await journal.append(entry("a"));
  journal.close();
  const piece = Buffer.alloc(8 * 1024 * 1024, 97);
  for (let written = 0; written <= limits.maxJournalLineBytes; written += piece.length)
    appendFileSync(newest(dir), piece);
  appendFileSync(newest(dir), "\n");
  await open(dir).journal.append(entry("b"));
  const { ids, errors } = linesOf(dir);
  expect(ids).toEqual(["a", "b"]);
  expect(errors).toEqual([expect.stringContaining("longer than any line")]);
});

test("a line as long as a body may be is read back over many chunks", async () => {
  const dir = temporaryFolder();
  const big = { text: "ü".repeat(limits.maxBodyBytes / 2) };
  const { journal } = open(dir);
  await Promise.all([
    journal.append(entry("a")),
    journal.append(entry("big", big)),
    journal.append(entry("c")),
  ]);
  const { ids, lines } = linesOf(dir);
  expect(ids).toEqual(["a", "big", "c"]);
  expect(lines[1]?.body).toEqual(big);
});

test("a journal deleted while beckon runs is begun anew, and later positions still count", async () => {
  const dir = join(temporaryFolder(), "journal");
  const { journal, errors } = open(dir);
  await journal.append(entry("a"));
  const covered = journal.position();
  rmSync(dir, { recursive: true });
  await journal.append(entry("b"));
  expect(linesOf(dir).ids).toEqual(["b"]);
  expect(linesOf(dir, covered).ids).toEqual(["b"]);
  expect(errors).toEqual([expect.stringContaining("0000000001.jsonl was deleted by another program")]);
});

test("a journal that another program emptied is left alone, and the next events are found", async () => {
  const dir = temporaryFolder();
  const { journal, errors } = open(dir);
  await journal.append(entry("a"));
  const covered = journal.position();
  cut(newest(dir), 0);
  await journal.append(entry("b"));
  expect(linesOf(dir, covered).ids).toEqual(["b"]);
  expect(errors).toEqual([expect.stringContaining("was changed by another program")]);
});

test("a folder that cannot be written rejects each event with what to do, and recovers", async () => {
  const parent = temporaryFolder();
  const dir = join(parent, "journal");
  writeFileSync(dir, "a file is in the way");
  const { journal } = open(dir);
  const failed = await Promise.allSettled([journal.append(entry("a")), journal.append(entry("b"))]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const reason = failed[0]?.status === "rejected" ? failed[0].reason : null;
  expect(reason).toMatchObject({ name: "JournalError", code: "ENOTDIR" });
  expect(reason.message).toContain("Is the state folder writable?");
  rmSync(dir);
  await journal.append(entry("c"));
  expect(linesOf(dir).ids).toEqual(["c"]);
});

test("a snapshot ahead of the journal, as after a power failure, does not hide what comes next", async () => {
  const dir = temporaryFolder();
  const first = open(dir).journal;
  await Promise.all(["a", "b", "c"].map((id) => first.append(entry(id))));
  const covered = first.position();
  first.close();
  cut(newest(dir), 150);
  const { journal } = open(dir);
  journal.replay(covered, () => {});
  await journal.append(entry("new"));
  journal.close();
  expect(linesOf(dir, covered).ids).toEqual(["new"]);

  rmSync(dir, { recursive: true });
  const emptied = open(dir).journal;
  emptied.replay(covered, () => {});
  await emptied.append(entry("newer"));
  expect(linesOf(dir, covered).ids).toEqual(["newer"]);
});
