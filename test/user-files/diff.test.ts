import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { createDiff } from "../../src/user-files/diff.ts";
import { addHooks } from "../../src/user-files/hooks.ts";
import { testWith } from "../needs.ts";
import { untouchedSettings, wanted } from "./generate-settings.ts";

const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `line ${i}\n`);

describe("the diff of a dry run", () => {
  test("is empty if nothing changes", () => {
    expect(createDiff("a\n", "a\n")).toEqual([]);
  });

  test("shows an added line with three lines around it", () => {
    const old = numbered(10);
    expect(createDiff(old.join(""), old.toSpliced(5, 0, "new\n").join(""))).toEqual([
      "@@ -3,6 +3,7 @@",
      " line 2",
      " line 3",
      " line 4",
      "+new",
      " line 5",
      " line 6",
      " line 7",
    ]);
  });

  test("shows a new and a removed file", () => {
    expect(createDiff("", "{\n}\n")).toEqual(["@@ -0,0 +1,2 @@", "+{", "+}"]);
    expect(createDiff("{}\n", "")).toEqual(["@@ -1,1 +0,0 @@", "-{}"]);
  });

  test("shows an added newline at the end", () => {
    expect(createDiff("a", "a\n")).toEqual(["@@ -1,1 +1,1 @@", "-a", "\\ No newline at end of file", "+a"]);
  });

  test("shows changes that are far apart in two hunks", () => {
    const old = numbered(40);
    const near = old.toSpliced(2, 1, "x\n").toSpliced(8, 1, "y\n").toSpliced(30, 1, "z\n");
    const shown = createDiff(old.join(""), near.join(""));
    expect(shown.filter((line) => line.startsWith("@@"))).toEqual(["@@ -1,12 +1,12 @@", "@@ -28,7 +28,7 @@"]);
  });

  test("of settings on one line shows only what changes, with some text around it", () => {
    const text = `{"a":"${"x".repeat(1e6)}","hooks":{},"b":"${"y".repeat(1e6)}"}`;
    const shown = createDiff(text, addHooks(text, wanted.slice(0, 1)).text);
    expect(shown.join("\n").length).toBeLessThan(1000);
    expect(shown.some((line) => line.startsWith("+…") && line.includes('"Stop"'))).toBe(true);
  });

  test("contains no control characters", () => {
    expect(createDiff("", '"\x1b[2J\u009b\u202e"\n')).toEqual(["@@ -0,0 +1,1 @@", '+"?[2J??"']);
  });

  test("of four megabytes takes less than 5 s", () => {
    const old = numbered(400_000);
    const started = performance.now();
    const shown = createDiff(old.join(""), ["first\n", ...old, "last\n"].join(""));
    expect(shown.filter((line) => /^[+-]/.test(line))).toEqual(["+first", "+last"]);
    const all = createDiff(old.join(""), old.map((line) => `${line.trim()}!\n`).join(""));
    expect(all).toHaveLength(800_001);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

/** Applies the diff, as `patch` does. */
function applyDiff(old: string, diff: readonly string[]): string {
  const lines = old.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const made: string[] = [];
  let at = 0;
  for (const line of diff) {
    const [, from, count] = /^@@ -(\d+),(\d+) /.exec(line) ?? [];
    if (from !== undefined) {
      const start = Number(from) - (count === "0" ? 0 : 1);
      made.push(...lines.slice(at, start));
      at = start;
    } else if (line.startsWith("\\")) made.push(made.pop()?.replace(/\n$/, "") ?? "");
    else if (line.startsWith("+")) made.push(`${line.slice(1)}\n`);
    else {
      if (line.startsWith(" ")) made.push(lines[at] ?? "");
      at++;
    }
  }
  return [...made, ...lines.slice(at)].join("");
}

test("the diff applied to the old text gives the new text", () => {
  const line = fc.constantFrom("a", "b", "c", "}", "");
  const text = fc.array(line, { maxLength: 30 }).map((lines) => lines.map((made) => `${made}\n`).join(""));
  fc.assert(
    fc.property(text, text, (old, fresh) => {
      expect(applyDiff(old, createDiff(old, fresh))).toBe(fresh);
    }),
    { numRuns: 2000 },
  );
});

testWith("patch")("`patch` can apply the diff", async () => {
  const folder = mkdtempSync(join(tmpdir(), "beckon-diff-"));
  try {
    const samples = fc.sample(untouchedSettings, { numRuns: 100, seed: 7 });
    // Carriage returns are removed and control characters replaced, so such texts cannot be patched.
    for (const { text, style } of samples) {
      if (style.unit === null || !/^(?!.*(?!\n)\p{Cc}).*\n/su.test(text)) continue;
      const fresh = addHooks(text, wanted).text;
      const file = join(folder, "settings.json");
      writeFileSync(file, text);
      const patch = ["--- a", "+++ b", ...createDiff(text, fresh), ""].join("\n");
      const { exitCode, stdout } = Bun.spawnSync(["patch", file], { stdin: Buffer.from(patch) });
      expect(exitCode, `${stdout}\n${patch}`).toBe(0);
      expect(readFileSync(file, "utf8")).toBe(fresh);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
