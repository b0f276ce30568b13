import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { computeQuietHours, findQuietMode } from "../../../src/core/config/quiet.ts";

const minute = 60_000;
const at = 1_790_000_040_000;
const time = (text: string, into = 0) => {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return { at: at + into, minuteOfDay: hours * 60 + minutes };
};
const night = { from: "22:00", to: "08:00" };
const noon = { from: "12:00", to: "13:30" };

describe("quiet hours", () => {
  test.each<[typeof night, string, boolean, number]>([
    [night, "21:59", false, 1],
    [night, "22:00", true, 600],
    [night, "00:00", true, 480],
    [night, "07:59", true, 1],
    [night, "08:00", false, 840],
    [noon, "12:00", true, 90],
    [noon, "13:29", true, 1],
    [noon, "13:30", false, 1350],
    [noon, "11:59", false, 1],
  ])("%j at %s: %p", (hours, now, isOn, minutes) => {
    const changesAt = at + minutes * minute;
    expect(computeQuietHours(hours, time(now, 12_345))).toEqual({
      isOn,
      changesAt,
      // At the next quarter of an hour, when clocks may change.
      checkAt: Math.min(changesAt, at + (15 - (Number(now.slice(3)) % 15)) * minute),
    });
  });
  test("are null if none are set", () => {
    expect(computeQuietHours(null, time("22:00"))).toBeNull();
    expect(computeQuietHours({ from: "10:00", to: "10:00" }, time("10:00"))).toBeNull();
  });
  test("are on or off for each minute of a day, and name the minute at which that changes", () => {
    const minutes = fc.integer({ min: 0, max: 1439 });
    const format = (time: number) => new Date(time * minute).toISOString().slice(11, 16);
    fc.assert(
      fc.property(minutes, minutes, minutes, (from, to, now) => {
        fc.pre(from !== to);
        const hours = { from: format(from), to: format(to) };
        const computed = computeQuietHours(hours, { at, minuteOfDay: now });
        const isQuiet = from < to ? now >= from && now < to : now >= from || now < to;
        expect(computed?.isOn).toBe(isQuiet);
        const changeMinute = (now + ((computed?.changesAt ?? 0) - at) / minute) % 1440;
        expect(changeMinute).toBe(isQuiet ? to : from);
      }),
    );
  });
  test("come after a quiet mode that the user set, which has its own end", () => {
    expect(findQuietMode(at + minute, night, time("23:00"))).toEqual({ by: "you", until: at + minute });
    expect(findQuietMode(Number.MAX_SAFE_INTEGER, null, time("23:00"))).toEqual({ by: "you", until: null });
    expect(findQuietMode(at, night, time("23:00"))).toEqual({ by: "quiet hours", until: at + 540 * minute });
    expect(findQuietMode(null, night, time("12:00"))).toBeNull();
  });
});
