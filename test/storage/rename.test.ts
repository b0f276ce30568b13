import { expect, test } from "bun:test";
import { renameFile } from "../../src/storage/files.ts";

/** Fails with these codes, one after the other, and then works. */
function failWith(...codes: string[]) {
  let calls = 0;
  const rename = () => {
    const code = codes[calls++];
    if (code !== undefined) throw Object.assign(new Error(code), { code });
  };
  return { rename, calls: () => calls };
}

test("a virus scanner that holds a file for a moment does not stop beckon from replacing it on Windows", () => {
  const scanner = failWith("EPERM", "EACCES", "EBUSY");
  renameFile("new", "old", { platform: "win32", rename: scanner.rename });
  expect(scanner.calls()).toBe(4);
});

test("a file that stays locked, and every other error, is reported", () => {
  const locked = failWith(...Array(50).fill("EPERM"));
  expect(() => renameFile("new", "old", { platform: "win32", rename: locked.rename })).toThrow("EPERM");
  expect(locked.calls()).toBeLessThan(20);
  const gone = failWith("ENOENT");
  expect(() => renameFile("new", "old", { platform: "win32", rename: gone.rename })).toThrow("ENOENT");
  expect(gone.calls()).toBe(1);
  const refused = failWith("EPERM");
  expect(() => renameFile("new", "old", { platform: "linux", rename: refused.rename })).toThrow("EPERM");
  expect(refused.calls()).toBe(1);
});
