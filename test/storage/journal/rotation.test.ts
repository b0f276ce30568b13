import { afterAll, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeTemporaryFolders, temporaryFolder } from "../folder.ts";
import { entry, linesOf, newest, open, segments } from "./fixture.ts";

afterAll(removeTemporaryFolders);

const day = 86_400_000;
const nothing = { segment: "0000000000.jsonl", offset: 0 };

test("a segment of more than 8 MB is followed by a new one, and replay goes on over both", async () => {
  const dir = temporaryFolder();
  const { journal } = open(dir);
  await journal.append(entry("a", "x".repeat(4 * 1024 * 1024)));
  journal.rotate(journal.position());
  expect(segments(dir)).toHaveLength(1);
  await journal.append(entry("b", "x".repeat(5 * 1024 * 1024)));
  const covered = journal.position();
  journal.rotate(covered);
  await journal.append(entry("c"));
  expect(segments(dir)).toEqual(["0000000001.jsonl", "0000000002.jsonl"]);
  expect(linesOf(dir).ids).toEqual(["a", "b", "c"]);
  expect(linesOf(dir, covered).ids).toEqual(["c"]);
  expect(journal.recentIds(2)).toEqual(["b", "c"]);
});

test("events that a snapshot has are kept for the days asked for, and not longer", async () => {
  const dir = temporaryFolder();
  let now = Date.now();
  const { journal, errors } = open(dir, { retentionDays: () => 5, now: () => now });
  for (const id of ["a", "b", "c", "d"]) {
    await journal.append(entry(id));
    utimesSync(newest(dir), now / 1000, now / 1000);
    now += 2 * day;
    journal.rotate(id === "d" ? journal.position() : nothing);
  }
  expect(linesOf(dir).ids).toEqual(["c", "d"]);
  expect(errors).toEqual([]);
});

test("nothing a snapshot lacks is deleted, however old; the newest segment it has stays for its ids", async () => {
  const dir = temporaryFolder();
  let now = Date.now();
  const { journal } = open(dir, { retentionDays: () => 1, now: () => now });
  const covered = [];
  for (const id of ["a", "b", "c"]) {
    await journal.append(entry(id));
    covered.push(journal.position());
    now += 2 * day;
    journal.rotate(nothing);
  }
  now += 365 * day;
  expect(segments(dir)).toHaveLength(4);
  const second = covered[1];
  if (second) journal.rotate({ ...second, offset: second.offset - 1 });
  expect(linesOf(dir).ids).toEqual(["a", "b", "c"]);
  if (second) journal.rotate(second);
  expect(linesOf(dir).ids).toEqual(["b", "c"]);
  journal.rotate(journal.position());
  expect(linesOf(dir).ids).toEqual(["c"]);
  expect(journal.recentIds(10)).toEqual(["c"]);
});

test("a flood does not fill the disk: what a snapshot has goes early, the oldest first", async () => {
  const dir = temporaryFolder();
  let now = Date.now();
  const { journal } = open(dir, { retentionDays: () => 100, maxBytes: 2_500, now: () => now });
  for (const id of ["a", "b", "c", "d"]) {
    await journal.append(entry(id, "x".repeat(900)));
    now += 2 * day;
    journal.rotate(nothing);
  }
  expect(linesOf(dir).ids).toEqual(["a", "b", "c", "d"]);
  journal.rotate(journal.position());
  expect(linesOf(dir).ids).toEqual(["c", "d"]);
});

test("recentIds reads back over segments and long lines, and leaves out a torn one", async () => {
  const dir = temporaryFolder();
  let now = Date.now();
  const { journal } = open(dir, { now: () => now });
  const all: string[] = [];
  for (let i = 0; i < 900; i++) {
    const id = `${i}-é"`;
    all.push(id);
    journal.append(entry(id, "x".repeat(i % 7 === 0 ? 9_000 : 5)));
    if (i % 300 !== 299) continue;
    await journal.append(entry(`end of ${i}`));
    all.push(`end of ${i}`);
    now += 2 * day;
    journal.rotate(nothing);
  }
  expect(segments(dir)).toHaveLength(4);
  journal.close();
  appendFileSync(newest(dir), '{"id":"torn","at":1');
  const after = open(dir).journal;
  expect(after.recentIds(0)).toEqual([]);
  for (const max of [1, 300, 301, 302, 650, 903, 5_000])
    expect(after.recentIds(max)).toEqual(all.slice(-max));
});

test("other files in the folder are not read and not deleted", async () => {
  const dir = temporaryFolder();
  mkdirSync(join(dir, "0000000009.jsonl.d"));
  writeFileSync(join(dir, "note.txt"), "mine");
  const { journal } = open(dir, { retentionDays: () => 0 });
  await journal.append(entry("a"));
  journal.rotate(journal.position());
  expect(segments(dir)).toContain("note.txt");
  expect(linesOf(dir).ids).toEqual(["a"]);
});
