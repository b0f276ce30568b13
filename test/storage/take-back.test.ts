import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeLastSpoolLine } from "../../src/storage/spool.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-take-back-"));
  path = join(folder, "spool.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

const before = '{"of":"somebody"}\n';
const ours = '{"of":"doctor-1"}\n';

test.each([
  ["our line alone is taken out", before + ours, before],
  ["what came after it stays, with it", before + ours + before, before + ours + before],
  ["what came before it stays, with it", before + before + ours, before + before + ours],
  ["half a line stays", before + ours.trimEnd(), before + ours.trimEnd()],
  ["somebody else's line stays", before + before, before + before],
  ["a spool that was emptied meanwhile stays empty", "", ""],
])("%s", (_, now, then) => {
  writeFileSync(path, now);
  removeLastSpoolLine(path, before.length, "doctor-1");
  expect(readFileSync(path, "utf8")).toBe(then);
});

test("of a spool that was made for our line nothing is left that seems to wait", () => {
  writeFileSync(path, ours);
  removeLastSpoolLine(path, 0, "doctor-1");
  expect(existsSync(path)).toBe(false);
});

test("where there is none, none is made", () => {
  removeLastSpoolLine(path, 0, "doctor-1");
  expect(existsSync(path)).toBe(false);
});
