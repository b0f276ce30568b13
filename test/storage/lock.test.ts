import { afterAll, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { acquireLock } from "../../src/storage/lock.ts";
import { modeOf, removeTemporaryFolders, temporaryFolder } from "./folder.ts";

afterAll(removeTemporaryFolders);

const code = `
  import { acquireLock } from ${JSON.stringify(new URL("../../src/storage/lock.ts", import.meta.url).pathname)};
  console.log(acquireLock({ lock: process.argv[1] }) ? "taken" : "busy");
  if (process.argv[2] === "stay") setInterval(() => Bun.gc(true), 20);
`;

function another(lock: string, stay = false) {
  return Bun.spawn([process.execPath, "-e", code, lock, ...(stay ? ["stay"] : [])], { stdout: "pipe" });
}

async function answerOf(child: { readonly stdout: ReadableStream<Uint8Array> }): Promise<string> {
  for await (const bytes of child.stdout) return new TextDecoder().decode(bytes).trim();
  return "";
}

test("a second beckon on the same folder is told so, and may come once the first has left", async () => {
  const lock = join(temporaryFolder(), "lock");
  const mine = acquireLock({ lock });
  expect(mine).not.toBeNull();
  expect(modeOf(lock)).toBe("600");
  expect(acquireLock({ lock })).toBeNull();
  Bun.gc(true);
  expect(await answerOf(another(lock))).toBe("busy");
  mine?.release();
  expect(await answerOf(another(lock))).toBe("taken");
});

test("the lock is one file, held or not: nothing is left beside it", () => {
  const folder = temporaryFolder();
  const mine = acquireLock({ lock: join(folder, "lock") });
  expect(readdirSync(folder)).toEqual(["lock"]);
  mine?.release();
  expect(readdirSync(folder)).toEqual(["lock"]);
});

test("kill -9 frees the folder at once", async () => {
  const lock = join(temporaryFolder(), "lock");
  const first = another(lock, true);
  expect(await answerOf(first)).toBe("taken");
  expect(acquireLock({ lock })).toBeNull();
  first.kill("SIGKILL");
  await first.exited;
  const mine = acquireLock({ lock });
  expect(mine).not.toBeNull();
  mine?.release();
});

test("another folder is another lock", () => {
  const locks = [temporaryFolder(), temporaryFolder()].map((folder) =>
    acquireLock({ lock: join(folder, "lock") }),
  );
  expect(locks).not.toContain(null);
  for (const lock of locks) lock?.release();
});

test("a lock file with something else in it does not stop beckon, and still locks", () => {
  const lock = join(temporaryFolder(), "lock");
  writeFileSync(lock, "not a database ".repeat(100));
  const mine = acquireLock({ lock });
  expect(mine).not.toBeNull();
  expect(acquireLock({ lock })).toBeNull();
  mine?.release();
});

test("a lock that cannot be made is an error that says why", () => {
  expect(() => acquireLock({ lock: join(temporaryFolder(), "missing", "lock") })).toThrow(
    /cannot lock .*ENOENT/,
  );
});
