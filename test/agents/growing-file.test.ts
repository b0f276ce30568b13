/** Files that agents write line by line. */
import { afterAll, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { followFile } from "../../src/agents/watch/growing-file.ts";

const folder = mkdtempSync(join(tmpdir(), "beckon-growing-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("of a long file, the first line and the last ones are read, and then what is added", () => {
  const path = join(folder, "long.jsonl");
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}`);
  writeFileSync(path, `${lines.join("\n")}\n`);
  const file = followFile(path, 25);
  const read: string[] = [];
  expect(file.readNew((line) => read.push(line))).toBe("done");
  expect(read).toEqual(["line 0", "line 998", "line 999"]);
  appendFileSync(path, "added\nhalf");
  file.readNew((line) => read.push(line));
  appendFileSync(path, " a line\n");
  file.readNew((line) => read.push(line));
  expect(read.slice(3)).toEqual(["added", "half a line"]);
});

test("a line that never ends is not read from its start again and again", () => {
  const path = join(folder, "endless.jsonl");
  writeFileSync(path, "first\n");
  truncateSync(path, 40 * 1024 * 1024);
  const file = followFile(path);
  const read: string[] = [];
  const results = Array.from({ length: 6 }, () => file.readNew((line) => read.push(line)));
  expect(results).toEqual(["behind", "behind", "behind", "behind", "behind", "done"]);
  appendFileSync(path, "its end\nlast\n");
  while (file.readNew((line) => read.push(line)) === "behind");
  expect(read).toEqual(["first", "last"]);
});
