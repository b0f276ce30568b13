import { afterAll, expect } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JournalError } from "../../src/storage/journal/index.ts";
import { acquireLock } from "../../src/storage/lock.ts";
import { openLog } from "../../src/storage/log.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
import { createSaver } from "../../src/storage/saver.ts";
import { loadSnapshot, type SnapshotFile, saveSnapshot } from "../../src/storage/snapshot.ts";
import { openSpool } from "../../src/storage/spool.ts";
import { testWith } from "../needs.ts";
import { makeReadOnly, removeTemporaryFolders, withTmpfs } from "./folder.ts";
import { createEntry, newestSegment, openTestJournal, readJournal } from "./journal/fixture.ts";

afterAll(removeTemporaryFolders);

const testOnSmallDisk = testWith("root", "linux", "mount");

/** Fills the disk except for `freeBytes`. Returns the path of the file. */
function fillDisk(folder: string, diskBytes: number, freeBytes: number): string {
  const filler = join(folder, "filler");
  writeFileSync(filler, "x".repeat(diskBytes - freeBytes));
  return filler;
}

testOnSmallDisk(
  "on a full disk an event fails as a whole, and can be appended once there is room",
  async () => {
    await withTmpfs("256k", async (folder) => {
      const dir = join(folder, "journal");
      mkdirSync(dir);
      const { journal, errors } = openTestJournal(dir);
      await journal.append(createEntry("before"));
      const filler = fillDisk(folder, 256 * 1024, 16 * 1024);
      const length = statSync(newestSegment(dir)).size;

      const failed = await Promise.allSettled(
        ["a", "b"].map((id) => journal.append(createEntry(id, "y".repeat(30_000)))),
      );
      for (const result of failed) {
        expect(result.status).toBe("rejected");
        if (result.status !== "rejected") continue;
        expect(result.reason).toBeInstanceOf(JournalError);
        expect(result.reason.code).toBe("ENOSPC");
        expect(result.reason.message).toContain("Free some disk space");
      }
      expect(statSync(newestSegment(dir)).size).toBe(length);
      expect(readJournal(dir)).toMatchObject({ ids: ["before"], skipped: 0 });

      await journal.append(createEntry("small"));
      rmSync(filler);
      await journal.append(createEntry("a", "y".repeat(30_000)));
      expect(readJournal(dir)).toMatchObject({ ids: ["before", "small", "a"], skipped: 0 });
      expect(errors).toEqual([]);
    });
  },
);

testOnSmallDisk("a spooled event stays in the spool while the disk is full", async () => {
  await withTmpfs("256k", async (folder) => {
    const dir = join(folder, "journal");
    const spool = join(folder, "spool.jsonl");
    const line = JSON.stringify({ provider: "claude", big: "z".repeat(20_000) });
    writeFileSync(spool, `${line}\n`);
    const { journal } = openTestJournal(dir);
    await journal.append(createEntry("before"));
    const filler = fillDisk(folder, 256 * 1024, 32 * 1024);
    const reader = openSpool(spool, {
      position: null,
      maxLineBytes: 100_000,
      onError: () => {},
      accept: (text, next) =>
        journal.append(createEntry("spooled", null, { text, spool: next })).then(
          () => "accepted" as const,
          () => "retry" as const,
        ),
    });
    expect(await reader.poll()).toBe(0);
    expect(readFileSync(spool, "utf8")).toBe(`${line}\n`);
    rmSync(filler);
    expect(await reader.poll()).toBe(1);
    await reader.stop();
    expect(readJournal(dir).ids).toEqual(["before", "spooled"]);
  });
});

testOnSmallDisk(
  "a snapshot that does not fit on the disk is reported, and the last one stays usable",
  async () => {
    await withTmpfs("256k", (folder) => {
      const paths = resolvePaths({ BECKON_HOME: folder });
      const createFile = (content: string): SnapshotFile => ({
        version: 1,
        journal: null,
        spool: null,
        content,
      });
      saveSnapshot(paths, createFile("old"));
      const filler = fillDisk(folder, 256 * 1024, 20 * 1024);
      const errors: string[] = [];
      const saver = createSaver(() => saveSnapshot(paths, createFile("n".repeat(100_000))), {
        onError: (text) => errors.push(text),
      });
      saver.schedule();
      saver.flush();
      expect(errors).toEqual([expect.stringContaining("the snapshot could not be written (ENOSPC)")]);
      expect(loadSnapshot(paths)).toEqual({ value: createFile("old") });
      rmSync(filler);
      saver.flush();
      expect(errors).toHaveLength(1);
      expect(loadSnapshot(paths).value?.content).toHaveLength(100_000);
    });
  },
);

testOnSmallDisk(
  "on a read-only disk a failed save is reported, loading works, and logging throws no error",
  async () => {
    await withTmpfs("256k", (folder) => {
      const paths = resolvePaths({ BECKON_HOME: folder });
      saveSnapshot(paths, { version: 1, journal: null, spool: null, content: "kept" });
      writeFileSync(paths.snapshot.replace(".json", ".previous.json"), "damaged");
      makeReadOnly(folder);
      const errors: string[] = [];
      const saver = createSaver(() => saveSnapshot(paths, { version: 1, journal: null, spool: null }), {
        onError: (text) => errors.push(text),
      });
      saver.schedule();
      saver.flush();
      expect(errors).toEqual([expect.stringContaining("(EROFS)")]);
      expect(loadSnapshot(paths).value?.content).toBe("kept");
      openLog(paths.log)("error", "not written");
      expect(() => acquireLock(paths)).toThrow(/cannot lock .*EROFS/);
    });
  },
);

testOnSmallDisk("a damaged snapshot on a read-only disk does not prevent the start", async () => {
  await withTmpfs("256k", (folder) => {
    const paths = resolvePaths({ BECKON_HOME: folder });
    writeFileSync(paths.snapshot, "{");
    makeReadOnly(folder);
    const { value, problem } = loadSnapshot(paths);
    expect(value).toBeNull();
    expect(problem).toContain("snapshot.json is damaged (not JSON) and could not be renamed (EROFS)");
  });
});

testOnSmallDisk("the log works again after the disk was full", async () => {
  await withTmpfs("64k", (folder) => {
    const path = join(folder, "beckon.log");
    const log = openLog(path);
    log("info", "before");
    const filler = fillDisk(folder, 64 * 1024, 4 * 1024);
    for (let n = 0; n < 200; n++) log("error", `${n} ${"x".repeat(500)}`);
    rmSync(filler);
    log("info", "after");
    expect(readFileSync(path, "utf8")).toContain("after");
  });
});
