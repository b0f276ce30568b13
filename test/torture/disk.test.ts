import { afterEach, beforeEach, describe, expect } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { testWith } from "../needs.ts";
import { createFixture, type Fixture, until } from "./fixture.ts";
import {
  doneSummary,
  eventsAfterAsk,
  eventsUntilAsk,
  prompted,
  summarizeSession,
  waitingSummary,
} from "./scenario.ts";

const withDisk = testWith("root", "linux", "mount");

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

/** To the last byte, or all but so many. */
function fill(folder: string, freeBytes = 0): void {
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

function empty(folder: string): void {
  Bun.spawnSync(["sh", "-c", 'rm "$0"/ballast-*', folder]);
}

const tell = async (payloads: readonly object[]) => {
  for (const payload of payloads) expect((await fixture.post(payload)).status).toBe(200);
};

describe("a full disk", () => {
  withDisk(
    "the journal's: events are refused with 503, spooled by the forwarder, and taken once there is room",
    async () => {
      mountSmallDisk(fixture.inHome("journal"));
      const app = await fixture.start();
      await tell(eventsUntilAsk("first", "make"));
      fill(fixture.inHome("journal"));
      // The journal's last page has room for a few more.
      const refused = await until(
        () => fixture.post(prompted("other", "x")),
        ({ status }) => status !== 200,
      );
      expect(refused.status).toBe(503);
      expect(await refused.text()).toMatch(/not stored: .*ENOSPC.*Free some disk space/);

      for (const payload of eventsAfterAsk("first", "make", "made ".repeat(300))) {
        const { code, stdout } = await fixture.hook(payload);
        expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      }
      expect(fixture.read("hook.log")).toContain("beckon answered 503: kept in the spool");
      expect((await fixture.get("/api/sessions")).status).toBe(200);
      expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
      expect(() => fixture.journal()).not.toThrow();

      empty(fixture.inHome("journal"));
      await until(
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

  withDisk(
    "all of beckon's folder: hooks end with 0 and in silence, the app goes on and is well again with room",
    async () => {
      mountSmallDisk(fixture.home);
      const app = await fixture.start();
      await tell(eventsUntilAsk("first", "make"));
      fill(fixture.home);
      await until(
        () => fixture.post(prompted("other", "x".repeat(3_000))),
        ({ status }) => status === 503,
      );
      for (let times = 0; times < 3; times++) {
        const { code, stdout } = await fixture.hook(prompted("lost", "y".repeat(6_000)));
        expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      }
      // Longer than the snapshot waits: its save fails too.
      await Bun.sleep(1_200);
      expect(app.isRunning()).toBe(true);
      expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
      empty(fixture.home);
      await tell(eventsAfterAsk("first", "make", "made"));
      expect(summarizeSession(await fixture.status(), "first")).toEqual(doneSummary("make", "made"));
      expect(() => fixture.journal()).not.toThrow();
      expect(await app.stop()).toBe(0);
      await fixture.start();
      expect(summarizeSession(await fixture.status(), "first")).toEqual(doneSummary("make", "made"));
    },
  );

  withDisk("room for half an event: nothing torn stays behind, and a small one still fits", async () => {
    mountSmallDisk(fixture.home);
    const app = await fixture.start();
    await tell(eventsUntilAsk("first", "make"));
    fill(fixture.home, 16 * 1024);
    for (let times = 0; times < 5; times++) {
      expect((await fixture.post(prompted("large", "z".repeat(60_000)))).status).toBe(503);
      expect((await fixture.post(prompted("small", String(times)))).status).toBe(200);
    }
    expect(fixture.journal().some(({ body }) => JSON.stringify(body).includes("zzz"))).toBe(false);
    await app.kill();
    empty(fixture.home);
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "small")).toMatchObject({ turns: 5, prompt: "4" });
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
    expect(fixture.log()).not.toContain("skipped");
  });

  withDisk("stopped and started on it: what was known is not lost, and it says what is wrong", async () => {
    mountSmallDisk(fixture.home);
    const app = await fixture.start();
    await tell(eventsUntilAsk("first", "make"));
    fill(fixture.home);
    expect(await app.stop()).toBe(0);
    const { app: again, code, stderr } = await fixture.tryToStart();
    expect({ again, code }).toEqual({ again: null, code: 1 });
    expect(stderr).toMatch(/beckon cannot .*(ENOSPC|FULL).* the disk not full/);
    empty(fixture.home);
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
  });
});
