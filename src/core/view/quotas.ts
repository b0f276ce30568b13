/** How much of the user's quotas is used, as their sessions report it, and the words for it. Pure: the page uses it too. */
import type { QuotaUse, RateLimits } from "../session/event.ts";
import { minuteMs } from "../timing.ts";

export type QuotaWindow = keyof RateLimits;

/** What a session knows of the quotas of its account. */
export interface QuotaReport {
  readonly agent: string;
  readonly machine: string | null;
  readonly rateLimits: RateLimits | null;
}

/** A quota of one account, which several sessions use. */
export interface Quota {
  readonly agent: string;
  /** One of the machines that report it; null for this one. */
  readonly machine: string | null;
  readonly window: QuotaWindow;
  readonly usedPercent: number;
  /** Wall time. */
  readonly resetsAt: number;
}

export const quotaWindows = { fiveHour: "5 h", sevenDay: "7 days" } as const satisfies Record<
  QuotaWindow,
  string
>;
const windows = Object.keys(quotaWindows) as QuotaWindow[];

/** Codex counts the seconds until then, so two of its reports can differ a little. */
const sameResetMs = minuteMs;

export const isSameReset = (a: number, b: number): boolean => Math.abs(a - b) <= sameResetMs;

/**
 * One per account and window, this machine's first. No report names its account. On one machine an agent is taken to have one:
 * the reset that is furthest away is the newest. Two machines that report the same reset share an account.
 */
export function listQuotas(reports: readonly QuotaReport[], now: number): readonly Quota[] {
  const found = new Map<string, Quota>();
  for (const { agent, machine, rateLimits } of reports) {
    if (rateLimits === null) continue;
    for (const window of windows) {
      const use = rateLimits[window];
      if (!isCurrent(use, now)) continue;
      const key = JSON.stringify([machine, agent, window]);
      const known = found.get(key);
      const { usedPercent, resetsAt } = use;
      found.set(key, joinReports(known, { agent, machine, window, usedPercent, resetsAt }));
    }
  }
  const ownFirst = [...found.values()].sort(
    (a, b) => Number(a.machine !== null) - Number(b.machine !== null),
  );
  return joinMachines(ownFirst);
}

/** Without a time of reset it is not known for how long a report holds. */
function isCurrent(use: QuotaUse | null, now: number): use is QuotaUse & { readonly resetsAt: number } {
  return use !== null && use.resetsAt !== null && use.resetsAt > now;
}

/** Within a window the use only grows, so of two reports about one window the higher is the newer. */
function joinReports(known: Quota | undefined, quota: Quota): Quota {
  if (known === undefined) return quota;
  if (!isSameReset(known.resetsAt, quota.resetsAt)) return known.resetsAt > quota.resetsAt ? known : quota;
  return {
    ...known,
    usedPercent: Math.max(known.usedPercent, quota.usedPercent),
    resetsAt: Math.max(known.resetsAt, quota.resetsAt),
  };
}

function joinMachines(quotas: readonly Quota[]): readonly Quota[] {
  const joined: Quota[] = [];
  for (const quota of quotas) {
    const at = joined.findIndex(
      ({ agent, window, resetsAt }) =>
        agent === quota.agent && window === quota.window && isSameReset(resetsAt, quota.resetsAt),
    );
    if (at < 0) joined.push(quota);
    else joined[at] = joinReports(joined[at], quota);
  }
  return joined;
}

export interface QuotaWords {
  readonly agentName: (agent: string) => string;
  /** Formats a wall time as local time. */
  readonly formatTime: (at: number) => string;
}

/** "Claude Code", "Codex on devbox" */
export function nameAccount(
  { agent, machine }: Pick<Quota, "agent" | "machine">,
  { agentName }: Pick<QuotaWords, "agentName">,
): string {
  return machine === null ? agentName(agent) : `${agentName(agent)} on ${machine}`;
}

/** Rounded down: a quota is used up at 100% and not before. */
export const formatPercent = (percent: number): string => `${Math.floor(percent)}%`;

/** A line per account: "Claude Code: 82% of 5 h, resets 15:00 · 41% of 7 days, resets Mon 09:00" */
export function formatQuotas(quotas: readonly Quota[], words: QuotaWords): readonly string[] {
  const accounts = Map.groupBy(quotas, (quota) => nameAccount(quota, words));
  return [...accounts].map(([name, own]) => {
    const parts = own.map(
      ({ window, usedPercent, resetsAt }) =>
        `${formatPercent(usedPercent)} of ${quotaWindows[window]}, resets ${words.formatTime(resetsAt)}`,
    );
    return `${name}: ${parts.join(" · ")}`;
  });
}
