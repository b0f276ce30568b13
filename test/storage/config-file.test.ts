import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultConfig } from "../../src/core/config/config.ts";
import { type ConfigFile, createConfigFile, watchConfig } from "../../src/storage/config-file.ts";
import { createVirtualTime, type VirtualTime } from "../virtual-time.ts";

let folder = "";
let path = "";
let file: ConfigFile | null = null;
let changes = 0;
let time: VirtualTime;
beforeEach(() => {
  time = createVirtualTime();
  folder = mkdtempSync(join(tmpdir(), "beckon-config-"));
  path = join(folder, "config.json");
  changes = 0;
});
afterEach(() => {
  file?.stop();
  rmSync(folder, { recursive: true });
});
const write = (value: unknown) =>
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
const watch = () => {
  file = watchConfig(path, time.schedule);
  file.subscribe(() => changes++);
  return file;
};
const oneSecond = () => time.advance(1_000);

test("without a file, or with an empty one, the defaults are used", () => {
  expect(watch().config()).toEqual(defaultConfig);
  file?.stop();
  write(" ");
  expect(watch().config()).toEqual(defaultConfig);
  expect(file?.problems()).toEqual([]);
});

test("a change is in effect within a second", async () => {
  const watched = watch();
  write({ alerts: { sound: false } });
  await oneSecond();
  expect(changes).toBe(1);
  expect(watched.config().alerts.sound).toBe(false);
  expect(watched.config().alerts.blocked).toBe(true);
});

test("a mistake is reported with its key, and the last valid settings stay in use", async () => {
  write({ alerts: { sound: false } });
  const watched = watch();
  write({ alerts: { sound: "loud" } });
  await oneSecond();
  expect(watched.problems().join()).toContain("alerts.sound must be");
  expect(watched.config().alerts.sound).toBe(false);
  write('{\n  "alerts": {"sound": true},\n}\n');
  await oneSecond();
  expect(watched.problems()).toEqual([
    `${path} is not valid JSON, line 3, column 1: nothing follows after the last comma: remove the comma. The last valid settings stay in use`,
  ]);
  expect(watched.config().alerts.sound).toBe(false);
  write({});
  await oneSecond();
  expect(watched.problems()).toEqual([]);
  expect(watched.config()).toEqual(defaultConfig);
});

test("a file is created if there is none, and an existing one is never changed", () => {
  const fresh = join(folder, "beckon", "config.json");
  expect(createConfigFile(fresh, "{}")).toBeNull();
  expect(readFileSync(fresh, "utf8")).toBe("{}");
  expect(statSync(fresh).mode & 0o777).toBe(0o600);
  expect(createConfigFile(fresh, "other")).toBeNull();
  expect(readFileSync(fresh, "utf8")).toBe("{}");
  expect(createConfigFile(join(fresh, "below"), "{}")).toStartWith("It could not be created: ");
});

test("at a start, the valid part of a file with a mistake is used", () => {
  write({ alerts: { sound: "loud", finished: true } });
  const watched = watch();
  expect(watched.config().alerts).toEqual({ ...defaultConfig.alerts, finished: true });
  expect(watched.problems()).toHaveLength(1);
});

test("a file that does not change is not reported, and nothing is after the stop", async () => {
  write({ alerts: { sound: false } });
  const watched = watch();
  await time.advance(10_000);
  watched.stop();
  write({});
  await time.advance(10_000);
  expect(changes).toBe(0);
});
