import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { loadSnapshot, type SnapshotFile, saveSnapshot } from "../../src/storage/snapshot.ts";
import { readMode, removeTemporaryFolders, temporaryPaths } from "./folder.ts";

afterAll(removeTemporaryFolders);

const createFile = (content: unknown): SnapshotFile => ({
  version: 1,
  journal: { segment: "0000000001.jsonl", offset: 12 },
  spool: ["12.34.ab", 56],
  content,
});

function createFixture() {
  const paths = temporaryPaths();
  mkdirSync(paths.state);
  const names = () => readdirSync(paths.state).sort();
  return { paths, previous: join(paths.state, "snapshot.previous.json"), names };
}

test("a saved snapshot is loaded, readable only by its owner, and the previous one is kept", () => {
  const { paths, previous, names } = createFixture();
  expect(loadSnapshot(paths)).toEqual({ value: null });
  saveSnapshot(paths, createFile("one"));
  saveSnapshot(paths, createFile("two"));
  expect(loadSnapshot(paths)).toEqual({ value: createFile("two") });
  expect(JSON.parse(readFileSync(previous, "utf8"))).toEqual(createFile("one"));
  expect([readMode(paths.snapshot), readMode(previous)]).toEqual(["600", "600"]);
  expect(names()).toEqual(["snapshot.json", "snapshot.previous.json"]);
});

test("any state is loaded as it was saved", () => {
  const { paths } = createFixture();
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (state) => {
      saveSnapshot(paths, createFile(state));
      expect(loadSnapshot(paths).value).toEqual(JSON.parse(JSON.stringify(createFile(state))));
    }),
    { numRuns: 30 },
  );
});

const damaged: [string, string, RegExp][] = [
  ["empty", "", /is empty/],
  ["cut off", '{"version":1,"journal":nu', /is damaged \(not JSON\)/],
  ["full of zeros", "\0".repeat(500), /is damaged \(not JSON\)/],
  ["a list", "[]", /not a snapshot/],
  ["null", "null", /not a snapshot/],
  ["without a version", "{}", /not a snapshot/],
  ["of version 0", '{"version":0}', /not a snapshot/],
  ["with a journal position that is not valid", '{"version":1,"journal":{"segment":3}}', /not a snapshot/],
];

test.each(damaged)(
  "a snapshot that is %s is renamed, reported, and replaced by the previous one",
  (_, text, reason) => {
    const { paths, names } = createFixture();
    saveSnapshot(paths, createFile("one"));
    saveSnapshot(paths, createFile("two"));
    writeFileSync(paths.snapshot, text);
    const { value, problem } = loadSnapshot(paths);
    expect(value).toEqual(createFile("one"));
    expect(problem).toMatch(reason);
    expect(problem).toMatch(/was renamed to snapshot\.damaged-.*; snapshot\.previous\.json is used instead/);
    const renamed = names().find((name) => name.startsWith("snapshot.damaged-")) ?? "";
    expect(readFileSync(join(paths.state, renamed), "utf8")).toBe(text);
    expect(loadSnapshot(paths)).toEqual({ value: createFile("one") });
  },
);

test("if both snapshots are damaged, beckon starts from its journal and reports it", () => {
  const { paths, previous, names } = createFixture();
  writeFileSync(paths.snapshot, "{");
  writeFileSync(previous, "");
  const { value, problem } = loadSnapshot(paths);
  expect(value).toBeNull();
  expect(problem).toMatch(
    /snapshot\.json is damaged.*snapshot\.previous\.json is empty.*starts from its journal/,
  );
  expect(names().every((name) => name.startsWith("snapshot.damaged-"))).toBe(true);
});

test("after a kill between the two renames the previous snapshot is loaded", () => {
  const { paths } = createFixture();
  saveSnapshot(paths, createFile("one"));
  saveSnapshot(paths, createFile("two"));
  rmSync(paths.snapshot);
  expect(loadSnapshot(paths)).toEqual({ value: createFile("one") });
});

test("the three newest damaged snapshots are kept", () => {
  const { paths, names } = createFixture();
  for (let n = 0; n < 5; n++) {
    writeFileSync(paths.snapshot, `damaged ${n}`);
    loadSnapshot(paths, { now: () => new Date(n) });
  }
  const kept = names().map((name) => readFileSync(join(paths.state, name), "utf8"));
  expect(kept).toEqual(["damaged 2", "damaged 3", "damaged 4"]);
});

test("the snapshot of a newer beckon is kept, however often an older one is started", () => {
  const { paths, previous, names } = createFixture();
  const newer = (content: string) => JSON.stringify({ version: 2, content });
  writeFileSync(paths.snapshot, newer("a"));
  writeFileSync(previous, newer("b"));
  const { value, problem } = loadSnapshot(paths);
  expect(value).toBeNull();
  expect(problem).toContain(
    "snapshot.json was written by a newer beckon (version 2) and was renamed to snapshot.v2.json",
  );
  for (const content of ["one", "two", "three"]) saveSnapshot(paths, createFile(content));
  writeFileSync(paths.snapshot, newer("c"));
  loadSnapshot(paths);
  const texts = names().map((name) => readFileSync(join(paths.state, name), "utf8"));
  for (const content of ["a", "b", "c"]) expect(texts).toContain(newer(content));
});

test("a snapshot loaded read-only is not renamed, even if it is damaged", () => {
  const { paths, names } = createFixture();
  saveSnapshot(paths, createFile("one"));
  saveSnapshot(paths, createFile("two"));
  writeFileSync(paths.snapshot, "{");
  const { value, problem } = loadSnapshot(paths, { readOnly: true });
  expect(value).toEqual(createFile("one"));
  expect(problem).toContain("snapshot.json is damaged (not JSON); snapshot.previous.json is used instead");
  expect(names()).toEqual(["snapshot.json", "snapshot.previous.json"]);
});
