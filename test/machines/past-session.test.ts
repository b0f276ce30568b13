/** What a machine says of the time when it was not linked, whatever it claims. */
import { expect, test } from "bun:test";
import { readPastSession } from "../../src/machines/past-session.ts";
import type { DescribedPast } from "../../src/machines/protocol.ts";

const now = 1_790_000_000_000;
const past: DescribedPast = {
  agent: "claude",
  sessionId: "s",
  project: "shop",
  cwd: "/src/shop",
  branch: null,
  title: null,
  model: null,
  startedAt: now - 2_000,
  lastAt: now - 1_000,
  endedAt: null,
  attended: true,
  tokens: null,
  costMicros: null,
  asks: [],
  spans: [],
};
const read = (more: Partial<DescribedPast>) => readPastSession({ ...past, ...more }, "devbox", 0, now);

test("an id that hides or reorders text is refused", () => {
  expect(read({})).not.toBeNull();
  for (const sessionId of ["a\u001b[2Jb", "a\u202eb", "a\nb"]) expect(read({ sessionId })).toBeNull();
});

test("every time is one that can be written as a date, and none is later than now", () => {
  const session = read({ startedAt: -1.7e308, lastAt: 1.7e308, endedAt: 8.7e15 });
  for (const at of [session?.startedAt, session?.lastAt, session?.endedAt]) {
    expect(at).toBeLessThanOrEqual(now);
    expect(new Date(at ?? Number.NaN).toISOString()).not.toBe("");
  }
});
