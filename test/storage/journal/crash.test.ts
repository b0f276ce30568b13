import { afterAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { letTimePass, waitUntil } from "../../wait-until.ts";
import { removeTemporaryFolders, temporaryFolder } from "../folder.ts";
import { createEntry, newestSegment, openTestJournal, readJournal, truncateFile } from "./fixture.ts";

afterAll(removeTemporaryFolders);

test("a journal cut off at any byte has exactly its complete lines, and the next event follows them", async () => {
  const folder = temporaryFolder();
  const original = join(folder, "original");
  const { journal } = openTestJournal(original);
  const ids = ["a", "b", "ü☂"];
  for (const id of ids) await journal.append(createEntry(id, { prompt: `über ${id} "\\n" 😀` }));
  journal.close();
  const bytes = readFileSync(newestSegment(original));
  const ends = [...bytes.keys()].filter((index) => bytes[index] === 10).map((index) => index + 1);
  expect(ends).toHaveLength(3);

  for (let length = 0; length <= bytes.length; length++) {
    const dir = join(folder, String(length));
    mkdirSync(dir);
    copyFileSync(newestSegment(original), join(dir, "0000000001.jsonl"));
    truncateFile(join(dir, "0000000001.jsonl"), length);
    const complete = ends.filter((end) => end <= length).length;
    const before = readJournal(dir);
    expect(before.ids).toEqual(ids.slice(0, complete));
    expect(before.errors).toEqual([]);

    const after = openTestJournal(dir).journal;
    expect(after.position()).toEqual({ segment: "0000000001.jsonl", offset: ends[complete - 1] ?? 0 });
    expect(after.recentIds(10)).toEqual(ids.slice(0, complete));
    await after.append(createEntry("next"));
    after.close();
    const again = readJournal(dir);
    expect(again.ids).toEqual([...ids.slice(0, complete), "next"]);
    expect(again.skipped).toBe(0);
  }
});

const writer = join(import.meta.dir, "../../fixtures/journal-program.ts");

test("after kill -9 at any moment, every acknowledged event is in the journal once", async () => {
  const dir = temporaryFolder();
  const acknowledged: string[] = [];
  for (let round = 0; round < 6; round++) {
    const child = Bun.spawn([process.execPath, writer, dir, String(round)], {
      stdout: "pipe",
      stderr: "inherit",
    });
    let text = "";
    const reading = (async () => {
      for await (const bytes of child.stdout) text += new TextDecoder().decode(bytes);
    })();
    await waitUntil(() => text.length > 500, 10_000);
    await letTimePass(Math.random() * 60, "it is killed at another moment each time");
    child.kill("SIGKILL");
    await reading;
    acknowledged.push(...text.split("\n").slice(0, -1));
  }
  const { ids, skipped } = readJournal(dir);
  expect(acknowledged.length).toBeGreaterThan(100);
  expect(skipped).toBe(0);
  expect(new Set(ids).size).toBe(ids.length);
  const journalled = new Set(ids);
  expect(acknowledged.filter((id) => !journalled.has(id))).toEqual([]);
  expect(statSync(newestSegment(dir)).size).toBeGreaterThan(0);
});
