import { expect, test } from "bun:test";
import { parseLocalDisplay } from "../../src/system/app-environment.ts";

test.each([
  [":0", "0"],
  [":12.0", "12"],
  ["unix:3", "3"],
  ["localhost:10.0", null],
  ["/private/tmp/x:0", null],
  ["", null],
])("display %j is reached by a socket of this machine: %j", (display, number) => {
  expect(parseLocalDisplay(display)).toBe(number);
});
