/** Compares what beckon shows with what is on the screen of a real CLI: asks with dialogs, and states. */
import type { SessionView } from "../../src/core/view/session-view.ts";

export type ScreenState = "working" | "idle" | "waiting" | "shell";

export type DialogKind = "permission" | "question" | "plan";

export type ScreenRow =
  /** A dialog came or went. */
  | { readonly kind: "dialog"; readonly on: boolean; readonly what: DialogKind }
  /** What the whole screen showed. */
  | { readonly kind: "look"; readonly label: string; readonly state: ScreenState };

export type TimedScreenRow = { readonly ms: number } & ScreenRow;

interface ShownAsk {
  readonly id: string;
  readonly kind: string;
  readonly from: number;
  to: number;
}

interface ShownState {
  readonly ms: number;
  readonly state: ScreenState;
}

export interface ScreenVerdict {
  dialogs: number;
  opened: number;
  closed: number;
  compared: number;
  right: number;
  readonly problems: string[];
}

export interface ShownHistory {
  readonly asks: readonly ShownAsk[];
  readonly states: readonly ShownState[];
}

/** An ask must be shown this soon after its dialog, and be gone this soon after its end. */
const openWithinMs = 500;
const closeWithinMs = 1_000;

/** A hook can come this much earlier than its dialog. Codex waits up to 1.2 s after a key. */
const maxLeadMs = 1_500;

/** The screen was read by a loaded machine. */
const slackMs = 500;

export interface ShownHistoryRecorder extends ShownHistory {
  /** What beckon shows at this time. */
  add(ms: number, views: readonly SessionView[]): void;
}

export function createShownHistory(): ShownHistoryRecorder {
  const asks: ShownAsk[] = [];
  const states: ShownState[] = [];
  return {
    asks,
    states,
    add(ms, views) {
      const open = views.flatMap(({ sessionId, asks: list }) =>
        list
          .filter(({ kind }) => kind !== "idle")
          .map(({ id, kind }) => ({ id: `${sessionId} ${id}`, kind })),
      );
      for (const { id, kind } of open) {
        const known = asks.find((ask) => ask.id === id);
        if (known) known.to = Number.POSITIVE_INFINITY;
        else asks.push({ id, kind, from: ms, to: Number.POSITIVE_INFINITY });
      }
      for (const ask of asks) {
        if (ask.to === Number.POSITIVE_INFINITY && !open.some(({ id }) => id === ask.id)) ask.to = ms;
      }
      const state = findState(views);
      if (states.at(-1)?.state !== state) states.push({ ms, state });
    },
  };
}

function findState(views: readonly SessionView[]): ScreenState {
  const live = views.filter(({ state }) => state !== "completed");
  if (live.length === 0) return "shell";
  if (live.some(({ activityPhase }) => activityPhase?.startsWith("waiting_"))) return "waiting";
  return live.some(({ activityPhase }) => activityPhase === "busy") ? "working" : "idle";
}

export function judgeScreen(
  rows: readonly TimedScreenRow[],
  { asks, states }: ShownHistory,
  end: number,
): ScreenVerdict {
  const verdict: ScreenVerdict = { dialogs: 0, opened: 0, closed: 0, compared: 0, right: 0, problems: [] };
  const dialogs = listDialogs(rows);
  const unused = new Set(asks);
  const report = (ms: number, text: string) => verdict.problems.push(`${(ms / 1_000).toFixed(1)} s: ${text}`);

  for (const { from, to, what } of dialogs) {
    verdict.dialogs++;
    const isKind = ({ kind }: ShownAsk) =>
      what === "question"
        ? kind === "question" || kind === "elicitation"
        : kind === what || kind === "permission";
    const match = [...unused].find(
      (ask) =>
        isKind(ask) && ask.from <= from + openWithinMs && ask.to > from && from - ask.from <= maxLeadMs,
    );
    if (!match) {
      report(from, `the ${what} dialog has no ask`);
      continue;
    }
    unused.delete(match);
    verdict.opened++;
    if (match.to > to + closeWithinMs && to < end) report(to, `the ask stays after the ${what} dialog`);
    else if (match.to < to - closeWithinMs) report(match.to, `the ask goes before the ${what} dialog`);
    else verdict.closed++;
  }
  for (const { from, to, kind } of unused) {
    if (Math.min(to, end) - from > openWithinMs) report(from, `a ${kind} ask without a dialog`);
  }

  const stateAt = (ms: number): ScreenState => states.findLast((s) => s.ms <= ms)?.state ?? "shell";
  const hasWorked = (ms: number) => states.some((s) => s.ms <= ms && s.state !== "shell");
  for (const row of rows) {
    if (row.kind !== "look") continue;
    verdict.compared++;
    const around = states.filter(({ ms }) => Math.abs(ms - row.ms) <= slackMs).map(({ state }) => state);
    const shown = new Set([stateAt(row.ms - slackMs), stateAt(row.ms), ...around]);
    // Most agents report nothing before the first prompt.
    const isUnstarted = row.state === "idle" && !hasWorked(row.ms);
    if (shown.has(row.state) || isUnstarted) verdict.right++;
    else report(row.ms, `the screen is ${row.state} (${row.label}), shown is ${stateAt(row.ms)}`);
  }
  return verdict;
}

interface Dialog {
  readonly from: number;
  readonly to: number;
  readonly what: DialogKind;
}

function listDialogs(rows: readonly TimedScreenRow[]): readonly Dialog[] {
  const changes = rows.flatMap((row) => (row.kind === "dialog" ? [row] : []));
  return changes.flatMap(({ ms, on, what }, n) => {
    const next = changes[n + 1];
    return on ? [{ from: ms, to: next && !next.on ? next.ms : Number.POSITIVE_INFINITY, what }] : [];
  });
}
