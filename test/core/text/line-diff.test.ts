import { expect, test } from "bun:test";
import fc from "fast-check";
import { diffLines } from "../../../src/core/text/line-diff.ts";

const show = (before: string, after: string): string[] =>
  diffLines(before, after).map(({ prefix, text }) => prefix + text);

test.each([
  ["the same", "a\nb\n", "a\nb\n", []],
  ["a new file", "", "a\nb\n", ["⟨line 1⟩", "+ a", "+ b"]],
  ["a file that is gone", "a\n", "", ["⟨line 1⟩", "- a"]],
  ["two places", "a\nb\nc\nd\n", "A\nb\nc\nD\n", ["⟨line 1⟩", "- a", "+ A", "⟨line 4⟩", "- d", "+ D"]],
  ["a line in between", "a\nc\n", "a\nb\nc\n", ["⟨line 2⟩", "+ b"]],
  ["other ends of lines", "a\nb\n", "a\r\nb\r\n", []],
])("%s", (_, before, after, expected) => {
  expect(show(before, after)).toEqual(expected);
});

test("what is removed and added turns one text into the other", () => {
  const text = fc.array(fc.constantFrom<string>("a", "b", "c", "d"), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const rest = [...before];
      const result: string[] = [];
      const shown = show(before.join("\n"), after.join("\n"));
      const takeSame = (to: number) => {
        while (result.length < to) result.push(rest.shift() ?? "missing");
      };
      for (const line of shown) {
        const place = /^⟨line (\d+)⟩$/.exec(line)?.[1];
        if (place !== undefined) takeSame(Number(place) - 1);
        else if (line.startsWith("- ")) expect(rest.shift()).toBe(line.slice(2));
        else result.push(line.slice(2));
      }
      expect([...result, ...rest]).toEqual(after);
    }),
  );
});

test("files without a line in common are compared in no time", () => {
  const lines = (name: string) => Array.from({ length: 20_000 }, (_, n) => `${name} ${n}`).join("\n");
  const startedAt = performance.now();
  expect(show(lines("a"), lines("b"))[0]).toBe("⟨line 1⟩");
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
