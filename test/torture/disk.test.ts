import { afterEach, beforeEach, describe, expect } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { testWith } from "../needs.ts";
import { waitForValue } from "../wait-until.ts";
import { createFixture, type Fixture } from "./fixture.ts";
import {
  doneSummary,
  eventsAfterAsk,
  eventsUntilAsk,
  prompted,
  summarizeSession,
  waitingSummary,
} from "./scenario.ts";

const testWithDisk = testWith("root", "linux", "mount");

let fixture: Fixture;
const mounted: string[] = [];
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(async () => {
  for (const folder of mounted.splice(0)) Bun.spawnSync(["umount", "-l", folder]);
  await fixture.destroy();
});

function mount(...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["mount", ...args]);
  if (exitCode !== 0) throw new Error(`mount ${args.join(" ")}: ${stderr}`);
}

function mountSmallDisk(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  mount("-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", folder);
  mounted.push(folder);
}

/** Fills the disk except for `freeBytes`. */
function fillDisk(folder: string, freeBytes = 0): void {
  const sizes = [64 * 1024, 4 * 1024, 1];
  let part = 0;
  for (const size of sizes) {
    for (;;) {
      try {
        writeFileSync(`${folder}/ballast-${part}`, "b".repeat(size));
        part++;
      } catch {
        rmSync(`${folder}/ballast-${part}`, { force: true });
        break;
      }
    }
  }
  for (let freed = 0; freed < freeBytes; freed += 4 * 1024) rmSync(`${folder}/ballast-${--part}`);
}

function makeRoom(folder: string): void {
  Bun.spawnSync(["sh", "-c", 'rm "$0"/ballast-*', folder]);
}

const post = async (payloads: readonly object[]) => {
  for (const payload of payloads) expect((await fixture.post(payload)).status).toBe(200);
};

describe("a full disk", () => {
  testWithDisk(
    "of the journal: events get a 503, are spooled by the forwarder, and are accepted once there is room",
    async () => {
      mountSmallDisk(fixture.inHome("journal"));
      const app = await fixture.start();
      await post(eventsUntilAsk("first", "make"));
      fillDisk(fixture.inHome("journal"));
      // The last page of the journal has room for a few more events.
      const failed = await waitForValue(
        () => fixture.post(prompted("other", "x")),
        ({ status }) => status !== 200,
      );
      expect(failed.status).toBe(503);
      expect(await failed.text()).toMatch(/not stored: .*ENOSPC.*Free some disk space/);

      for (const payload of eventsAfterAsk("first", "make", "made ".repeat(300))) {
        const { code, stdout } = await fixture.hook(payload);
        expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      }
      expect(fixture.read("hook.log")).toContain("beckon answered 503: kept in the spool");
      expect((await fixture.get("/api/sessions")).status).toBe(200);
      expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
      expect(() => fixture.journal()).not.toThrow();

      makeRoom(fixture.inHome("journal"));
      await waitForValue(
        async () => summarizeSession(await fixture.status(), "first"),
        ({ phase }) => phase === "interactable",
        3_000,
      );
      expect((await fixture.post(prompted("after", "1"))).status).toBe(200);
      expect(summarizeSession(await fixture.status(), "first")).toMatchObject({
        phase: "interactable",
        turns: 1,
        asks: [],
      });
      const ids = fixture.journal().map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      await app.kill();
      await fixture.start();
      expect(summarizeSession(await fixture.status(), "first")).toMatchObject({
        phase: "interactable",
        turns: 1,
        asks: [],
      });
      expect(summarizeSession(await fixture.status(), "after")).toMatchObject({ prompt: "1" });
    },
  );

  testWithDisk(
    "of the whole state folder: hooks exit with 0 and print nothing, and the app works again once there is room",
    async () => {
      mountSmallDisk(fixture.home);
      const app = await fixture.start();
      await post(eventsUntilAsk("first", "make"));
      fillDisk(fixture.home);
      await waitForValue(
        () => fixture.post(prompted("other", "x".repeat(3_000))),
        ({ status }) => status === 503,
      );
      for (let times = 0; times < 3; times++) {
        const { code, stdout } = await fixture.hook(prompted("lost", "y".repeat(6_000)));
        expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      }
      await waitForValue(app.stderr, (text) => text.includes("the snapshot could not be written (ENOSPC)"));
      expect(app.isRunning()).toBe(true);
      expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
      makeRoom(fixture.home);
      await post(eventsAfterAsk("first", "make", "made"));
      expect(summarizeSession(await fixture.status(), "first")).toEqual(doneSummary("make", "made"));
      expect(() => fixture.journal()).not.toThrow();
      expect(await app.stop()).toBe(0);
      await fixture.start();
      expect(summarizeSession(await fixture.status(), "first")).toEqual(doneSummary("make", "made"));
    },
  );

  testWithDisk(
    "with room for half an event: no incomplete line is left, and a small event still fits",
    async () => {
      mountSmallDisk(fixture.home);
      const app = await fixture.start();
      await post(eventsUntilAsk("first", "make"));
      fillDisk(fixture.home, 16 * 1024);
      for (let times = 0; times < 5; times++) {
        expect((await fixture.post(prompted("large", "z".repeat(60_000)))).status).toBe(503);
        expect((await fixture.post(prompted("small", String(times)))).status).toBe(200);
      }
      expect(fixture.journal().some(({ body }) => JSON.stringify(body).includes("zzz"))).toBe(false);
      await app.kill();
      makeRoom(fixture.home);
      await fixture.start();
      expect(summarizeSession(await fixture.status(), "small")).toMatchObject({ turns: 5, prompt: "4" });
      expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
      expect(fixture.log()).not.toContain("skipped");
    },
  );

  testWithDisk("at a stop and a start: nothing is lost, and the error says what is wrong", async () => {
    mountSmallDisk(fixture.home);
    const app = await fixture.start();
    await post(eventsUntilAsk("first", "make"));
    fillDisk(fixture.home);
    expect(await app.stop()).toBe(0);
    // The history may have removed its write-ahead log.
    fillDisk(fixture.home);
    const { app: again, code, stderr } = await fixture.tryToStart();
    expect({ again, code }).toEqual({ again: null, code: 1 });
    expect(stderr).toMatch(/beckon cannot .*(ENOSPC|FULL).* the disk not full/);
    makeRoom(fixture.home);
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
  });
});
