import { afterAll, expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { ensurePrivateFolder } from "../../src/storage/files.ts";
import {
  addDroppedEvents,
  clearDroppedEvents,
  describeDroppedEvents,
  readDroppedEvents,
  type SpoolEvent,
  shrinkSpool,
} from "../../src/storage/full-spool.ts";
import { readMode, removeTemporaryFolders, temporaryPaths } from "./folder.ts";

afterAll(removeTemporaryFolders);

const line = (kind: SpoolEvent["kind"], at: number, more: Partial<SpoolEvent> = {}): string =>
  `${JSON.stringify({ session: "s", kind, at, toolUseId: null, ...more })}\n`;
const classify = (text: string) => JSON.parse(text) as SpoolEvent;

function createFullSpool(...lines: string[]) {
  const paths = temporaryPaths();
  ensurePrivateFolder(paths.state);
  writeFileSync(paths.spool, lines.join(""));
  const readTimes = () =>
    readFileSync(paths.spool, "utf8")
      .split("\n")
      .flatMap((text) => (text === "" ? [] : (classify(text).at ?? [])));
  return { ...paths, readTimes };
}

const maxBytes = 1_000_000;

test("requests, what ends them and the calls they are about are kept, in order; the rest is dropped", () => {
  const spool = createFullSpool(
    line("tool", 1, { toolUseId: "a" }),
    line("tool", 2, { toolUseId: "b" }),
    line("ask", 3),
    line("tool", 4, { session: "other", toolUseId: "c" }),
    line("tool", 5, { toolUseId: "b" }),
    line("other", 6),
    line("end", 7),
    line("tool", 8, { toolUseId: "a" }),
  );
  expect(shrinkSpool(spool.spool, { classify, maxBytes })).toEqual({ count: 4, from: 1, to: 8 });
  expect(spool.readTimes()).toEqual([2, 3, 5, 7]);
  expect(readMode(spool.spool)).toBe("600");
  expect(readdirSync(dirname(spool.spool))).toEqual(["spool.jsonl"]);
});

test("if there are too many requests, the newest are kept", () => {
  const lines = Array.from({ length: 100 }, (_, n) => line("ask", n + 100));
  const spool = createFullSpool(...lines);
  const { size } = statSync(spool.spool);
  expect(shrinkSpool(spool.spool, { classify, maxBytes: size })).toMatchObject({
    count: 50,
    from: 100,
    to: 149,
  });
  expect(spool.readTimes()).toEqual(Array.from({ length: 50 }, (_, n) => n + 150));
});

test("events that other hooks append to the old and the new file meanwhile are kept", () => {
  const spool = createFullSpool(line("other", 1), line("ask", 2));
  const late = openSync(spool.spool, "a");
  const waitForWriters = () => {
    appendFileSync(spool.spool, line("other", 3));
    writeSync(late, line("other", 4));
  };
  shrinkSpool(spool.spool, { classify, maxBytes, waitForWriters });
  closeSync(late);
  expect(spool.readTimes()).toEqual([2, 3, 4]);
});

test("only one hook does it at a time, unless the other was killed", () => {
  const spool = createFullSpool(line("other", 1));
  const claim = `${spool.spool}.shrinking`;
  writeFileSync(claim, "");
  expect(shrinkSpool(spool.spool, { classify, maxBytes })).toBeNull();
  expect(spool.readTimes()).toEqual([1]);
  const longAgo = Date.now() / 1_000 - 60;
  utimesSync(claim, longAgo, longAgo);
  expect(shrinkSpool(spool.spool, { classify, maxBytes })).toMatchObject({ count: 1 });
  expect(existsSync(claim)).toBe(false);
});

test("what was dropped is counted until it is reported", () => {
  const spool = createFullSpool();
  expect(readDroppedEvents(spool)).toBeNull();
  addDroppedEvents(spool, { count: 2, from: 0, to: 60_000 });
  addDroppedEvents(spool, { count: 3, from: 120_000, to: 180_000 });
  const dropped = readDroppedEvents(spool);
  expect(dropped).toEqual({ count: 5, from: 0, to: 180_000 });
  expect(dropped && describeDroppedEvents(dropped)).toContain(
    "5 events from 1970-01-01 00:00 to 1970-01-01 00:03 UTC were dropped",
  );
  clearDroppedEvents(spool);
  expect(readDroppedEvents(spool)).toBeNull();
});
