import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSmallFile } from "../../src/storage/files.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-small-"));
});
afterEach(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const code = (path: string) => expect.objectContaining({ code: path });

test("a file is read, without a byte order mark, and not beyond its limit", () => {
  writeFileSync(at("a"), "\ufeff{}");
  expect(readSmallFile(at("a"), 10)).toBe("{}");
  expect(() => readSmallFile(at("a"), 4)).toThrow(code("EFBIG"));
  expect(() => readSmallFile(at("none"), 4)).toThrow(code("ENOENT"));
});

test("a pipe, a device, a folder or links in a circle are none, and nobody waits for them", () => {
  expect(Bun.spawnSync(["mkfifo", at("pipe")]).exitCode).toBe(0);
  symlinkSync("/dev/zero", at("zeros"));
  symlinkSync(at("loop"), at("loop"));
  mkdirSync(at("folder"));
  const started = performance.now();
  expect(() => readSmallFile(at("pipe"), 10)).toThrow(code("ENOTREG"));
  expect(() => readSmallFile(at("zeros"), 10)).toThrow(code("ENOTREG"));
  expect(() => readSmallFile(at("folder"), 10)).toThrow(code("EISDIR"));
  expect(() => readSmallFile(at("loop"), 10)).toThrow(code("ELOOP"));
  expect(performance.now() - started).toBeLessThan(1_000);
});
