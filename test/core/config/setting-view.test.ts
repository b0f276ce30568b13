/** A setting in words, and what the page says about a value before it is sent. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findSetting, isAllowed, type Setting, settings } from "../../../src/core/config/config.ts";
import { explainControl, formatSettingValue, sections } from "../../../src/core/config/setting-view.ts";

function require(key: string): Setting {
  const setting = findSetting(key);
  if (!setting) throw new Error(key);
  return setting;
}

test.each<[string, unknown, string]>([
  ["alerts.sound", true, "on"],
  ["alerts.sound", false, "off"],
  ["alerts.longTurnMinutes", 5, "5 minutes"],
  ["workGuard.tokenBudget", null, "none"],
  ["tray.leftClick", "nextWaiting", "Next session"],
  ["quietHours", { from: "22:00", to: "08:00" }, "22:00 to 08:00"],
  ["quietHours", null, "none"],
  ["mutedProjects", ["a", "b"], "a, b"],
  ["mutedProjects", [], "none"],
  ["history", { days: 30, maxMb: 500 }, "30 days, 500 MB"],
  ["history", "off", "off"],
  ["stream.path", "/tmp/x", "/tmp/x"],
  ["channels", { phone: {}, team: {} }, "2 channels"],
  ["channels", {}, "none"],
])("%s: %j is %j", (key, value, text) => {
  expect(formatSettingValue(require(key).control, value)).toBe(text);
});

test.each<[string, unknown, string]>([
  ["alerts.longTurnMinutes", -5, "From 0 to 1440 minutes."],
  ["alerts.longTurnMinutes", "five", "From 0 to 1440 minutes."],
  ["alerts.longTurnMinutes", 1.5, "From 0 to 1440 minutes."],
  ["workGuard.tokenBudget", 1, "From 1000 to 100000000 tokens, or none."],
  ["quietHours", { from: "22:00", to: "24:00" }, "Times of day from 00:00 to 23:59."],
  ["quietHours", { from: "22:00", to: "" }, "Times of day from 00:00 to 23:59."],
  ["quietHours", { from: "22:00", to: "22:00" }, "Two different times of day."],
  ["history", { days: 0, maxMb: 500 }, "From 1 to 3650 days."],
  ["history", { days: 1, maxMb: "x" }, "From 10 to 100000 MB."],
])("%s: %j is refused: %s", (key, value, text) => {
  expect(explainControl(require(key).control, value)).toBe(text);
});

describe("for every setting", () => {
  test("it is in a section, and its control shows its default and takes it", () => {
    for (const setting of settings) {
      expect(Object.keys(sections)).toContain(setting.section);
      expect(explainControl(setting.control, setting.default)).toBeNull();
      expect(formatSettingValue(setting.control, setting.default)).not.toContain("[object");
      expect(setting.title, setting.key).toMatch(/^[A-Z].{2,40}[^.]$/);
    }
  });
  test("a number, a time or a choice that the control takes is one that the file may have, and the other way round", () => {
    const value = fc.oneof(
      fc.integer(),
      fc.integer({ min: -1, max: 20_000 }),
      fc.double(),
      fc.constant(null),
      fc.string(),
      fc.record({
        from: fc.constantFrom("22:00", "8:00", "25:00", ""),
        to: fc.constantFrom("08:00", "22:00"),
      }),
      fc.record({ days: fc.integer(), maxMb: fc.integer({ min: 0, max: 1_000 }) }),
    );
    const checked = settings.filter(({ control }) => ["number", "hours"].includes(control.kind));
    fc.assert(
      fc.property(fc.constantFrom(...checked), value, (setting, given) => {
        const fits = setting.control.kind === "number" ? true : given === null || typeof given === "object";
        fc.pre(fits);
        expect(explainControl(setting.control, given) === null).toBe(isAllowed(setting, given));
      }),
      { numRuns: 500 },
    );
  });
});
