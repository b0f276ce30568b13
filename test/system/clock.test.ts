import { describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSurroundings } from "../../src/hook/meta.ts";
import { createClock } from "../../src/system/clock.ts";
import { isAlive, readStartTime } from "../../src/system/processes.ts";
import { testWith } from "../needs.ts";

const onLinux = testWith("linux");

describe("the clock", () => {
  test("goes forward, by as much as time passes", async () => {
    const clock = createClock();
    const before = clock();
    await Bun.sleep(50);
    const after = clock();
    expect(after.t - before.t).toBeGreaterThanOrEqual(49);
    expect(after.t - before.t).toBeLessThan(500);
    expect(Math.abs(after.at - Date.now())).toBeLessThan(50);
  });

  onLinux("counts from this machine's boot, as the forwarder's does", async () => {
    const clock = createClock();
    const uptimeMs = () => Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1_000;
    expect(Math.abs(clock().t - uptimeMs())).toBeLessThan(50);
    await Bun.sleep(1_100);
    expect(Math.abs(clock().t - uptimeMs())).toBeLessThan(50);
    const told = await readSurroundings({ id: "claude", forwarding: null }, {});
    expect(Math.abs(clock().t - (told.seq ?? 0) / 1_000)).toBeLessThan(100);
  });

  onLinux("names this machine as the forwarder does: their pids are the same processes", async () => {
    const { boot, host } = createClock()();
    const told = await readSurroundings({ id: "claude", forwarding: null }, {});
    expect(boot).toMatch(/^[0-9a-f-]{36}$/);
    expect({ boot: told.boot, host: told.host }).toEqual({ boot, host });
  });

  testWith(
    "linux",
    "root",
    "unshare",
  )("gives another pid namespace another name", async () => {
    const script = `import { createClock } from ${JSON.stringify(join(import.meta.dir, "../../src/system/clock.ts"))};
      console.log(JSON.stringify(createClock()()));`;
    const apart = [
      "unshare",
      "--pid",
      "--fork",
      "--mount-proc",
      "--kill-child",
      process.execPath,
      "-e",
      script,
    ];
    const there = JSON.parse(await Bun.spawn(apart, { stdout: "pipe" }).stdout.text());
    const here = createClock()();
    expect(there.boot).toBe(here.boot);
    expect(there.host).not.toBe(here.host);
  });
});

describe("a process", () => {
  onLinux("has a start time that ps agrees with, and keeps it", async () => {
    const ticks = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ")[19];
    expect(readStartTime(process.pid)).toBe(ticks ?? "none");
    expect(isAlive(process.pid, ticks ?? "")).toBe(true);
    expect(isAlive(process.pid, "1")).toBe(false);
    expect(isAlive(process.pid, null)).toBe(true);
  });

  onLinux("may have a name that looks like the rest of the line", async () => {
    const folder = mkdtempSync(join(tmpdir(), "beckon-machine-"));
    const odd = join(folder, "a) Z 1 (b");
    copyFileSync(Bun.which("sleep") ?? "", odd);
    const child = Bun.spawn([odd, "60"]);
    try {
      const comm = () => readFileSync(`/proc/${child.pid}/comm`, "utf8").trim();
      while (comm() !== "a) Z 1 (b") await Bun.sleep(5);
      expect(Number(readStartTime(child.pid))).toBeGreaterThan(Number(readStartTime(process.pid)) - 1);
    } finally {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(folder, { recursive: true });
    }
    expect(readStartTime(child.pid)).toBeNull();
  });
});
