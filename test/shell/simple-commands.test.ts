/** The exact reading: simple commands in a row, and nothing else. */
import { describe, expect, test } from "bun:test";
import { parseSimpleCommands } from "../../src/shell/index.ts";

const read = (text: string) =>
  parseSimpleCommands(text)?.map(({ assignments, words }) => [
    ...[...assignments].map(([name, value]) => `${name}=${value}`),
    ...words,
  ]);

describe("simple commands are read", () => {
  test.each<[string, string[][]]>([
    ["", []],
    ["a b", [["a", "b"]]],
    ["a && b || c; d\ne", [["a"], ["b"], ["c"], ["d"], ["e"]]],
    [
      "{ cd / && 'x y' hook a; } 2>/dev/null; exit 0",
      [
        ["cd", "/"],
        ["x y", "hook", "a"],
        ["exit", "0"],
      ],
    ],
    ["A=1 B='2 3' c", [["A=1", "B=2 3", "c"]]],
    ["'A=1' c", [["A=1", "c"]]],
    [`"$HOME/bin/x" ~/y $\{HOME}`, [["$HOME/bin/x", "~/y", `$\{HOME}`]]],
    ["a >/dev/null 2>&1", [["a"]]],
    ["a # comment", [["a"]]],
    ["a\\ b \\\n c", [["a b", "c"]]],
    ["a *.txt", [["a", "*.txt"]]],
  ])("%j", (text, expected) => {
    expect(read(text)).toEqual(expected);
  });
});

describe("everything else is refused", () => {
  test.each([
    "a | b",
    "a &",
    "a & b",
    "(a)",
    "a $(b)",
    "a `b`",
    `a $\{b:-c}`,
    "a $1",
    "a $",
    "a $'b'",
    'a $"b"',
    "a > file",
    "a < file",
    "a <<E\nE\n",
    "a <(b)",
    "a &> /dev/null",
    "f() { a; }",
    "case a in b) c;; esac",
    "&& a",
    "a ;; b",
    "{ a; } b",
    "{ a;",
    "a; }",
    "a 'b",
    "a \\",
    "a\r\nb",
    "a\0b",
    `a ${"b".repeat(70_000)}`,
  ])("%j", (text) => {
    expect(parseSimpleCommands(text)).toBeNull();
  });
});
