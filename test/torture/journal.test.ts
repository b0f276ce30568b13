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
import { createFixture, type Fixture } from "./fixture.ts";
import {
  doneSummary,
  eventsAfterAsk,
  eventsUntilAsk,
  prompted,
  summarizeSession,
  waitingSummary,
} from "./scenario.ts";
import {
  createUsedFixture,
  expectAllSessions,
  privilegeTools,
  removeTemplate,
  withoutPrivileges,
} from "./used-folder.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createUsedFixture();
});
afterEach(() => fixture.destroy());
afterAll(removeTemplate);

const newest = () => fixture.inHome("journal", readdirSync(fixture.inHome("journal")).sort().at(-1) ?? "");

describe("a damaged journal", () => {
  test("garbage lines in it: named in the log, and every other line counts", async () => {
    await fixture.destroy();
    fixture = await createFixture();
    const app = await fixture.start();
    for (const payload of eventsUntilAsk("first", "make")) await fixture.post(payload);
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
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
    expect(fixture.log()).toContain("not a line of the journal");
    for (const payload of eventsAfterAsk("first", "make", "made")) await fixture.post(payload);
    expect(summarizeSession(await fixture.status(), "first")).toEqual(doneSummary("make", "made"));
  });

  test("lines with bodies of any shape: passed over, and every other line counts", async () => {
    await fixture.destroy();
    fixture = await createFixture();
    const app = await fixture.start();
    for (const payload of eventsUntilAsk("first", "make")) await fixture.post(payload);
    await app.kill();
    const bodies = ["null", "5", '"x"', "[]", "{}", '{"payload":5,"_meta":[]}', '{"provider":"nobody"}'];
    const line = (body: string, n: number) =>
      `{"id":"x${n}","at":1e999,"t":-1e999,"boot":null,"key":"","body":${body}}\n`;
    appendFileSync(newest(), bodies.map(line).join(""));
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
  });

  test("a folder where a segment should be is left alone", async () => {
    mkdirSync(fixture.inHome("journal", "0000009999.jsonl"));
    await fixture.start();
    await expectAllSessions(fixture);
    expect((await fixture.post(prompted("third", "x"))).status).toBe(200);
  });

  test("a file where its folder should be: the app starts, shows what it knew, and takes nothing it cannot keep", async () => {
    rmSync(fixture.inHome("journal"), { recursive: true });
    writeFileSync(fixture.inHome("journal"), "somebody's");
    const app = await fixture.start();
    expect(summarizeSession(await fixture.status(), "second")).toEqual(waitingSummary("ls"));
    expect((await fixture.post(prompted("third", "x"))).status).toBe(503);
    expect(fixture.log()).toContain("cannot be read (ENOTDIR): beckon starts without its journal");
    expect(await app.stop()).toBe(0);
    expect(fixture.read("journal")).toBe("somebody's");
  });

  test("deleted while the app runs: what comes after is kept", async () => {
    const app = await fixture.start();
    await fixture.post(prompted("third", "1"));
    rmSync(fixture.inHome("journal"), { recursive: true });
    expect((await fixture.post(prompted("third", "2"))).status).toBe(200);
    await app.kill();
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "third").prompt).toBe("2");
  });

  test("somebody's text at its end while the app runs: nothing of ours is lost", async () => {
    const app = await fixture.start();
    await fixture.post(prompted("third", "1"));
    appendFileSync(newest(), "somebody's text without an end");
    expect((await fixture.post(prompted("third", "2"))).status).toBe(200);
    await app.kill();
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "third")).toMatchObject({ turns: 2, prompt: "2" });
  });
});

describe("files that may not be read or written", () => {
  const startWithoutPrivilege = async () => {
    const { app, stderr } = await fixture.launch({}, withoutPrivileges).result;
    if (!app) throw new Error(`beckon did not start: ${stderr}`);
    return app;
  };

  testWith(...privilegeTools)(
    "a journal segment that may not be read: named, and new events are kept",
    async () => {
      chmodSync(newest(), 0);
      const app = await startWithoutPrivilege();
      expect(summarizeSession(await fixture.status(), "second")).toEqual(waitingSummary("ls"));
      expect(fixture.log()).toMatch(/journal \d+\.jsonl cannot be read \(EACCES\)/);
      expect((await fixture.post(prompted("third", "x"))).status).toBe(200);
      await app.kill();
      await startWithoutPrivilege();
      expect(summarizeSession(await fixture.status(), "third")).toMatchObject({ turns: 1, prompt: "x" });
    },
  );

  testWith(...privilegeTools)(
    "a journal segment that may not be written: read, and a new one is begun",
    async () => {
      chmodSync(newest(), 0o400);
      const app = await startWithoutPrivilege();
      expect((await fixture.post(prompted("third", "x"))).status).toBe(200);
      await app.kill();
      await startWithoutPrivilege();
      await expectAllSessions(fixture);
      expect(summarizeSession(await fixture.status(), "third")).toMatchObject({ turns: 1, prompt: "x" });
    },
  );

  testWith(...privilegeTools)("a snapshot that may not be read outlives many new ones", async () => {
    const text = fixture.read("snapshot.json");
    chmodSync(fixture.inHome("snapshot.json"), 0);
    for (const prompt of ["one", "two", "three"]) {
      const app = await startWithoutPrivilege();
      await fixture.post(prompted("third", prompt));
      expect(await app.stop()).toBe(0);
    }
    expect(fixture.log()).toContain("snapshot.json cannot be read (EACCES)");
    await startWithoutPrivilege();
    await expectAllSessions(fixture);
    const names = readdirSync(fixture.home).filter((name) => name.startsWith("snapshot"));
    expect(names.map((name) => fixture.read(name))).toContain(text);
  });

  testWith(...privilegeTools)(
    "a snapshot that may not be written is replaced all the same: its folder is ours",
    async () => {
      chmodSync(fixture.inHome("snapshot.json"), 0o400);
      const app = await startWithoutPrivilege();
      await fixture.post(prompted("third", "x"));
      expect(await app.stop()).toBe(0);
      expect(fixture.read("snapshot.json")).toContain('"third"');
    },
  );

  testWith(...privilegeTools)(
    "a folder that turns read-only while the app runs: the snapshot waits, the journal has everything",
    async () => {
      const app = await startWithoutPrivilege();
      chmodSync(fixture.home, 0o500);
      expect((await fixture.post(prompted("third", "x"))).status).toBe(200);
      await expectAllSessions(fixture);
      expect(await app.stop()).toBe(0);
      expect(fixture.log()).toContain(
        "the snapshot could not be written (EACCES), but the journal has everything",
      );
      chmodSync(fixture.home, 0o700);
      await startWithoutPrivilege();
      await expectAllSessions(fixture);
      expect(summarizeSession(await fixture.status(), "third")).toMatchObject({ turns: 1, prompt: "x" });
    },
  );

  testWith(...privilegeTools)(
    "a read-only folder at the start: says what is wrong and what to do, and harms nothing",
    async () => {
      const before = fixture.read("snapshot.json");
      chmodSync(fixture.inHome("lock"), 0o400);
      chmodSync(fixture.home, 0o500);
      const { app, code, stderr } = await fixture.launch({}, withoutPrivileges).result;
      chmodSync(fixture.home, 0o700);
      expect({ app, code }).toEqual({ app: null, code: 1 });
      expect(stderr).toMatch(/^beckon cannot .* Is the folder writable, and the disk not full\?\n$/m);
      expect(fixture.read("snapshot.json")).toBe(before);
      await fixture.start();
      await expectAllSessions(fixture);
    },
  );
});
