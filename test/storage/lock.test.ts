import { afterAll, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { acquireLock } from "../../src/storage/lock.ts";
import { readMode, removeTemporaryFolders, temporaryFolder } from "./folder.ts";

afterAll(removeTemporaryFolders);

const program = join(import.meta.dir, "../fixtures/lock-program.ts");

function startOther(lock: string, stay = false) {
  return Bun.spawn([process.execPath, program, lock, ...(stay ? ["stay"] : [])], { stdout: "pipe" });
}

async function readAnswer(child: { readonly stdout: ReadableStream<Uint8Array> }): Promise<string> {
  for await (const bytes of child.stdout) return new TextDecoder().decode(bytes).trim();
  return "";
}

test("a second beckon cannot lock the same folder until the first has released it", async () => {
  const lock = join(temporaryFolder(), "lock");
  const mine = acquireLock({ lock });
  expect(mine).not.toBeNull();
  expect(readMode(lock)).toBe("600");
  expect(acquireLock({ lock })).toBeNull();
  Bun.gc(true);
  expect(await readAnswer(startOther(lock))).toBe("busy");
  mine?.release();
  expect(await readAnswer(startOther(lock))).toBe("taken");
});

test("the lock is a single file, while it is held and after", () => {
  const folder = temporaryFolder();
  const mine = acquireLock({ lock: join(folder, "lock") });
  expect(readdirSync(folder)).toEqual(["lock"]);
  mine?.release();
  expect(readdirSync(folder)).toEqual(["lock"]);
});

test("kill -9 releases the lock at once", async () => {
  const lock = join(temporaryFolder(), "lock");
  const first = startOther(lock, true);
  expect(await readAnswer(first)).toBe("taken");
  expect(acquireLock({ lock })).toBeNull();
  first.kill("SIGKILL");
  await first.exited;
  const mine = acquireLock({ lock });
  expect(mine).not.toBeNull();
  mine?.release();
});

test("two folders have independent locks", () => {
  const locks = [temporaryFolder(), temporaryFolder()].map((folder) =>
    acquireLock({ lock: join(folder, "lock") }),
  );
  expect(locks).not.toContain(null);
  for (const lock of locks) lock?.release();
});

test("a lock file with other content can still be locked", () => {
  const lock = join(temporaryFolder(), "lock");
  writeFileSync(lock, "not a database ".repeat(100));
  const mine = acquireLock({ lock });
  expect(mine).not.toBeNull();
  expect(acquireLock({ lock })).toBeNull();
  mine?.release();
});

test("a lock file that cannot be created is an error that says why", () => {
  expect(() => acquireLock({ lock: join(temporaryFolder(), "missing", "lock") })).toThrow(
    /cannot lock .*ENOENT/,
  );
});
