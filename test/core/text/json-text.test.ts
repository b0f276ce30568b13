/** Removing a value from JSON text leaves everything else. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { blankMember } from "../../../src/core/text/json-text.ts";

const cut = (text: string, from = 0) => blankMember(text, "gone", from);

const values: [string, string][] = [
  ["a text", '"x"'],
  ["a text with quotes, backslashes and brackets", String.raw`"a \"} ]\\"`],
  ["a number", "-1.5e3"],
  ["a word", "true"],
  ["nothing", "null"],
  ["a list", '[1,[2,"]"],{}]'],
  ["an object", String.raw`{"a":{"b":"}"},"c":["\\"]}`],
  ["an empty list", "[]"],
];

test.each(values)("%s", (_, value) => {
  for (const [before, after] of [
    ["{", "}"],
    ['{"a":1,', "}"],
    ["{", ',"b":[2]}'],
    ['{"a":{"b":"c"},', ',"d":"gone"}'],
    ['[{"x":"\\"gone\\":",', "}]"],
  ] as const) {
    expect(cut(`${before}"gone":${value}${after}`)).toBe(`${before}"gone":null${after}`);
  }
});

test("members of the same name inside the value", () => {
  expect(cut('{"a":1,"gone":{"gone":[{"gone":1}]},"b":2}')).toBe('{"a":1,"gone":null,"b":2}');
});

test("a member that occurs twice, is escaped or is missing stays byte for byte", () => {
  for (const text of [
    '{"gone":1,"a":{"gone":2}}',
    '{"gone":{"gone":1},"a":{"gone":2}}',
    '{"gone" : 1}',
    '{"g\\u006fne":1}',
    '{"a":"gone"}',
    "{}",
    '"gone"',
  ]) {
    expect(cut(text)).toBe(text);
  }
  expect(cut('{"gone":1,"a":2}', 3)).toBe('{"gone":1,"a":2}');
});

test("any object keeps its other members", () => {
  const name = fc.oneof(fc.string(), fc.constantFrom("gone", '"gone":', "a"));
  const value = fc.jsonValue();
  fc.assert(
    fc.property(fc.dictionary(name, value), value, fc.constantFrom(undefined, 1), (rest, gone, space) => {
      const whole = { ...rest, gone };
      const text = JSON.stringify(whole, null, space);
      const left = JSON.parse(cut(text));
      const isCut = left.gone === null && gone !== null;
      expect(left).toEqual(JSON.parse(JSON.stringify(isCut ? { ...whole, gone: null } : whole)));
    }),
    { numRuns: 2_000 },
  );
});
