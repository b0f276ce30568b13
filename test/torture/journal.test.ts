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

const newestSegment = () =>
  fixture.inHome("journal", readdirSync(fixture.inHome("journal")).sort().at(-1) ?? "");

describe("a damaged journal", () => {
  test("with garbage lines: the log names them, and every other line counts", async () => {
    await fixture.destroy();
    fixture = await createFixture();
    const app = await fixture.start();
    for (const payload of eventsUntilAsk("first", "make")) await fixture.post(payload);
    await app.kill();
    const lines = readFileSync(newestSegment(), "utf8").split("\n").slice(0, -1);
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
    writeFileSync(newestSegment(), `${mixed.join("\n")}\n{"id":"incomplete","at`);
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
    expect(fixture.log()).toContain("not a line of the journal");
    for (const payload of eventsAfterAsk("first", "make", "made")) await fixture.post(payload);
    expect(summarizeSession(await fixture.status(), "first")).toEqual(doneSummary("make", "made"));
  });

  test("with bodies of any shape: they are skipped, and every other line counts", async () => {
    await fixture.destroy();
    fixture = await createFixture();
    const app = await fixture.start();
    for (const payload of eventsUntilAsk("first", "make")) await fixture.post(payload);
    await app.kill();
    const bodies = ["null", "5", '"x"', "[]", "{}", '{"payload":5,"_meta":[]}', '{"provider":"nobody"}'];
    const line = (body: string, n: number) =>
      `{"id":"x${n}","at":1e999,"t":-1e999,"boot":null,"key":"","body":${body}}\n`;
    appendFileSync(newestSegment(), bodies.map(line).join(""));
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
  });

  test("with a folder in place of a segment: it is left alone", async () => {
    mkdirSync(fixture.inHome("journal", "0000009999.jsonl"));
    await fixture.start();
    await expectAllSessions(fixture);
    expect((await fixture.post(prompted("third", "x"))).status).toBe(200);
  });

  test("with a file in place of its folder: the app starts from the snapshot and accepts no event", async () => {
    rmSync(fixture.inHome("journal"), { recursive: true });
    writeFileSync(fixture.inHome("journal"), "other content");
    const app = await fixture.start();
    expect(summarizeSession(await fixture.status(), "second")).toEqual(waitingSummary("ls"));
    expect((await fixture.post(prompted("third", "x"))).status).toBe(503);
    expect(fixture.log()).toContain("cannot be read (it is a file): beckon starts without its journal");
    expect(await app.stop()).toBe(0);
    expect(fixture.read("journal")).toBe("other content");
  });

  test("that was deleted while the app runs: later events are kept", async () => {
    const app = await fixture.start();
    await fixture.post(prompted("third", "1"));
    rmSync(fixture.inHome("journal"), { recursive: true });
    expect((await fixture.post(prompted("third", "2"))).status).toBe(200);
    await app.kill();
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "third").prompt).toBe("2");
  });

  test("with text of another program at its end: no event is lost", async () => {
    const app = await fixture.start();
    await fixture.post(prompted("third", "1"));
    appendFileSync(newestSegment(), "text without a newline");
    expect((await fixture.post(prompted("third", "2"))).status).toBe(200);
    await app.kill();
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "third")).toMatchObject({ turns: 2, prompt: "2" });
  });
});

describe("with wrong permissions", () => {
  const startWithoutPrivilege = async () => {
    const { app, stderr } = await fixture.launch({}, withoutPrivileges).result;
    if (!app) throw new Error(`beckon did not start: ${stderr}`);
    return app;
  };

  testWith(...privilegeTools)(
    "a journal segment that cannot be read is logged, and new events are kept",
    async () => {
      chmodSync(newestSegment(), 0);
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
    "a journal segment that cannot be written is read, and a new one is started",
    async () => {
      chmodSync(newestSegment(), 0o400);
      const app = await startWithoutPrivilege();
      expect((await fixture.post(prompted("third", "x"))).status).toBe(200);
      await app.kill();
      await startWithoutPrivilege();
      await expectAllSessions(fixture);
      expect(summarizeSession(await fixture.status(), "third")).toMatchObject({ turns: 1, prompt: "x" });
    },
  );

  testWith(...privilegeTools)(
    "a snapshot that cannot be read is kept, however many new ones follow",
    async () => {
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
    },
  );

  testWith(...privilegeTools)(
    "a snapshot that cannot be written is still replaced, because the folder is writable",
    async () => {
      chmodSync(fixture.inHome("snapshot.json"), 0o400);
      const app = await startWithoutPrivilege();
      await fixture.post(prompted("third", "x"));
      expect(await app.stop()).toBe(0);
      expect(fixture.read("snapshot.json")).toContain('"third"');
    },
  );

  testWith(...privilegeTools)(
    "if the folder becomes read-only, the snapshot is not saved but the journal has everything",
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
    "if the folder is read-only at the start, the error says what to do, and no file is changed",
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
