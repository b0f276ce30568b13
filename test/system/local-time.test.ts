/** Times as people read them on their own clock. */
import { afterEach, describe, expect, test } from "bun:test";
import { formatLocalTime } from "../../src/system/clock.ts";

const zone = process.env.TZ;
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});
const inZone = (name: string, at: string, now: string): string => {
  process.env.TZ = name;
  return formatLocalTime(Date.parse(at), Date.parse(now));
};

describe("a time of day", () => {
  test.each([
    ["of today", "2026-11-16T13:03:59Z", "14:03"],
    ["of tomorrow", "2026-11-17T07:00:00Z", "tomorrow 08:00"],
    ["of last night", "2026-11-15T22:30:00Z", "Sun 23:30"],
    ["of another day of this week", "2026-11-10T05:05:00Z", "Tue 06:05"],
    ["of a week ago, when the weekday was the same as today", "2026-11-09T13:03:00Z", "9 Nov 14:03"],
  ])("%s", (_, at, told) => {
    expect(inZone("Europe/Berlin", at, "2026-11-16T18:00:00Z")).toBe(told);
  });
  test("from before the clocks were set is told as it was read then", () => {
    expect(inZone("Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T12:00:00Z")).toBe("02:30");
    expect(inZone("Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29T12:00:00Z")).toBe("01:30");
  });
  test("is the person's, far from here too", () => {
    expect(inZone("Asia/Kathmandu", "2026-11-16T13:03:00Z", "2026-11-16T13:30:00Z")).toBe("18:48");
    expect(inZone("America/Los_Angeles", "2026-11-17T07:59:00Z", "2026-11-17T08:30:00Z")).toBe("Mon 23:59");
  });
});
