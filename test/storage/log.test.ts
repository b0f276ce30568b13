import { afterAll, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { appendBoundedLine, openLog } from "../../src/storage/log.ts";
import { createVirtualTime } from "../virtual-time.ts";
import { readMode, removeTemporaryFolders, temporaryFolder } from "./folder.ts";

afterAll(removeTemporaryFolders);

const now = () => new Date("2026-01-02T03:04:05.678Z");

function createFixture(folder = temporaryFolder(), options: Parameters<typeof openLog>[1] = {}) {
  const path = join(folder, "beckon.log");
  const log = openLog(path, { now, ...options });
  return { path, log, lines: () => readFileSync(path, "utf8").split("\n").slice(0, -1) };
}

test("a line has its time and level, in a file that only its owner can read", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "beckon.log"), "");
  chmodSync(join(folder, "beckon.log"), 0o644);
  const { path, log, lines } = createFixture(folder);
  log("info", "listening");
  log("error", "no room");
  expect(lines()).toEqual([
    "2026-01-02T03:04:05.678Z info  listening",
    "2026-01-02T03:04:05.678Z error no room",
  ]);
  expect(readMode(path)).toBe("600");
});

test("control characters are escaped, so that an entry is one line and harmless in a terminal", () => {
  const { log, lines } = createFixture();
  log("warn", "a\nb\r\x1b[31mred\x00\x7f\x9b \u202egpj.exe\u2028");
  expect(lines()).toEqual([
    "2026-01-02T03:04:05.678Z warn  a\\nb\\u000d\\u001b[31mred\\u0000\\u007f\\u009b \\u202egpj.exe\\u2028",
  ]);
});

test("a line repeated 313 times is written once, with a count", () => {
  const { log, lines } = createFixture();
  for (let n = 0; n < 313; n++) log("error", "no room");
  log("info", "room again");
  log("error", "no room");
  expect(lines().map((line) => line.slice(25))).toEqual([
    "error no room",
    "… 312 more times: error no room",
    "info  room again",
    "error no room",
  ]);
});

test("the count of a repeated line is written after a few seconds", async () => {
  const time = createVirtualTime();
  const { log, lines } = createFixture(temporaryFolder(), { schedule: time.schedule });
  for (let n = 0; n < 3; n++) log("error", "no room");
  expect(lines()).toHaveLength(1);
  await time.advance(5_000);
  expect(lines().map((line) => line.slice(25))).toEqual(["error no room", "… 2 more times: error no room"]);
});

test("a log that reaches its size is renamed, and a few older ones are kept", () => {
  const folder = temporaryFolder();
  const { log } = createFixture(folder, { maxBytes: 500, keep: 2 });
  for (let n = 0; n < 60; n++) log("info", `line ${n}`);
  const names = readdirSync(folder).sort();
  expect(names).toEqual(["beckon.log", "beckon.log.1", "beckon.log.2"]);
  for (const name of names) {
    expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(500);
    expect(readMode(join(folder, name))).toBe("600");
  }
  const text = ["beckon.log.2", "beckon.log.1", "beckon.log"].map((name) =>
    readFileSync(join(folder, name), "utf8"),
  );
  const numbers = [...text.join("").matchAll(/line (\d+)/g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => 60 - numbers.length + n));
});

test("a very long line is shortened", () => {
  const { log, lines } = createFixture();
  log("info", "x".repeat(1_000_000));
  expect(lines()[0]?.length).toBeLessThan(4_100);
  expect(lines()[0]).toEndWith("x…");
});

test("a log that cannot be written throws no error", () => {
  const log = openLog(join(temporaryFolder(), "missing", "beckon.log"));
  log("error", "not written");
  log("error", "not written");
  log("info", "again");
});

test("a bounded file never grows beyond its limit, and a failed write returns false", () => {
  const folder = temporaryFolder();
  const path = join(folder, "hook.log");
  for (let n = 0; n < 100; n++) expect(appendBoundedLine(path, `line ${n}`, 200)).toBe(true);
  expect(statSync(path).size).toBeLessThanOrEqual(200);
  expect(readFileSync(path, "utf8")).toEndWith("line 99\n");
  expect(readdirSync(folder).sort()).toEqual(["hook.log", "hook.log.1"]);
  expect(appendBoundedLine(join(folder, "missing", "hook.log"), "x", 200)).toBe(false);
  expect(existsSync(join(folder, "missing"))).toBe(false);
});
