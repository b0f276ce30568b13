import { expect, test } from "bun:test";
import { decode, encode } from "../../src/desktop/macos/protocol.ts";

test("what is sent is one line of ASCII", () => {
  const line = encode({ do: "close", key: "ü\n\u2028猫\ud83d\udc4b\u007f" });
  expect(line).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(line)).toEqual({ do: "close", key: "ü\n\u2028猫\ud83d\udc4b\u007f" });
});

test.each([
  "",
  "null",
  "[]",
  '"ready"',
  "{",
  '{"is":"ready","system":"x"}',
  '{"is":"ready","version":"1","system":"x"}',
  '{"is":"pong","batch":1.5}',
  '{"is":"pong","batch":-1}',
  '{"is":"action","batch":1,"id":7}',
  '{"is":"closed","key":"a","by":"magic"}',
  '{"is":"clicked","key":null}',
  '{"is":"clicked","key":"a","button":7}',
  '{"is":"dance"}',
  `{"is":"error","text":"${"x".repeat(70_000)}"}`,
])("%j is no message", (line) => {
  expect(decode(line)).toBeNull();
});

test("what a message has beyond its own fields is left behind", () => {
  expect(decode('{"is":"clicked","key":"a","__proto__":{"x":1},"more":2}')).toEqual({
    is: "clicked",
    key: "a",
    button: null,
  });
});
