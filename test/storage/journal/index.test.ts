import { afterAll, expect, test } from "bun:test";
import { appendFileSync, chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { limits } from "../../../src/core/limits.ts";
import { readMode, removeTemporaryFolders, temporaryFolder } from "../folder.ts";
import {
  createEntry,
  newestSegment,
  openTestJournal,
  readJournal,
  readNewestSegment,
  truncateFile,
} from "./fixture.ts";

afterAll(removeTemporaryFolders);

test("entries are read back in order after a restart, with all their fields", async () => {
  const dir = temporaryFolder();
  const { journal } = openTestJournal(dir);
  await Promise.all([
    journal.append(createEntry("a", { deep: [1, { x: "ü☂" }] }, { boot: null })),
    journal.append(createEntry("b", "text", { spool: ["12.34.ab", 99] })),
  ]);
  await journal.append(createEntry('c "quoted"\n', null));
  expect(readJournal(dir).lines).toEqual([
    { id: "a", at: 1_700_000_000_000, t: 12.5, boot: null, key: "k-a", body: { deep: [1, { x: "ü☂" }] } },
    { id: "b", at: 1_700_000_000_000, t: 12.5, boot: "b", key: "k-b", spool: ["12.34.ab", 99], body: "text" },
    { id: 'c "quoted"\n', at: 1_700_000_000_000, t: 12.5, boot: "b", key: 'k-c "quoted"\n', body: null },
  ]);
});

test("a body with line breaks becomes one line with the same meaning", async () => {
  const dir = temporaryFolder();
  const body = { a: [1, 2, { b: "with \n inside" }] };
  await openTestJournal(dir).journal.append(
    createEntry("a", null, { text: JSON.stringify(body, null, 2).replaceAll("\n", "\r\n") }),
  );
  expect(readNewestSegment(dir).match(/[\r\n]/g)).toEqual(["\n"]);
  expect(readJournal(dir).lines[0]?.body).toEqual(body);
});

test("any JSON is read back as it was", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 4 })), { maxLength: 5 }),
      async (events) => {
        const dir = temporaryFolder();
        const { journal } = openTestJournal(dir);
        await Promise.all(events.map(([id, body]) => journal.append(createEntry(id, body))));
        journal.close();
        const { lines, skipped } = readJournal(dir);
        expect(skipped).toBe(0);
        expect(lines.map(({ id, body }) => [id, body])).toEqual(
          events.map(([id, body]) => [id, JSON.parse(JSON.stringify(body))]),
        );
      },
    ),
    { numRuns: 50 },
  );
});

test("a body nested deeper than JSON.stringify can write is journalled", async () => {
  const dir = temporaryFolder();
  const text = "[".repeat(60_000) + "]".repeat(60_000);
  await openTestJournal(dir).journal.append(createEntry("deep", null, { text }));
  expect(readJournal(dir).ids).toEqual(["deep"]);
});

test("an event is on disk once its append has resolved, and the position changes only then", async () => {
  const dir = temporaryFolder();
  const { journal } = openTestJournal(dir);
  const start = journal.position();
  const written = journal.append(createEntry("a"));
  expect(journal.position()).toEqual(start);
  await written;
  expect(readJournal(dir).ids).toEqual(["a"]);
  const middle = journal.position();
  await journal.append(createEntry("b"));
  expect(readJournal(dir, middle).ids).toEqual(["b"]);
  expect(readJournal(dir, start).ids).toEqual(["a", "b"]);
  expect(readJournal(dir, journal.position()).ids).toEqual([]);
});

test("events of one tick are written together, and resolve in order", async () => {
  const dir = temporaryFolder();
  const { journal } = openTestJournal(dir);
  await journal.append(createEntry("first"));
  const order: string[] = [];
  const appends = ["a", "b", "c"].map((id) => journal.append(createEntry(id)).then(() => order.push(id)));
  expect(readNewestSegment(dir).split("\n")).toHaveLength(2);
  await Promise.all(appends);
  expect(order).toEqual(["a", "b", "c"]);
  expect(readJournal(dir).ids).toEqual(["first", "a", "b", "c"]);
});

test("events that do not fit into one write keep their order", async () => {
  const dir = temporaryFolder();
  const { journal } = openTestJournal(dir);
  const ids = Array.from({ length: 40 }, (_, n) => `${n}`);
  await Promise.all(ids.map((id) => journal.append(createEntry(id, "ü".repeat(5_000)))));
  expect(readJournal(dir).ids).toEqual(ids);
});

test("close writes the events that are still waiting", async () => {
  const dir = temporaryFolder();
  const { journal } = openTestJournal(dir);
  const written = journal.append(createEntry("a"));
  journal.close();
  expect(readJournal(dir).ids).toEqual(["a"]);
  await written;
});

test("only its owner can read the journal, even if its mode was wrong before", async () => {
  const dir = join(temporaryFolder(), "journal");
  await openTestJournal(dir).journal.append(createEntry("a"));
  expect([readMode(dir), readMode(newestSegment(dir))]).toEqual(["700", "600"]);
  chmodSync(newestSegment(dir), 0o644);
  await openTestJournal(dir).journal.append(createEntry("b"));
  expect(readMode(newestSegment(dir))).toBe("600");
});

test("a damaged line is skipped, and the log says where it is", async () => {
  const dir = temporaryFolder();
  const { journal } = openTestJournal(dir);
  await journal.append(createEntry("a"));
  journal.close();
  const at = readNewestSegment(dir).length;
  appendFileSync(newestSegment(dir), '{"id":"b","at":1\n{"id":7}\n\0\0\0\nnull\n');
  await openTestJournal(dir).journal.append(createEntry("c"));
  const { ids, skipped, errors } = readJournal(dir);
  expect(ids).toEqual(["a", "c"]);
  expect(skipped).toBe(4);
  expect(errors[0]).toContain(`journal 0000000001.jsonl: skipped 17 bytes at byte ${at} `);
});

test("a line that is too long is skipped", async () => {
  const dir = temporaryFolder();
  const { journal } = openTestJournal(dir);
  await journal.append(createEntry("a"));
  journal.close();
  const piece = Buffer.alloc(8 * 1024 * 1024, 97);
  for (let written = 0; written <= limits.maxJournalLineBytes; written += piece.length)
    appendFileSync(newestSegment(dir), piece);
  appendFileSync(newestSegment(dir), "\n");
  await openTestJournal(dir).journal.append(createEntry("b"));
  const { ids, errors } = readJournal(dir);
  expect(ids).toEqual(["a", "b"]);
  expect(errors).toEqual([expect.stringContaining("the line is too long")]);
});

test("a line with the largest allowed body is read back", async () => {
  const dir = temporaryFolder();
  const big = { text: "ü".repeat(limits.maxBodyBytes / 2) };
  const { journal } = openTestJournal(dir);
  await Promise.all([
    journal.append(createEntry("a")),
    journal.append(createEntry("big", big)),
    journal.append(createEntry("c")),
  ]);
  const { ids, lines } = readJournal(dir);
  expect(ids).toEqual(["a", "big", "c"]);
  expect(lines[1]?.body).toEqual(big);
});

test("a journal deleted while beckon runs is continued in a new file, and saved positions stay valid", async () => {
  const dir = join(temporaryFolder(), "journal");
  const { journal, errors } = openTestJournal(dir);
  await journal.append(createEntry("a"));
  const covered = journal.position();
  rmSync(dir, { recursive: true });
  await journal.append(createEntry("b"));
  expect(readJournal(dir).ids).toEqual(["b"]);
  expect(readJournal(dir, covered).ids).toEqual(["b"]);
  expect(errors).toEqual([expect.stringContaining("0000000001.jsonl was deleted by another program")]);
});

test("a journal that another program emptied is continued in a new file, and no later event is missed", async () => {
  const dir = temporaryFolder();
  const { journal, errors } = openTestJournal(dir);
  await journal.append(createEntry("a"));
  const covered = journal.position();
  truncateFile(newestSegment(dir), 0);
  await journal.append(createEntry("b"));
  expect(readJournal(dir, covered).ids).toEqual(["b"]);
  expect(errors).toEqual([expect.stringContaining("was changed by another program")]);
});

test("in a folder that cannot be written each append fails with advice, and works again later", async () => {
  const parent = temporaryFolder();
  const dir = join(parent, "journal");
  writeFileSync(dir, "a file is in the way");
  const { journal } = openTestJournal(dir);
  const failed = await Promise.allSettled([
    journal.append(createEntry("a")),
    journal.append(createEntry("b")),
  ]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const reason = failed[0]?.status === "rejected" ? failed[0].reason : null;
  expect(reason).toMatchObject({ name: "JournalError", code: "it is a file" });
  expect(reason.message).toContain("Move it away.");
  rmSync(dir);
  await journal.append(createEntry("c"));
  expect(readJournal(dir).ids).toEqual(["c"]);
});

test("if the snapshot is ahead of the journal, as after a power failure, no later event is missed", async () => {
  const dir = temporaryFolder();
  const first = openTestJournal(dir).journal;
  await Promise.all(["a", "b", "c"].map((id) => first.append(createEntry(id))));
  const covered = first.position();
  first.close();
  truncateFile(newestSegment(dir), 150);
  const { journal } = openTestJournal(dir);
  journal.replay(covered, () => {});
  await journal.append(createEntry("new"));
  journal.close();
  expect(readJournal(dir, covered).ids).toEqual(["new"]);

  rmSync(dir, { recursive: true });
  const emptied = openTestJournal(dir).journal;
  emptied.replay(covered, () => {});
  await emptied.append(createEntry("newer"));
  expect(readJournal(dir, covered).ids).toEqual(["newer"]);
});
