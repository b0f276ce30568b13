import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { testWith } from "../needs.ts";
import {
  createUsedWorld,
  destroyTemplate,
  expectEverything,
  privilegeNeeds,
  withoutPrivilege,
} from "./damage.ts";
import { afterItAsked, briefOf, done, prompted, untilItAsks, waiting } from "./story.ts";
import { createWorld, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await createUsedWorld();
});
afterEach(() => world.destroy());
afterAll(destroyTemplate);

const newest = () => world.inHome("journal", readdirSync(world.inHome("journal")).sort().at(-1) ?? "");

describe("a damaged journal", () => {
  test("garbage lines in it: named in the log, and every other line counts", async () => {
    await world.destroy();
    world = await createWorld();
    const app = await world.start();
    for (const payload of untilItAsks("first", "make")) await world.post(payload);
    await app.kill();
    const lines = readFileSync(newest(), "utf8").split("\n").slice(0, -1);
    const garbage = [
      "garbage",
      "",
      "{}",
      "null",
      '{"id":1}',
      '{"id":"x","at":"y"}',
      "\u0000",
      "[".repeat(200_000),
    ];
    const mixed = lines.flatMap((line, n) => [garbage[n * 2], garbage[n * 2 + 1], line]);
    writeFileSync(newest(), `${mixed.join("\n")}\n{"id":"torn","at`);
    await world.start();
    expect(briefOf(await world.status(), "first")).toEqual(waiting("make"));
    expect(world.log()).toContain("not a line of the journal");
    for (const payload of afterItAsked("first", "make", "made")) await world.post(payload);
    expect(briefOf(await world.status(), "first")).toEqual(done("make", "made"));
  });

  test("lines with bodies of any shape: passed over, and every other line counts", async () => {
    await world.destroy();
    world = await createWorld();
    const app = await world.start();
    for (const payload of untilItAsks("first", "make")) await world.post(payload);
    await app.kill();
    const bodies = ["null", "5", '"x"', "[]", "{}", '{"payload":5,"_meta":[]}', '{"provider":"nobody"}'];
    const line = (body: string, n: number) =>
      `{"id":"x${n}","at":1e999,"t":-1e999,"boot":null,"key":"","body":${body}}\n`;
    appendFileSync(newest(), bodies.map(line).join(""));
    await world.start();
    expect(briefOf(await world.status(), "first")).toEqual(waiting("make"));
  });

  test("a folder where a segment should be is left alone", async () => {
    mkdirSync(world.inHome("journal", "0000009999.jsonl"));
    await world.start();
    await expectEverything(world);
    expect((await world.post(prompted("third", "x"))).status).toBe(200);
  });

  test("a file where its folder should be: the app starts, shows what it knew, and takes nothing it cannot keep", async () => {
    rmSync(world.inHome("journal"), { recursive: true });
    writeFileSync(world.inHome("journal"), "somebody's");
    const app = await world.start();
    expect(briefOf(await world.status(), "second")).toEqual(waiting("ls"));
    expect((await world.post(prompted("third", "x"))).status).toBe(503);
    expect(world.log()).toContain("cannot be read (ENOTDIR): beckon starts without its journal");
    expect(await app.stop()).toBe(0);
    expect(world.read("journal")).toBe("somebody's");
  });

  test("deleted while the app runs: what comes after is kept", async () => {
    const app = await world.start();
    await world.post(prompted("third", "1"));
    rmSync(world.inHome("journal"), { recursive: true });
    expect((await world.post(prompted("third", "2"))).status).toBe(200);
    await app.kill();
    await world.start();
    expect(briefOf(await world.status(), "third").prompt).toBe("2");
  });

  test("somebody's text at its end while the app runs: nothing of ours is lost", async () => {
    const app = await world.start();
    await world.post(prompted("third", "1"));
    appendFileSync(newest(), "somebody's text without an end");
    expect((await world.post(prompted("third", "2"))).status).toBe(200);
    await app.kill();
    await world.start();
    expect(briefOf(await world.status(), "third")).toMatchObject({ turns: 2, prompt: "2" });
  });
});

describe("files that may not be read or written", () => {
  const startWithoutPrivilege = async () => {
    const { app, stderr } = await world.launch({}, withoutPrivilege).attempt;
    if (!app) throw new Error(`beckon did not start: ${stderr}`);
    return app;
  };

  testWith(...privilegeNeeds)(
    "a journal segment that may not be read: named, and new events are kept",
    async () => {
      chmodSync(newest(), 0);
      const app = await startWithoutPrivilege();
      expect(briefOf(await world.status(), "second")).toEqual(waiting("ls"));
      expect(world.log()).toMatch(/journal \d+\.jsonl cannot be read \(EACCES\)/);
      expect((await world.post(prompted("third", "x"))).status).toBe(200);
      await app.kill();
      await startWithoutPrivilege();
      expect(briefOf(await world.status(), "third")).toMatchObject({ turns: 1, prompt: "x" });
    },
  );

  testWith(...privilegeNeeds)(
    "a journal segment that may not be written: read, and a new one is begun",
    async () => {
      chmodSync(newest(), 0o400);
      const app = await startWithoutPrivilege();
      expect((await world.post(prompted("third", "x"))).status).toBe(200);
      await app.kill();
      await startWithoutPrivilege();
      await expectEverything(world);
      expect(briefOf(await world.status(), "third")).toMatchObject({ turns: 1, prompt: "x" });
    },
  );

  testWith(...privilegeNeeds)("a snapshot that may not be read outlives many new ones", async () => {
    const text = world.read("snapshot.json");
    chmodSync(world.inHome("snapshot.json"), 0);
    for (const prompt of ["one", "two", "three"]) {
      const app = await startWithoutPrivilege();
      await world.post(prompted("third", prompt));
      expect(await app.stop()).toBe(0);
    }
    expect(world.log()).toContain("snapshot.json cannot be read (EACCES)");
    await startWithoutPrivilege();
    await expectEverything(world);
    const names = readdirSync(world.home).filter((name) => name.startsWith("snapshot"));
    expect(names.map((name) => world.read(name))).toContain(text);
  });

  testWith(...privilegeNeeds)(
    "a snapshot that may not be written is replaced all the same: its folder is ours",
    async () => {
      chmodSync(world.inHome("snapshot.json"), 0o400);
      const app = await startWithoutPrivilege();
      await world.post(prompted("third", "x"));
      expect(await app.stop()).toBe(0);
      expect(world.read("snapshot.json")).toContain('"third"');
    },
  );

  testWith(...privilegeNeeds)(
    "a folder that turns read-only while the app runs: the snapshot waits, the journal has everything",
    async () => {
      const app = await startWithoutPrivilege();
      chmodSync(world.home, 0o500);
      expect((await world.post(prompted("third", "x"))).status).toBe(200);
      await expectEverything(world);
      expect(await app.stop()).toBe(0);
      expect(world.log()).toContain(
        "the snapshot could not be written (EACCES); the journal still has everything",
      );
      chmodSync(world.home, 0o700);
      await startWithoutPrivilege();
      await expectEverything(world);
      expect(briefOf(await world.status(), "third")).toMatchObject({ turns: 1, prompt: "x" });
    },
  );

  testWith(...privilegeNeeds)(
    "a read-only folder at the start: says what is wrong and what to do, and harms nothing",
    async () => {
      const before = world.read("snapshot.json");
      chmodSync(world.inHome("lock"), 0o400);
      chmodSync(world.home, 0o500);
      const { app, code, stderr } = await world.launch({}, withoutPrivilege).attempt;
      chmodSync(world.home, 0o700);
      expect({ app, code }).toEqual({ app: null, code: 1 });
      expect(stderr).toMatch(/^beckon cannot .* Is the folder writable, and the disk not full\?\n$/m);
      expect(world.read("snapshot.json")).toBe(before);
      await world.start();
      await expectEverything(world);
    },
  );
});
