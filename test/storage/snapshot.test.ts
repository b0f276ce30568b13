import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { loadSnapshot, type SnapshotFile, saveSnapshot } from "../../src/storage/snapshot.ts";
import { modeOf, removeTemporaryFolders, temporaryPaths } from "./folder.ts";

afterAll(removeTemporaryFolders);

const file = (note: unknown): SnapshotFile => ({
  version: 1,
  journal: { segment: "0000000001.jsonl", offset: 12 },
  spool: ["12.34.ab", 56],
  note,
});

function prepared() {
  const paths = temporaryPaths();
  mkdirSync(paths.state);
  const names = () => readdirSync(paths.state).sort();
  return { paths, previous: join(paths.state, "snapshot.previous.json"), names };
}

test("what is saved is loaded, for its owner only, and the one before it is kept", () => {
  const { paths, previous, names } = prepared();
  expect(loadSnapshot(paths)).toEqual({ value: null });
  saveSnapshot(paths, file("one"));
  saveSnapshot(paths, file("two"));
  expect(loadSnapshot(paths)).toEqual({ value: file("two") });
  expect(JSON.parse(readFileSync(previous, "utf8"))).toEqual(file("one"));
  expect([modeOf(paths.snapshot), modeOf(previous)]).toEqual(["600", "600"]);
  expect(names()).toEqual(["snapshot.json", "snapshot.previous.json"]);
});

test("any state comes back as it was", () => {
  const { paths } = prepared();
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (state) => {
      saveSnapshot(paths, file(state));
      expect(loadSnapshot(paths).value).toEqual(JSON.parse(JSON.stringify(file(state))));
    }),
    { numRuns: 30 },
  );
});

const broken: [string, string, RegExp][] = [
  ["empty", "", /is empty/],
  ["cut off", '{"version":1,"journal":nu', /is damaged \(no JSON\)/],
  ["full of zeros", "\0".repeat(500), /is damaged \(no JSON\)/],
  ["a list", "[]", /not a snapshot/],
  ["null", "null", /not a snapshot/],
  ["without a version", "{}", /not a snapshot/],
  ["of version 0", '{"version":0}', /not a snapshot/],
  ["with a journal position that is none", '{"version":1,"journal":{"segment":3}}', /not a snapshot/],
];

test.each(broken)("a snapshot that is %s is put aside, named, and the one before it used", (_, text, why) => {
  const { paths, names } = prepared();
  saveSnapshot(paths, file("one"));
  saveSnapshot(paths, file("two"));
  writeFileSync(paths.snapshot, text);
  const { value, problem } = loadSnapshot(paths);
  expect(value).toEqual(file("one"));
  expect(problem).toMatch(why);
  expect(problem).toMatch(/was put aside as snapshot\.damaged-.*; snapshot\.previous\.json is used instead/);
  const aside = names().find((name) => name.startsWith("snapshot.damaged-")) ?? "";
  expect(readFileSync(join(paths.state, aside), "utf8")).toBe(text);
  expect(loadSnapshot(paths)).toEqual({ value: file("one") });
});

test("if both are damaged, beckon starts from nothing and says so", () => {
  const { paths, previous, names } = prepared();
  writeFileSync(paths.snapshot, "{");
  writeFileSync(previous, "");
  const { value, problem } = loadSnapshot(paths);
  expect(value).toBeNull();
  expect(problem).toMatch(
    /snapshot\.json is damaged.*snapshot\.previous\.json is empty.*starts from its journal/,
  );
  expect(names().every((name) => name.startsWith("snapshot.damaged-"))).toBe(true);
});

test("killed between the two renames, the previous copy is there and nothing is amiss", () => {
  const { paths } = prepared();
  saveSnapshot(paths, file("one"));
  saveSnapshot(paths, file("two"));
  rmSync(paths.snapshot);
  expect(loadSnapshot(paths)).toEqual({ value: file("one") });
});

test("no more than three damaged ones are kept, the newest", async () => {
  const { paths, names } = prepared();
  for (let n = 0; n < 5; n++) {
    writeFileSync(paths.snapshot, `damaged ${n}`);
    loadSnapshot(paths);
    await Bun.sleep(2);
  }
  const kept = names().map((name) => readFileSync(join(paths.state, name), "utf8"));
  expect(kept).toEqual(["damaged 2", "damaged 3", "damaged 4"]);
});

test("a newer beckon's snapshot outlives an older beckon, however often both are started", () => {
  const { paths, previous, names } = prepared();
  const newer = (note: string) => JSON.stringify({ version: 2, note });
  writeFileSync(paths.snapshot, newer("a"));
  writeFileSync(previous, newer("b"));
  const { value, problem } = loadSnapshot(paths);
  expect(value).toBeNull();
  expect(problem).toContain(
    "snapshot.json was written by a newer beckon (version 2) and was put aside as snapshot.v2.json",
  );
  for (const note of ["one", "two", "three"]) saveSnapshot(paths, file(note));
  writeFileSync(paths.snapshot, newer("c"));
  loadSnapshot(paths);
  const texts = names().map((name) => readFileSync(join(paths.state, name), "utf8"));
  for (const note of ["a", "b", "c"]) expect(texts).toContain(newer(note));
});

test("a look at the snapshot moves nothing", () => {
  const { paths, names } = prepared();
  saveSnapshot(paths, file("one"));
  saveSnapshot(paths, file("two"));
  writeFileSync(paths.snapshot, "{");
  const { value, problem } = loadSnapshot(paths, { look: true });
  expect(value).toEqual(file("one"));
  expect(problem).toContain("snapshot.json is damaged (no JSON); snapshot.previous.json is used instead");
  expect(names()).toEqual(["snapshot.json", "snapshot.previous.json"]);
});
