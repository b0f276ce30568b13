import { describe, expect, test } from "bun:test";
import { isAbsolute, isCrooked, within } from "../../../src/core/text/folders.ts";

describe("a path inside of a folder", () => {
  test.each<[string, string, string | null]>([
    ["/p/web", "/p/web/src/a.ts", "src/a.ts"],
    ["/p/web", "src/a.ts", "src/a.ts"],
    ["/p/web/", "/p/web", "."],
    ["/p/web", "/p/web/../web/a", "a"],
    ["/p/web", "/p/website/a", null],
    ["/p/web", "/p/web/../../etc/passwd", null],
    ["/p/web", "../a", null],
    ["/p/web", "/p", null],
    ["/", "/etc", "etc"],
    ["/p/web", "/../../p/web/a", "a"],
    ["C:\\p", "c:\\P\\src\\a.ts", "src/a.ts"],
    ["C:\\p", "C:\\p\\..\\x", null],
    ["C:\\p", "D:\\p\\x", null],
    ["/p", "a\\..\\..\\x", "a\\..\\..\\x"],
  ])("of %j: %j is %j", (folder, path, expected) => {
    expect(within(folder, path)).toBe(expected);
  });
});

test.each(["/a", "C:\\a", "c:/a", "\\\\host\\share"])("%j is a whole path", (path) => {
  expect(isAbsolute(path)).toBe(true);
});
test.each(["a", "./a", "~/a", "C:a", ""])("%j is not", (path) => {
  expect(isAbsolute(path)).toBe(false);
});
test.each(["a/../b", "../a", "a/..", "./a", "a//b", "a\\..\\b"])("%j makes a detour", (path) => {
  expect(isCrooked(path)).toBe(true);
});
test.each(["a/b", "/a/b", "a..b/c", ".hidden/x", "a/...", "C:\\a", "file://x"])("%j does not", (path) => {
  expect(isCrooked(path)).toBe(false);
});
