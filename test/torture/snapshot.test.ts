import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { chooseSeed, createRandom } from "../random.ts";
import type { Fixture } from "./fixture.ts";
import { prompted } from "./scenario.ts";
import { createUsedFixture, expectAllSessions, removeTemplate } from "./used-folder.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createUsedFixture();
});
afterEach(() => fixture.destroy());
afterAll(removeTemplate);

const snapshots = () => readdirSync(fixture.home).filter((name) => name.startsWith("snapshot"));
const isStillThere = (text: string) => snapshots().some((name) => fixture.read(name) === text);
const empty = { version: 1, journal: null, spool: null, sessions: [] };
const withPosition = (journal: unknown) => JSON.stringify({ ...empty, journal });

const unusable: [name: string, text: string][] = [
  ["not JSON", "\u0000\u0001 garbage }{"],
  ["empty", ""],
  ["only spaces", "  \n"],
  ["a list", "[]"],
  ["null", "null"],
  ["a number", "1"],
  ["an object of another program", '{"name":"x"}'],
  ["of a version that is not a number", JSON.stringify({ ...empty, version: "1" })],
  ["of version 0", JSON.stringify({ ...empty, version: 0 })],
  ["with a number as its journal position", withPosition(5)],
  ["with a journal position of wrong types", withPosition({ segment: 1, offset: "x" })],
  ["with a negative journal position", withPosition({ segment: "0000000001.jsonl", offset: -5 })],
  ["with a journal position in no segment", withPosition({ segment: "zzz", offset: 0 })],
  ["nested 100,000 deep", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
];

describe("a damaged snapshot", () => {
  test.each(unusable)(
    "%s: the app starts, logs it, keeps the file and shows every session",
    async (_, text) => {
      writeFileSync(fixture.inHome("snapshot.json"), text);
      await fixture.start();
      await expectAllSessions(fixture);
      expect(fixture.log()).toMatch(/warn +snapshot\.json .*(damaged|empty).* renamed/);
      expect(isStillThere(text)).toBe(true);
    },
  );

  test("and a damaged previous one: the journal has everything", async () => {
    writeFileSync(fixture.inHome("snapshot.json"), "{");
    writeFileSync(fixture.inHome("snapshot.previous.json"), "}");
    await fixture.start();
    await expectAllSessions(fixture);
    expect(fixture.log()).toContain("beckon starts from its journal");
  });

  test("with other fields of wrong types: the sessions come from the journal", async () => {
    const damages = [{ spool: 5 }, { spool: [{}, "x"] }, { sessions: {} }, { sessions: [1, null, [], "x"] }];
    for (const damage of [...damages, { boot: 7, savedAt: "x", savedT: null, host: [] }]) {
      writeFileSync(fixture.inHome("snapshot.json"), JSON.stringify({ ...empty, ...damage }));
      const app = await fixture.start();
      await expectAllSessions(fixture);
      await app.kill();
    }
  });

  test("cut off at any byte: the app starts and shows every session", async () => {
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

  test("replaced by a folder: it is logged, renamed with its content, and a new snapshot is saved", async () => {
    const text = fixture.read("snapshot.json");
    mkdirSync(fixture.inHome("other-folder"));
    writeFileSync(fixture.inHome("other-folder", "file"), "other content");
    Bun.spawnSync(["rm", fixture.inHome("snapshot.json")]);
    Bun.spawnSync(["mv", fixture.inHome("other-folder"), fixture.inHome("snapshot.json")]);
    for (const prompt of ["one", "two", "three"]) {
      const app = await fixture.start();
      await fixture.post(prompted("third", prompt));
      expect(await app.stop()).toBe(0);
    }
    const folder = snapshots().find((name) => statSync(fixture.inHome(name)).isDirectory()) ?? "";
    expect(fixture.read(folder, "file")).toBe("other content");
    expect(fixture.log()).toContain(
      "snapshot.json is a folder: beckon does not open it, and has renamed it to",
    );
    expect(text).not.toBe(fixture.read("snapshot.json"));
    await fixture.start();
    await expectAllSessions(fixture);
  });
});

test("the snapshot of a newer beckon is never overwritten", async () => {
  const text = `{"version":99,"sessions":{"new":"shape"}}`;
  writeFileSync(fixture.inHome("snapshot.json"), text);
  const app = await fixture.start();
  await expectAllSessions(fixture);
  expect(fixture.log()).toContain("was written by a newer beckon (version 99)");
  await fixture.post(prompted("third", "x"));
  expect(await app.stop()).toBe(0);
  expect(isStillThere(text)).toBe(true);
  await fixture.start();
  await expectAllSessions(fixture);
});
