/** What a patch says about its files, compared with what the real Codex says. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { listPatchedFiles, parsePatch } from "../../src/agents/patch.ts";
import { resolvePath } from "../../src/core/text/paths.ts";
import { changesOf, recordedFolder, recordedPatches } from "./codex/recorded-patches.ts";

const resolve = (path: string) => resolvePath(recordedFolder, path);

describe.each(recordedPatches)("$name", (recorded) => {
  const { input } = recorded.row.payload;
  test("is read as Codex reads it", () => {
    const sections = (parsePatch(input) ?? []).map(({ kind, path, moveTo, content }) => ({
      kind,
      path: resolve(path),
      moveTo: moveTo && resolve(moveTo),
      content,
    }));
    const changes = changesOf(recorded).map(({ kind, path, diff }) => ({
      kind: kind.type,
      path,
      moveTo: kind.move_path ?? null,
      content: kind.type === "add" ? diff : "",
    }));
    const byPath = (a: { path: string }, b: { path: string }) => a.path.localeCompare(b.path);
    expect(sections.sort(byPath)).toEqual(changes.sort(byPath) as typeof sections);
  });
  test("lists every file that Codex changes", () => {
    const listed = listPatchedFiles(input).map(resolve);
    for (const { path, kind } of changesOf(recorded))
      expect(listed).toEqual(expect.arrayContaining(kind.move_path ? [path, kind.move_path] : [path]));
  });
});

const wrap = (...lines: readonly string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

test("what is in an added file is not a header", () => {
  const text = wrap("*** Add File: a", "+*** Begin Patch", "+*** Add File: b", "+x", "+*** End Patch");
  expect(listPatchedFiles(text)).toEqual(["a"]);
  expect(parsePatch(text)?.map(({ path }) => path)).toEqual(["a"]);
});

test.each([
  ["text before it", `echo\n${wrap("*** Delete File: a")}`],
  ["text after it", `${wrap("*** Delete File: a")}\nrest`],
  ["an end within it", wrap("*** Delete File: a", "*** End Patch", "*** Delete File: b")],
  ["an unknown header", wrap("*** Rename File: a")],
  ["a line that does not belong to an added file", wrap("*** Add File: a", "+x", " y")],
  ["another machine", wrap("*** Environment ID: remote", "*** Delete File: a")],
  ["an indented header in an update", wrap("*** Update File: a", "@@", "+x", " *** Delete File: b")],
  ["a second move", wrap("*** Update File: a", "*** Move to: b", "*** Move to: c", "+x")],
])("a patch with %s is not read", (_, text) => {
  expect(parsePatch(text)).toBeNull();
});

test.each([
  ["a carriage return", "*** Update File: a.ts\r"],
  ["an indented header", "\u0085 *** Update File: a.ts"],
  ["no blank after the colon, as opencode allows it", "*** Update File:a.ts"],
  ["a byte order mark", "\ufeff*** Update File: a.ts"],
])("a file is listed in spite of %s", (_, header) => {
  expect(listPatchedFiles(wrap(header, "+x"))).toEqual(["a.ts"]);
});

test("a name that starts with a blank is listed with and without it", () => {
  const text = wrap("*** Add File:  a.ts", "+x");
  expect(parsePatch(text)?.[0]?.path).toBe(" a.ts");
  expect(listPatchedFiles(text)).toEqual(["a.ts", " a.ts"]);
});

test("whatever is read is listed", () => {
  const blanks = fc.string({ unit: fc.constantFrom(" ", "\t", "\r", "\u0085", "\u00a0"), maxLength: 2 });
  const header = fc.constantFrom("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ");
  const line = fc.oneof(
    fc.tuple(blanks, header, fc.string({ minLength: 1 }), blanks).map((parts) => parts.join("")),
    fc.tuple(fc.constantFrom("+", "-", " ", "@@ "), fc.string()).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
      const text = wrap(...lines);
      const listed = listPatchedFiles(text);
      for (const { path, moveTo } of parsePatch(text) ?? [])
        expect(listed).toEqual(expect.arrayContaining(moveTo === null ? [path] : [path, moveTo]));
    }),
    { numRuns: 2_000 },
  );
});
