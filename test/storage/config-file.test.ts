import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultConfig } from "../../src/core/config/config.ts";
import { type ConfigFile, createConfigFile, watchConfig } from "../../src/storage/config-file.ts";
import { until } from "../world.ts";

let folder = "";
let path = "";
let file: ConfigFile | null = null;
let changes = 0;
beforeEach(() => {
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
const follow = () => {
  file = watchConfig(path, () => changes++);
  return file;
};

test("without a file, or with an empty one, the defaults hold", () => {
  expect(follow().config()).toEqual(defaultConfig);
  file?.stop();
  write(" ");
  expect(follow()).toMatchObject({});
  expect(file?.config()).toEqual(defaultConfig);
  expect(file?.problems()).toEqual([]);
});

test("a change holds within a second or two", async () => {
  const found = follow();
  write({ alerts: { sound: false } });
  await until(() => changes === 1, 3_000);
  expect(found.config().alerts.sound).toBe(false);
  expect(found.config().alerts.blocked).toBe(true);
});

test("what is wrong is named by its key, and the last good settings hold", async () => {
  write({ alerts: { sound: false } });
  const found = follow();
  write({ alerts: { sound: "loud" } });
  await until(() => changes === 1, 3_000);
  expect(found.problems().join()).toContain("alerts.sound must be");
  expect(found.config().alerts.sound).toBe(false);
  write('{\n  "alerts": {"sound": true},\n}\n');
  await until(() => changes === 2, 3_000);
  expect(found.problems()).toEqual([
    `${path} is not valid JSON, line 3, column 1: nothing follows after the last comma. The last good settings hold`,
  ]);
  expect(found.config().alerts.sound).toBe(false);
  write({});
  await until(() => changes === 3, 3_000);
  expect(found.problems()).toEqual([]);
  expect(found.config()).toEqual(defaultConfig);
});

test("a file is made for whoever has none, and one that is there is never touched", () => {
  const fresh = join(folder, "beckon", "config.json");
  expect(createConfigFile(fresh, "{}")).toBeNull();
  expect(readFileSync(fresh, "utf8")).toBe("{}");
  expect(statSync(fresh).mode & 0o777).toBe(0o600);
  expect(createConfigFile(fresh, "other")).toBeNull();
  expect(readFileSync(fresh, "utf8")).toBe("{}");
  expect(createConfigFile(join(fresh, "below"), "{}")).toStartWith("It could not be made: ");
});

test("at a start, what is right of a file with a mistake holds", () => {
  write({ alerts: { sound: "loud", finished: true } });
  const found = follow();
  expect(found.config().alerts).toEqual({ ...defaultConfig.alerts, finished: true });
  expect(found.problems()).toHaveLength(1);
});
