import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readSurroundings } from "../../src/hook/meta.ts";
import { createClock, formatLocalTime } from "../../src/system/clock.ts";
import { testWith } from "../needs.ts";

const onLinux = testWith("linux");

const folders = Promise.resolve({ paths: { authHeader: "/nonexistent" } });

describe("the clock", () => {
  test("goes forward as time passes, from the boot on", () => {
    let elapsedMs = 100;
    const clock = createClock({ elapsedMs: () => elapsedMs, uptimeMs: () => 50_000 });
    expect(clock().t).toBe(50_000);
    elapsedMs += 40;
    expect(clock().t).toBe(50_040);
    expect(Math.abs(clock().at - Date.now())).toBeLessThan(1_000);
  });

  test("counts the time that the machine slept", () => {
    let elapsedMs = 100;
    let uptimeMs = 50_000;
    const clock = createClock({ elapsedMs: () => elapsedMs, uptimeMs: () => uptimeMs });
    elapsedMs += 2_000;
    uptimeMs += 2_000 + 3_600_000;
    expect(clock().t).toBe(uptimeMs);
    // /proc/uptime has steps of 10 ms, which are not sleep.
    elapsedMs += 2_000;
    uptimeMs += 2_010;
    expect(clock().t).toBe(uptimeMs - 10);
  });

  test("starts with the process if the time since boot is unknown", () => {
    let elapsedMs = 100;
    const clock = createClock({ elapsedMs: () => elapsedMs, uptimeMs: () => null });
    elapsedMs += 5_000;
    expect(clock().t).toBe(5_000);
  });

  onLinux("counts from the boot of this machine, like the forwarder", async () => {
    const clock = createClock();
    const uptimeMs = () => Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1_000;
    expect(Math.abs(clock().t - uptimeMs())).toBeLessThan(50);
    const forwarder = await readSurroundings({ id: "claude", forwarding: null }, {}, folders);
    expect(Math.abs(clock().t - (forwarder.seq ?? 0) / 1_000)).toBeLessThan(100);
  });

  onLinux("identifies the machine like the forwarder, so that their pids are comparable", async () => {
    const { boot, host } = createClock()();
    const forwarder = await readSurroundings({ id: "claude", forwarding: null }, {}, folders);
    expect(boot).toMatch(/^[0-9a-f-]{36}$/);
    expect({ boot: forwarder.boot, host: forwarder.host }).toEqual({ boot, host });
  });

  testWith(
    "linux",
    "root",
    "unshare",
  )("gives another pid namespace another host id", async () => {
    const apart = [
      "unshare",
      "--pid",
      "--fork",
      "--mount-proc",
      "--kill-child",
      process.execPath,
      join(import.meta.dir, "../fixtures/clock-program.ts"),
    ];
    const there = JSON.parse(await Bun.spawn(apart, { stdout: "pipe" }).stdout.text());
    const here = createClock()();
    expect(there.boot).toBe(here.boot);
    expect(there.host).not.toBe(here.host);
  });
});

const zone = process.env.TZ;
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});
const inZone = (name: string, at: string, now: string): string => {
  process.env.TZ = name;
  return formatLocalTime(Date.parse(at), Date.parse(now));
};

describe("a formatted time", () => {
  test.each([
    ["of today", "2026-11-16T13:03:59Z", "14:03"],
    ["of tomorrow", "2026-11-17T07:00:00Z", "tomorrow 08:00"],
    ["of last night", "2026-11-15T22:30:00Z", "Sun 23:30"],
    ["of another day of this week", "2026-11-10T05:05:00Z", "Tue 06:05"],
    ["of a week ago, when the weekday was the same as today", "2026-11-09T13:03:00Z", "9 Nov 14:03"],
  ])("%s", (_, at, expected) => {
    expect(inZone("Europe/Berlin", at, "2026-11-16T18:00:00Z")).toBe(expected);
  });
  test("of before a clock change is what the clock showed then", () => {
    expect(inZone("Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T12:00:00Z")).toBe("02:30");
    expect(inZone("Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29T12:00:00Z")).toBe("01:30");
  });
  test("is in the time zone of the user", () => {
    expect(inZone("Asia/Kathmandu", "2026-11-16T13:03:00Z", "2026-11-16T13:30:00Z")).toBe("18:48");
    expect(inZone("America/Los_Angeles", "2026-11-17T07:59:00Z", "2026-11-17T08:30:00Z")).toBe("Mon 23:59");
  });
});
