import { expect, test } from "bun:test";
import { decodeMessage, encodeMessage } from "../../src/desktop/macos/protocol.ts";

test("a message is one line of ASCII", () => {
  const line = encodeMessage({ type: "close", key: "ü\n\u2028猫\ud83d\udc4b\u007f" });
  expect(line).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(line)).toEqual({ type: "close", key: "ü\n\u2028猫\ud83d\udc4b\u007f" });
});

test.each([
  "",
  "null",
  "[]",
  '"ready"',
  "{",
  '{"type":"ready","system":"x"}',
  '{"type":"ready","version":"1","system":"x"}',
  '{"type":"pong","batch":1.5}',
  '{"type":"pong","batch":-1}',
  '{"type":"action","batch":1,"id":7}',
  '{"type":"closed","key":"a","by":"magic"}',
  '{"type":"clicked","key":null}',
  '{"type":"clicked","key":"a","button":7}',
  '{"type":"dance"}',
  `{"type":"error","text":"${"x".repeat(70_000)}"}`,
])("%j is not a message", (line) => {
  expect(decodeMessage(line)).toBeNull();
});

test("unknown fields of a message are dropped", () => {
  expect(decodeMessage('{"type":"clicked","key":"a","__proto__":{"x":1},"more":2}')).toEqual({
    type: "clicked",
    key: "a",
    button: null,
  });
});
