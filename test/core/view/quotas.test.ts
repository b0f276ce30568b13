/** What the menu and the page show of the user's quotas. */
import { expect, test } from "bun:test";
import type { QuotaUse } from "../../../src/core/session/event.ts";
import { formatQuotas, listQuotas, type QuotaReport } from "../../../src/core/view/quotas.ts";
import { createTestMenu, formatMenu, hour, minute, now, session } from "./menu/fixture.ts";

const use = (usedPercent: number, inMs: number): QuotaUse => ({ usedPercent, resetsAt: now.at + inMs });
const report = (
  fiveHour: QuotaUse | null,
  sevenDay: QuotaUse | null = null,
  more: Partial<QuotaReport> = {},
): QuotaReport => ({ agent: "claude", machine: null, rateLimits: { fiveHour, sevenDay }, ...more });
const words = {
  agentName: (agent: string) => (agent === "claude" ? "Claude Code" : agent),
  formatTime: (at: number) => `in ${(at - now.at) / hour} h`,
};
const list = (...reports: readonly QuotaReport[]) => formatQuotas(listQuotas(reports, now.at), words);

test("one line per account, with both of its quotas", () => {
  expect(
    list(report(use(82.9, 2 * hour), use(41, 50 * hour)), report(null, use(7, hour), { agent: "codex" })),
  ).toEqual([
    "Claude Code: 82% of 5 h, resets in 2 h · 41% of 7 days, resets in 50 h",
    "codex: 7% of 7 days, resets in 1 h",
  ]);
});

test("nothing that is not known, is over, or has no time of reset", () => {
  const withoutReset = { usedPercent: 90, resetsAt: null };
  expect(list(report(use(99, 0)), report(withoutReset), { ...report(null), rateLimits: null })).toEqual([]);
});

test("sessions of one account: the newest window, and the highest report of it", () => {
  expect(list(report(use(60, hour)), report(use(64, hour + 900)), report(use(62, hour)))).toHaveLength(1);
  expect(list(report(use(64, hour)), report(use(62, hour)))).toEqual([
    "Claude Code: 64% of 5 h, resets in 1 h",
  ]);
  expect(list(report(use(97, 10 * minute)), report(use(3, 5 * hour)))).toEqual([
    "Claude Code: 3% of 5 h, resets in 5 h",
  ]);
});

test("machines that report the same reset share an account, others do not", () => {
  const devbox = { machine: "devbox" };
  expect(list(report(use(70, hour), null, devbox), report(use(50, hour)))).toEqual([
    "Claude Code: 70% of 5 h, resets in 1 h",
  ]);
  expect(list(report(use(70, 2 * hour), null, devbox), report(use(50, hour)))).toEqual([
    "Claude Code: 50% of 5 h, resets in 1 h",
    "Claude Code on devbox: 70% of 5 h, resets in 2 h",
  ]);
});

test("the menu has them in a quiet line, until the reset", () => {
  const known = session("web", { rateLimits: { fiveHour: use(82, 40 * minute), sevenDay: null } });
  const { items, nextChange } = createTestMenu([known]);
  expect(formatMenu(items)).toMatch(/\n---\n\(Claude Code: 82% of 5 h, resets \d\d:\d\d\)\n---\nQuiet >/);
  expect(nextChange).toBeLessThanOrEqual(now.at + 40 * minute);
  const later = { at: now.at + 40 * minute, t: now.t + 40 * minute };
  expect(formatMenu(createTestMenu([known], { now: later }).items)).not.toContain("of 5 h");
  expect(formatMenu(createTestMenu([session("web")]).items)).not.toContain("of 5 h");
});
