import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { putFile } from "../../src/desktop/put-file.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-put-file-"));
  path = join(folder, "version/helper");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (text: string) => putFile(path, Buffer.from(text), 0o700);

test("file and folder are readable for the user only", () => {
  put("one");
  expect(readFileSync(path, "utf8")).toBe("one");
  expect([path, dirname(path)].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700]);
});

test("a file with the same content is not touched, another one is replaced atomically", () => {
  put("one");
  const { ino } = statSync(path);
  put("one");
  expect(statSync(path).ino).toBe(ino);
  // What a killed run left behind.
  writeFileSync(`${path}.${process.pid}.new`, "half");
  put("two");
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(statSync(path).ino).not.toBe(ino);
  expect(readdirSync(dirname(path))).toEqual(["helper"]);
});
