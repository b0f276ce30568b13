import { describe, expect, test } from "bun:test";
import { pathWithTilde, withTilde } from "../../../src/core/text/home.ts";

describe("the home folder is ~ in words of ours", () => {
  test.each([
    [
      "Registered 19 hooks in /home/ann/.claude/settings.json.",
      "Registered 19 hooks in ~/.claude/settings.json.",
    ],
    ["/home/ann/a and (/home/ann/b)", "~/a and (~/b)"],
    ["It stays in /home/ann.", "It stays in ~."],
    ["See:/home/ann/x", "See:~/x"],
  ])("%s", (text, shown) => expect(withTilde(text, "/home/ann")).toBe(shown));

  test.each([
    ["another person's", "/home/anna/x and /srv/home/ann/x"],
    ["a folder beside it", "/home/ann,old/x and /home/ann;x and /home/ann.bak/x"],
    ["a path to be copied with its quotes", "chmod 700 '/home/ann/.local'"],
    ["a variable's value", "BECKON_HOME=/home/ann/b beckon"],
  ])("but not %s", (_, text) => expect(withTilde(text, "/home/ann")).toBe(text));

  test.each(["", "/", "//", "C:\\Users\\ann"])("nor where it is %p", (home) =>
    expect(withTilde("in /x and C:\\Users\\ann\\x", home)).toBe("in /x and C:\\Users\\ann\\x"),
  );

  test("whatever characters are in its name", () =>
    expect(withTilde("in /home/a.b+c/x, /home/aXb+c/x", "/home/a.b+c/")).toBe("in ~/x, /home/aXb+c/x"));
});

describe("in words of an agent only where all of it is a path", () => {
  test.each([
    ["/home/ann/.zshrc", "~/.zshrc"],
    ["Edit: /home/ann/.zshrc", "Edit: ~/.zshrc"],
    ["Permission for Edit: /home/ann/.zshrc", "Permission for Edit: ~/.zshrc"],
    ["Bash: cat /home/ann/.zshrc", "Bash: cat /home/ann/.zshrc"],
    ["Bash: /home/ann/run --now", "Bash: /home/ann/run --now"],
    ["Bash: scp host: /home/ann/x", "Bash: scp host: /home/ann/x"],
  ])("%s", (text, shown) => expect(pathWithTilde(text, "/home/ann")).toBe(shown));
});
