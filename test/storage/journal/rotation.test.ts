import { afterAll, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../../src/core/timing.ts";
import { removeTemporaryFolders, temporaryFolder } from "../folder.ts";
import { createEntry, listFiles, newestSegment, openTestJournal, readJournal } from "./fixture.ts";

afterAll(removeTemporaryFolders);

/** The position of a snapshot that contains nothing. */
const nothingCovered = { segment: "0000000000.jsonl", offset: 0 };

test("a segment of more than 8 MB is followed by a new one, and both are replayed", async () => {
  const dir = temporaryFolder();
  const { journal } = openTestJournal(dir);
  await journal.append(createEntry("a", "x".repeat(4 * 1024 * 1024)));
  journal.rotate(journal.position());
  expect(listFiles(dir)).toHaveLength(1);
  await journal.append(createEntry("b", "x".repeat(5 * 1024 * 1024)));
  const covered = journal.position();
  journal.rotate(covered);
  await journal.append(createEntry("c"));
  expect(listFiles(dir)).toEqual(["0000000001.jsonl", "0000000002.jsonl"]);
  expect(readJournal(dir).ids).toEqual(["a", "b", "c"]);
  expect(readJournal(dir, covered).ids).toEqual(["c"]);
  expect(journal.recentIds(2)).toEqual(["b", "c"]);
});

test("events that a snapshot contains are removed after the configured number of days", async () => {
  const dir = temporaryFolder();
  let now = Date.now();
  const { journal, errors } = openTestJournal(dir, { retentionDays: () => 5, now: () => now });
  for (const id of ["a", "b", "c", "d"]) {
    await journal.append(createEntry(id));
    utimesSync(newestSegment(dir), now / 1000, now / 1000);
    now += 2 * dayMs;
    journal.rotate(id === "d" ? journal.position() : nothingCovered);
  }
  expect(readJournal(dir).ids).toEqual(["c", "d"]);
  expect(errors).toEqual([]);
});

test("events that no snapshot contains are never removed, nor is the newest segment that one contains", async () => {
  const dir = temporaryFolder();
  let now = Date.now();
  const { journal } = openTestJournal(dir, { retentionDays: () => 1, now: () => now });
  const covered = [];
  for (const id of ["a", "b", "c"]) {
    await journal.append(createEntry(id));
    covered.push(journal.position());
    now += 2 * dayMs;
    journal.rotate(nothingCovered);
  }
  now += 365 * dayMs;
  expect(listFiles(dir)).toHaveLength(4);
  const second = covered[1];
  if (second) journal.rotate({ ...second, offset: second.offset - 1 });
  expect(readJournal(dir).ids).toEqual(["a", "b", "c"]);
  if (second) journal.rotate(second);
  expect(readJournal(dir).ids).toEqual(["b", "c"]);
  journal.rotate(journal.position());
  expect(readJournal(dir).ids).toEqual(["c"]);
  expect(journal.recentIds(10)).toEqual(["c"]);
});

test("a journal that is too large loses its oldest segments early, if a snapshot contains them", async () => {
  const dir = temporaryFolder();
  let now = Date.now();
  const { journal } = openTestJournal(dir, { retentionDays: () => 100, maxBytes: 2_500, now: () => now });
  for (const id of ["a", "b", "c", "d"]) {
    await journal.append(createEntry(id, "x".repeat(900)));
    now += 2 * dayMs;
    journal.rotate(nothingCovered);
  }
  expect(readJournal(dir).ids).toEqual(["a", "b", "c", "d"]);
  journal.rotate(journal.position());
  expect(readJournal(dir).ids).toEqual(["c", "d"]);
});

test("recentIds reads over segments and long lines, without an incomplete last line", async () => {
  const dir = temporaryFolder();
  let now = Date.now();
  const { journal } = openTestJournal(dir, { now: () => now });
  const all: string[] = [];
  for (let i = 0; i < 900; i++) {
    const id = `${i}-é"`;
    all.push(id);
    journal.append(createEntry(id, "x".repeat(i % 7 === 0 ? 9_000 : 5)));
    if (i % 300 !== 299) continue;
    await journal.append(createEntry(`end of ${i}`));
    all.push(`end of ${i}`);
    now += 2 * dayMs;
    journal.rotate(nothingCovered);
  }
  expect(listFiles(dir)).toHaveLength(4);
  journal.close();
  appendFileSync(newestSegment(dir), '{"id":"incomplete","at":1');
  const after = openTestJournal(dir).journal;
  expect(after.recentIds(0)).toEqual([]);
  for (const max of [1, 300, 301, 302, 650, 903, 5_000])
    expect(after.recentIds(max)).toEqual(all.slice(-max));
});

test("other files in the folder are neither read nor removed", async () => {
  const dir = temporaryFolder();
  mkdirSync(join(dir, "0000000009.jsonl.d"));
  writeFileSync(join(dir, "note.txt"), "mine");
  const { journal } = openTestJournal(dir, { retentionDays: () => 0 });
  await journal.append(createEntry("a"));
  journal.rotate(journal.position());
  expect(listFiles(dir)).toContain("note.txt");
  expect(readJournal(dir).ids).toEqual(["a"]);
});

test("what a lagging history has not recorded stays in a journal that is too large, up to four times its size", async () => {
  const dir = temporaryFolder();
  let now = Date.now();
  const { journal } = openTestJournal(dir, { retentionDays: () => 100, maxBytes: 2_500, now: () => now });
  const ends = [];
  for (const id of ["a", "b", "c", "d", "e"]) {
    await journal.append(createEntry(id, "x".repeat(1_000)));
    ends.push(journal.position());
    now += 2 * dayMs;
    journal.rotate(nothingCovered);
  }
  journal.rotate(journal.position(), ends[0]);
  expect(readJournal(dir).ids).toEqual(["a", "b", "c", "d", "e"]);
  journal.rotate(journal.position(), ends[1]);
  expect(readJournal(dir).ids).toEqual(["b", "c", "d", "e"]);
  for (let n = 0; n < 6; n++) {
    await journal.append(createEntry(`f${n}`, "x".repeat(2_000)));
    now += 2 * dayMs;
    journal.rotate(journal.position(), ends[1]);
  }
  expect(readJournal(dir).ids).not.toContain("b");
  journal.rotate(journal.position(), journal.position());
  expect(readJournal(dir).ids).toEqual(["f5"]);
});
