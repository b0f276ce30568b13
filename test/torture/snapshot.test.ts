import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import type { Fixture } from "./fixture.ts";
import { chooseSeed, createRandom } from "./random.ts";
import { prompted } from "./scenario.ts";
import { createUsedFixture, expectAllSessions, removeTemplate } from "./used-folder.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createUsedFixture();
});
afterEach(() => fixture.destroy());
afterAll(removeTemplate);

const snapshots = () => readdirSync(fixture.home).filter((name) => name.startsWith("snapshot"));
const isKept = (text: string) => snapshots().some((name) => fixture.read(name) === text);
const whole = { version: 1, journal: null, spool: null, sessions: [] };
const withPosition = (journal: unknown) => JSON.stringify({ ...whole, journal });

const unusable: [what: string, text: string][] = [
  ["no JSON", "\u0000\u0001 garbage }{"],
  ["empty", ""],
  ["only spaces", "  \n"],
  ["a list", "[]"],
  ["null", "null"],
  ["a number", "1"],
  ["an object of something else", '{"name":"x"}'],
  ["of a version that is no number", JSON.stringify({ ...whole, version: "1" })],
  ["of version 0", JSON.stringify({ ...whole, version: 0 })],
  ["with a number for its place in the journal", withPosition(5)],
  ["with a place in the journal of wrong types", withPosition({ segment: 1, offset: "x" })],
  ["with a place before the journal", withPosition({ segment: "0000000001.jsonl", offset: -5 })],
  ["with a place in no journal", withPosition({ segment: "zzz", offset: 0 })],
  ["nested 100,000 deep", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
];

describe("a damaged snapshot", () => {
  test.each(unusable)(
    "%s: the app starts, says so, keeps the file and shows all it knew",
    async (_, text) => {
      writeFileSync(fixture.inHome("snapshot.json"), text);
      await fixture.start();
      await expectAllSessions(fixture);
      expect(fixture.log()).toMatch(/warn +snapshot\.json .*(damaged|empty).* renamed/);
      expect(isKept(text)).toBe(true);
    },
  );

  test("and a damaged one before it: the journal still has everything", async () => {
    writeFileSync(fixture.inHome("snapshot.json"), "{");
    writeFileSync(fixture.inHome("snapshot.previous.json"), "}");
    await fixture.start();
    await expectAllSessions(fixture);
    expect(fixture.log()).toContain("beckon starts from its journal");
  });

  test("with wrong types beside what is needed: what the journal has is shown", async () => {
    const damages = [{ spool: 5 }, { spool: [{}, "x"] }, { sessions: {} }, { sessions: [1, null, [], "x"] }];
    for (const damage of [...damages, { boot: 7, savedAt: "x", savedT: null, host: [] }]) {
      writeFileSync(fixture.inHome("snapshot.json"), JSON.stringify({ ...whole, ...damage }));
      const app = await fixture.start();
      await expectAllSessions(fixture);
      await app.kill();
    }
  });

  test("cut off anywhere", async () => {
    const seed = chooseSeed();
    console.log(`snapshot: seed ${seed} (SEED=${seed} cuts at the same places)`);
    const random = createRandom(seed);
    const good = readFileSync(fixture.inHome("snapshot.json"));
    const previous = readFileSync(fixture.inHome("snapshot.previous.json"));
    for (let times = 0; times < 8; times++) {
      writeFileSync(fixture.inHome("snapshot.json"), good);
      writeFileSync(fixture.inHome("snapshot.previous.json"), previous);
      truncateSync(fixture.inHome("snapshot.json"), random.between(0, good.length));
      const app = await fixture.start();
      await expectAllSessions(fixture);
      await app.kill();
    }
  });

  test("a folder in its place: said, put aside with what is in it, and not in the way of the next one", async () => {
    const text = fixture.read("snapshot.json");
    mkdirSync(fixture.inHome("elsewhere"));
    writeFileSync(fixture.inHome("elsewhere", "note"), "somebody's");
    Bun.spawnSync(["rm", fixture.inHome("snapshot.json")]);
    Bun.spawnSync(["mv", fixture.inHome("elsewhere"), fixture.inHome("snapshot.json")]);
    for (const prompt of ["one", "two", "three"]) {
      const app = await fixture.start();
      await fixture.post(prompted("third", prompt));
      expect(await app.stop()).toBe(0);
    }
    const folder = snapshots().find((name) => statSync(fixture.inHome(name)).isDirectory()) ?? "";
    expect(fixture.read(folder, "note")).toBe("somebody's");
    expect(fixture.log()).toContain("snapshot.json cannot be read (EISDIR)");
    expect(text).not.toBe(fixture.read("snapshot.json"));
    await fixture.start();
    await expectAllSessions(fixture);
  });
});

test("a newer beckon's snapshot is left for it, and never overwritten", async () => {
  const text = `{"version":99,"sessions":{"new":"shape"}}`;
  writeFileSync(fixture.inHome("snapshot.json"), text);
  const app = await fixture.start();
  await expectAllSessions(fixture);
  expect(fixture.log()).toContain("was written by a newer beckon (version 99)");
  await fixture.post(prompted("third", "x"));
  expect(await app.stop()).toBe(0);
  expect(isKept(text)).toBe(true);
  await fixture.start();
  await expectAllSessions(fixture);
});
