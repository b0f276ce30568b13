import { describe, expect, test } from "bun:test";
import {
  asCount,
  asList,
  asRecord,
  asText,
  isJson,
  isNestedDeeper,
  parseJson,
  readFlag,
  readNumber,
  readPositive,
  readString,
  readText,
} from "../../src/core/json.ts";

const values = ["text", "", 7, 0, -1, 1.5, Number.NaN, 2 ** 60, true, null, undefined, ["a"], { a: 1 }];
const readAll = (read: (value: unknown) => unknown) => values.map(read);

describe("a value of unknown shape", () => {
  test("is text, or none", () => {
    expect(readAll(asText)).toEqual(["text", ...Array(values.length - 1).fill("")]);
    expect(readAll(readString)).toEqual(["text", "", ...Array(values.length - 2).fill(null)]);
    expect([readText("text", 4), readText("text", 3), readText("", 3)]).toEqual(["text", null, null]);
  });

  test("is a number, or none", () => {
    expect(readAll(readNumber).filter((value) => value !== null)).toEqual([7, 0, -1, 1.5, 2 ** 60]);
    expect(readAll(readPositive).filter((value) => value !== null)).toEqual([7]);
    expect(readAll(asCount)).toEqual(values.map((value) => (value === 7 ? 7 : 0)));
  });

  test("is a flag, a list or an object, or none", () => {
    expect(readAll(readFlag).filter((value) => value !== null)).toEqual([true]);
    expect(values.flatMap(asList)).toEqual(["a"]);
    expect(readAll(asRecord).filter((value) => Object.keys(Object(value)).length > 0)).toEqual([{ a: 1 }]);
  });

  test("is JSON text, or none", () => {
    expect([parseJson('{"a":1}'), parseJson("null"), parseJson("{")]).toEqual([{ a: 1 }, null, undefined]);
    expect([isJson("null"), isJson("{")]).toEqual([true, false]);
  });
});

test("how deep brackets are nested is known without reading them; those in strings do not count", () => {
  const depth = (text: string) => [0, 1, 2, 3, 4].find((max) => !isNestedDeeper(text, max));
  expect(["1", "[]", '{"a":[]}', "[[],[],[]]", "[[[]]]"].map(depth)).toEqual([0, 1, 2, 2, 3]);
  expect(['["[[["]', '["\\"[[["]', '["\\\\",[[]]]', "]]][[[["].map(depth)).toEqual([1, 1, 3, 1]);
});
