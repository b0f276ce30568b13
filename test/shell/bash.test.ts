/** A real bash runs thousands of strange commands: the parser must have found every program that it ran. */
import { afterAll, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { Script } from "../../src/shell/index.ts";
import { parseShell } from "../../src/shell/index.ts";
import { testWith } from "../needs.ts";

const folder = mkdtempSync(join(tmpdir(), "beckon-shell-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `zap` records that it ran. */
const runAll = `
cd "$1" || exit 1
n=0
while IFS= read -r -d '' text <&8; do
  ( zap() { echo $n >&9; }; a() { :; }; x() { :; }; eval "$text" ) < /dev/null > /dev/null 2>&1
  n=$((n+1))
done 8< texts 9> ran`;

async function ranIn(texts: readonly string[]): Promise<string[]> {
  await Bun.write(join(folder, "texts"), texts.map((text) => `${text}\0`).join(""));
  Bun.spawnSync(["bash", "-c", runAll, "bash", folder]);
  const ran = (await Bun.file(join(folder, "ran")).text()).split("\n").filter((line) => line !== "");
  return [...new Set(ran)].map((n) => texts[Number(n)] ?? "");
}

const passed = /^(?:if|then|elif|else|fi|do|done|while|until|!|time|function|coproc|in|esac|\w+\+?=.*)$/s;

/** The program of every simple command. One that only the shell knows counts as `zap`. */
function programs(script: Script): string[] {
  return script.flat().flatMap(({ words, redirects, group }) => {
    const program = words.find(({ text }) => !passed.test(text));
    const inner = [...words, ...redirects.map(({ target }) => target)].flatMap((word) => word.substitutions);
    return [
      program?.isDynamic ? "zap" : (program?.text ?? ""),
      ...inner.flatMap(programs),
      ...programs(group ?? []),
    ];
  });
}

const signs = fc.constantFrom(
  ..." ax\n;&|()<>$`'\"\\{}#=!E",
  ...[
    "$(",
    "${",
    "${x:-",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<-E\n",
    "\n\tE\n",
    "case x in ",
    "x) ",
    ";; ",
    "esac",
  ],
  ...[
    "<(",
    "$'",
    '$"',
    "f() ",
    "if x; then ",
    "; fi",
    "$((",
    "))",
    "&&",
    " #",
    "{ ",
    "; }",
    "&>",
    "2>&1",
    "[[ ",
    "<<<",
  ],
  ...["zap", "zap", " zap ", "; zap", "\nzap\n"],
);
const pieces = fc.constantFrom(
  ...["zap", "a", "x zap", '"$(zap)"', '"a"', "'b'", "`zap`", "(zap)", "{ zap; }", '"$(echo "$(zap)")"'],
  ...["$", ""].map((sign) => `${sign}{x:-"}"}`),
  ...[`"$${"{x:-zap}"}"`, `"$${'{x#"}"}'}"`, `$${"{x:-$(zap)}"}`, `"$${'{x:-"$(zap)"}'}"`],
  ...["case x in x) zap;; esac", "case x in (x) zap;; esac", '"$(case x in x) zap;; esac)"'],
  ...["cat <<E\nzap ' $(zap)\nE\n", "cat <<'E'\nzap '\nE\nzap", "cat <<-E\n\tE\nzap", '"$(cat <<E\n"\nE\n)"'],
  ...["f() { zap; }; f", "if zap; then x; fi", "for x in a; do zap; done", "<(zap)", "> >(zap)", "# zap '\n"],
  ...["\\\nzap", "zap''", "$'\\x7a'ap", "\\zap", "! zap", "x=1 zap", "a=(1 2)", "[[ a < b ]]", "$((1+2))"],
  ...["<<< zap", "2>&1", "&> o", "time zap", 'echo "it\'s"', "echo '\"'"],
);
const joints = fc.constantFrom(" ", ";", "&&", "||", "|", "\n", "&", " ;\n");
const joined = fc
  .array(fc.tuple(pieces, joints), { minLength: 1, maxLength: 6 })
  .map((list) => list.flat().join(""));

testWith("bash")(
  "every program that runs was found",
  async () => {
    const texts = [
      ...fc.sample(fc.string({ unit: signs, minLength: 2, maxLength: 14 }), 1_500),
      ...fc.sample(joined, 1_000),
    ].filter((text) => text.includes("zap"));
    const ran = await ranIn(texts);
    const read = ran.map((text) => ({ text, script: parseShell(text) }));
    const missed = read.filter(({ script }) => script !== null && !programs(script).includes("zap"));
    expect(missed.map(({ text }) => text)).toEqual([]);
    expect(read.filter(({ script }) => script !== null).length).toBeGreaterThan(200);
  },
  60_000,
);
