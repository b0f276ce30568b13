/** The commands that a shell would run, found without running any. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Script } from "../../src/shell/index.ts";
import { parseShell } from "../../src/shell/index.ts";

/** Every simple command, also in groups and substitutions, with its words joined by spaces. */
function commands(script: Script | null): string[] {
  return (script ?? [])
    .flat()
    .flatMap(({ words, redirects, group }) => [
      ...(words.length === 0 ? [] : [words.map(({ text }) => text).join(" ")]),
      ...[...words, ...redirects.map(({ target }) => target)].flatMap(({ substitutions }) =>
        substitutions.flatMap(commands),
      ),
      ...commands(group),
    ]);
}

describe("a command", () => {
  test.each<[string, string[]]>([
    ["ls -la", ["ls -la"]],
    ["a && b || c; d & e\nf", ["a", "b", "c", "d", "e", "f"]],
    ["a | b |& c", ["a", "b", "c"]],
    [`echo "a; b" 'c | d' e\\;f`, ["echo a; b c | d e;f"]],
    [`r"m" '-r'f \\/`, ["rm -rf /"]],
    ["rm \\\n -rf x", ["rm -rf x"]],
    [String.raw`$'\x72\155' $'\u002drf'`, ["rm -rf"]],
    [`rm\${IFS}-rf$IFS/`, ["rm -rf /"]],
    ["echo $(a $(b))", ["echo $()", "a $()", "b"]],
    ["echo `a \\`b\\``", ["echo $()", "a $()", "b"]],
    [`echo "x $(a "y $(b)") z"`, ["echo x $() z", "a y $()", "b"]],
    [`echo \${x:-$(a)}`, [`echo \${x:-$(a)}`, "a"]],
    [`echo \${x:-"}"}; a #"`, [`echo \${x:-"}"}`, "a"]],
    ["diff <(a) >(b)", ["diff <() >()", "a", "b"]],
    ["(a; b) | { c; d; }", ["a", "b", "c", "d"]],
    ["f() { a; }; function g { b; }", ["f", "a", "function g", "b"]],
    ["if a; then b; else c; fi", ["if a", "then b", "else c", "fi"]],
    ["case x in (a) b;; c) d;; esac; e", ["case x in", "a", "b", "c", "d", "esac", "e"]],
    [`echo "$(case x in a) b;; esac)" c`, ["echo $() c", "case x in a", "b", "esac"]],
    ["a # b\nc", ["a", "c"]],
    ["a#b", ["a#b"]],
    ["a > x 2>&1 < y b", ["a b"]],
    ["a &< y b", ["a", "b"]],
    ["cat <<EOF\nnot a; command\nEOF\nb", ["cat", "b"]],
    ["cat <<EOF\n$(a)\nEOF", ["cat", "a"]],
    ["cat <<'EOF'\n$(a) it's\nEOF\nb", ["cat", "b"]],
    ["cat <<-EOF\n\tx\n\tEOF\nb", ["cat", "b"]],
    ["cat <<EOF\n\tEOF\nEOF\nb", ["cat", "b"]],
    [`git commit -m "$(cat <<'EOF'\nIt's "so"\nEOF\n)"; b`, ["git commit -m $()", "b", "cat"].toSorted()],
    ["a=(1 2); b", ["a=", "1 2", "b"]],
  ])("%j", (text, expected) => {
    expect(commands(parseShell(text)).toSorted()).toEqual(expected.toSorted());
  });

  test("here-documents and redirects belong to their command", () => {
    const [[command] = []] = parseShell("sh <<A > out 2>> err\nls\nA\n") ?? [];
    expect(command?.redirects.map(({ operator, target, body }) => [operator, target.text, body])).toEqual([
      ["<<", "A", "ls\n"],
      [">", "out", null],
      [">>", "err", null],
    ]);
  });
});

describe("a text that could be read in two ways is refused", () => {
  test.each([
    "echo 'open",
    'echo "open',
    "echo `open",
    "echo $(open",
    "echo ${open",
    "(open",
    "{ open;",
    "cat <<EOF\nno end",
    "cat <<EOF",
    'echo "$(cat <<EOF\nx\nEOF)"; rm x',
    `echo "\${x:-'}'}"`,
    `echo "\`echo \\"x\\"\`"`,
    "$(".repeat(100),
    "`".repeat(3),
    `${"(".repeat(50)}${")".repeat(50)}`,
  ])("%j", (text) => {
    expect(parseShell(text)).toBeNull();
  });
});

describe("for any text", () => {
  const shellish = fc.string({
    unit: fc.constantFrom(
      ..." ab\n;&|()<>$`'\"\\{}#*?[]=~!-",
      "$(",
      "${",
      "<<E\n",
      "\nE\n",
      "case ",
      " in ",
      "esac",
      "<(",
      "$'",
    ),
    maxLength: 60,
  });
  test("nothing throws", () => {
    fc.assert(
      fc.property(fc.oneof(shellish, fc.string({ unit: "binary" })), (text) => {
        const script = parseShell(text);
        expect(script === null || Array.isArray(script)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
  test("a text in single quotes is one word and not a command", () => {
    fc.assert(
      fc.property(shellish, (text) => {
        const quoted = text.replaceAll("'", `'\\''`);
        const script = parseShell(`echo '${quoted}' | cat`) ?? [];
        expect(script.map((pipeline) => pipeline.map(({ words }) => words.map((word) => word.text)))).toEqual(
          [[["echo", text], ["cat"]]],
        );
      }),
    );
  });
});
