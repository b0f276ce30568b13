import { afterAll, expect } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JournalError } from "../../src/storage/journal/index.ts";
import { acquireLock } from "../../src/storage/lock.ts";
import { openLog } from "../../src/storage/log.ts";
import { resolvePaths as pathsOf } from "../../src/storage/paths.ts";
import { createSaver } from "../../src/storage/saver.ts";
import { loadSnapshot, type SnapshotFile, saveSnapshot } from "../../src/storage/snapshot.ts";
import { openSpool } from "../../src/storage/spool.ts";
import { testWith } from "../needs.ts";
import { makeReadOnly, removeTemporaryFolders, withTmpfs } from "./folder.ts";
import { entry, linesOf, newest, open } from "./journal/fixture.ts";

afterAll(removeTemporaryFolders);

const testOnSmallDisk = testWith("root", "linux", "mount");

/** Leaves that many bytes free. */
function fill(folder: string, diskBytes: number, freeBytes: number): string {
  const filler = join(folder, "filler");
  writeFileSync(filler, "x".repeat(diskBytes - freeBytes));
  return filler;
}

testOnSmallDisk("on a full disk an event is refused whole, and taken again once there is room", async () => {
  await withTmpfs("256k", async (folder) => {
    const dir = join(folder, "journal");
    mkdirSync(dir);
    const { journal, errors } = open(dir);
    await journal.append(entry("before"));
    const filler = fill(folder, 256 * 1024, 16 * 1024);
    const length = statSync(newest(dir)).size;

    const failed = await Promise.allSettled(
      ["a", "b"].map((id) => journal.append(entry(id, "y".repeat(30_000)))),
    );
    for (const result of failed) {
      expect(result.status).toBe("rejected");
      if (result.status !== "rejected") continue;
      expect(result.reason).toBeInstanceOf(JournalError);
      expect(result.reason.code).toBe("ENOSPC");
      expect(result.reason.message).toContain("Free some disk space");
    }
    expect(statSync(newest(dir)).size).toBe(length);
    expect(linesOf(dir)).toMatchObject({ ids: ["before"], skipped: 0 });

    await journal.append(entry("small"));
    rmSync(filler);
    await journal.append(entry("a", "y".repeat(30_000)));
    expect(linesOf(dir)).toMatchObject({ ids: ["before", "small", "a"], skipped: 0 });
    expect(errors).toEqual([]);
  });
});

testOnSmallDisk(
  "a spooled event that finds the disk full stays in the spool until it can be kept",
  async () => {
    await withTmpfs("256k", async (folder) => {
      const dir = join(folder, "journal");
      const spool = join(folder, "spool.jsonl");
      const line = JSON.stringify({ provider: "claude", big: "z".repeat(20_000) });
      writeFileSync(spool, `${line}\n`);
      const { journal } = open(dir);
      await journal.append(entry("before"));
      const filler = fill(folder, 256 * 1024, 32 * 1024);
      const consumer = openSpool(spool, {
        position: null,
        maxLineBytes: 100_000,
        onError: () => {},
        accept: (text, next) =>
          journal.append(entry("spooled", null, { text, spool: next })).then(
            () => "accepted" as const,
            () => "retry" as const,
          ),
      });
      expect(await consumer.poll()).toBe(0);
      expect(readFileSync(spool, "utf8")).toBe(`${line}\n`);
      rmSync(filler);
      expect(await consumer.poll()).toBe(1);
      await consumer.stop();
      expect(linesOf(dir).ids).toEqual(["before", "spooled"]);
    });
  },
);

testOnSmallDisk("a snapshot that no longer fits leaves the last one usable, and is reported", async () => {
  await withTmpfs("256k", (folder) => {
    const paths = pathsOf({ BECKON_HOME: folder });
    const file = (note: string): SnapshotFile => ({ version: 1, journal: null, spool: null, note });
    saveSnapshot(paths, file("old"));
    const filler = fill(folder, 256 * 1024, 20 * 1024);
    const errors: string[] = [];
    const saver = createSaver(() => saveSnapshot(paths, file("n".repeat(100_000))), {
      onError: (text) => errors.push(text),
    });
    saver.schedule();
    saver.flush();
    expect(errors).toEqual([expect.stringContaining("the snapshot could not be written (ENOSPC)")]);
    expect(loadSnapshot(paths)).toEqual({ value: file("old") });
    rmSync(filler);
    saver.flush();
    expect(errors).toHaveLength(1);
    expect(loadSnapshot(paths).value?.note).toHaveLength(100_000);
  });
});

testOnSmallDisk("on a read-only disk saving is reported, loading works, logging is silent", async () => {
  await withTmpfs("256k", (folder) => {
    const paths = pathsOf({ BECKON_HOME: folder });
    saveSnapshot(paths, { version: 1, journal: null, spool: null, note: "kept" });
    writeFileSync(paths.snapshot.replace(".json", ".previous.json"), "damaged");
    makeReadOnly(folder);
    const errors: string[] = [];
    const saver = createSaver(() => saveSnapshot(paths, { version: 1, journal: null, spool: null }), {
      onError: (text) => errors.push(text),
    });
    saver.schedule();
    saver.flush();
    expect(errors).toEqual([expect.stringContaining("(EROFS)")]);
    expect(loadSnapshot(paths).value?.note).toBe("kept");
    openLog(paths.log)("error", "nobody will read this");
    expect(() => acquireLock(paths)).toThrow(/cannot lock .*EROFS/);
  });
});

testOnSmallDisk("a damaged snapshot on a read-only disk does not stop the start", async () => {
  await withTmpfs("256k", (folder) => {
    const paths = pathsOf({ BECKON_HOME: folder });
    writeFileSync(paths.snapshot, "{");
    makeReadOnly(folder);
    const { value, problem } = loadSnapshot(paths);
    expect(value).toBeNull();
    expect(problem).toContain("snapshot.json is damaged (no JSON) and could not be put aside (EROFS)");
  });
});

testOnSmallDisk("the log survives a full disk and goes on afterwards", async () => {
  await withTmpfs("64k", (folder) => {
    const path = join(folder, "beckon.log");
    const log = openLog(path);
    log("info", "before");
    const filler = fill(folder, 64 * 1024, 4 * 1024);
    for (let n = 0; n < 200; n++) log("error", `${n} ${"x".repeat(500)}`);
    rmSync(filler);
    log("info", "after");
    expect(readFileSync(path, "utf8")).toContain("after");
  });
});
