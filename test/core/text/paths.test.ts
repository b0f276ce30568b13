import { describe, expect, test } from "bun:test";
import {
  findRelativePath,
  hasDotSegments,
  isAbsolute,
  shortenHome,
  shortenHomePath,
} from "../../../src/core/text/paths.ts";

describe("a path relative to a folder", () => {
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
  ])("in %j: %j is %j", (folder, path, expected) => {
    expect(findRelativePath(folder, path)).toBe(expected);
  });
});

test.each(["/a", "C:\\a", "c:/a", "\\\\host\\share"])("%j is absolute", (path) => {
  expect(isAbsolute(path)).toBe(true);
});
test.each(["a", "./a", "~/a", "C:a", ""])("%j is relative", (path) => {
  expect(isAbsolute(path)).toBe(false);
});
test.each(["a/../b", "../a", "a/..", "./a", "a//b", "a\\..\\b"])("%j has dot segments", (path) => {
  expect(hasDotSegments(path)).toBe(true);
});
test.each(["a/b", "/a/b", "a..b/c", ".hidden/x", "a/...", "C:\\a", "file://x"])("%j has none", (path) => {
  expect(hasDotSegments(path)).toBe(false);
});

describe("the home folder is ~ in texts of beckon", () => {
  test.each([
    [
      "Registered 19 hooks in /home/ann/.claude/settings.json.",
      "Registered 19 hooks in ~/.claude/settings.json.",
    ],
    ["/home/ann/a and (/home/ann/b)", "~/a and (~/b)"],
    ["It stays in /home/ann.", "It stays in ~."],
    ["See:/home/ann/x", "See:~/x"],
  ])("%s", (text, shown) => expect(shortenHome(text, "/home/ann")).toBe(shown));

  test.each([
    ["the home of another user", "/home/anna/x and /srv/home/ann/x"],
    ["a folder beside it", "/home/ann,old/x and /home/ann;x and /home/ann.bak/x"],
    ["a path to be copied with its quotes", "chmod 700 '/home/ann/.local'"],
    ["a variable's value", "BECKON_HOME=/home/ann/b beckon"],
  ])("but not %s", (_, text) => expect(shortenHome(text, "/home/ann")).toBe(text));

  test.each(["", "/", "//", "C:\\Users\\ann"])("nor if the home folder is %p", (home) =>
    expect(shortenHome("in /x and C:\\Users\\ann\\x", home)).toBe("in /x and C:\\Users\\ann\\x"),
  );

  test("with any characters in its name", () =>
    expect(shortenHome("in /home/a.b+c/x, /home/aXb+c/x", "/home/a.b+c/")).toBe("in ~/x, /home/aXb+c/x"));
});

describe("the home folder is ~ in texts of an agent if all of it is a path", () => {
  test.each([
    ["/home/ann/.zshrc", "~/.zshrc"],
    ["Edit: /home/ann/.zshrc", "Edit: ~/.zshrc"],
    ["Permission for Edit: /home/ann/.zshrc", "Permission for Edit: ~/.zshrc"],
    ["Bash: cat /home/ann/.zshrc", "Bash: cat /home/ann/.zshrc"],
    ["Bash: /home/ann/run --now", "Bash: /home/ann/run --now"],
    ["Bash: scp host: /home/ann/x", "Bash: scp host: /home/ann/x"],
  ])("%s", (text, shown) => expect(shortenHomePath(text, "/home/ann")).toBe(shown));
});
