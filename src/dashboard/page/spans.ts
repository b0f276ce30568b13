/** Lanes as shares of their width. Pure. */
import type { Lane, Span, SpanState } from "../../core/interfaces/wire.ts";
import { hourMs } from "../../core/timing.ts";

export interface Bar {
  readonly state: SpanState;
  readonly from: number;
  readonly to: number;
  /** Percent of the width. */
  readonly x: number;
  readonly width: number;
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

const percent = (at: number, { from, to }: Range): number => ((at - from) / (to - from)) * 100;

/** Narrower than this is not visible: about half a pixel. */
const minPercent = 0.06;

const isQuiet = (state: SpanState): boolean => state === "working" || state === "ready";

/**
 * Bars for the spans of one lane. Spans that are too narrow to be seen are joined with the span before them, so that a day of
 * thousands of spans becomes some hundred bars. Waiting and failing are never lost in that way: they are what the user looks for.
 */
export function createBars(spans: readonly Span[], range: Range, now: number): Bar[] {
  const bars: Bar[] = [];
  for (const { state, from, to } of spans) {
    const start = Math.max(from, range.from);
    const end = Math.min(to ?? now, range.to);
    if (end <= start) continue;
    const last = bars.at(-1);
    const isTouching = last !== undefined && percent(start, range) - (last.x + last.width) < minPercent;
    const isNarrow = percent(end, range) - percent(start, range) < minPercent;
    const isLost = isNarrow && isQuiet(state) && last !== undefined && isQuiet(last.state);
    if (last && isTouching && (last.state === state || isLost)) {
      bars[bars.length - 1] = { ...last, to: end, width: percent(end, range) - last.x };
    } else {
      const x = percent(start, range);
      bars.push({ state, from: start, to: end, x, width: percent(end, range) - x });
    }
  }
  return bars;
}

const quarterMs = hourMs / 4;

/** Of a day that is over: from the first quarter of an hour in which something happened to the last. */
export function choosePastRange(spans: readonly Span[], { from, to }: Range): Range {
  const last = spans.reduce((latest, span) => Math.max(latest, Math.min(span.to ?? to, to)), from);
  return chooseDayRange(spans, { from, to: last > from ? last : to });
}

/** From the quarter of an hour in which something happened first to the end of this quarter; at least one hour. */
export function chooseDayRange(spans: readonly Pick<Span, "from">[], { from, to }: Range): Range {
  const first = spans.reduce((earliest, span) => Math.min(earliest, span.from), to);
  const start = Math.floor(Math.max(from, first) / quarterMs) * quarterMs;
  return { from: start, to: Math.max(Math.ceil(to / quarterMs) * quarterMs, start + hourMs) };
}

/**
 * Joins the lanes of sessions that followed each other in one process: each /clear starts a new session there. The joined lane
 * belongs to the last of them.
 */
export function joinLanes(lanes: readonly Lane[]): readonly Lane[] {
  const byProcess = Map.groupBy(lanes, ({ fingerprint, key }) => fingerprint ?? key);
  return [...byProcess.values()].flatMap((list) => {
    const ordered = [...list].sort((a, b) => (a.spans[0]?.from ?? 0) - (b.spans[0]?.from ?? 0));
    const last = ordered.at(-1);
    if (!last || ordered.some((lane) => lane !== last && lane.group !== "ended")) return list;
    return {
      ...last,
      waitedMs: list.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
      spans: ordered.flatMap(({ spans }) => spans),
    };
  });
}

export interface Tick {
  readonly at: number;
  readonly x: number;
}

/** Full hours, or parts of one, at most ten of them. */
export function createTicks(range: Range): Tick[] {
  const steps = [5, 10, 15, 30, 60, 120, 180, 240].map((minutes) => minutes * 60_000);
  const step = steps.find((size) => (range.to - range.from) / size <= 10) ?? 6 * hourMs;
  const ticks: Tick[] = [];
  for (let at = Math.ceil(range.from / step) * step; at < range.to; at += step)
    ticks.push({ at, x: percent(at, range) });
  return ticks;
}

export const placeOf = (at: number, range: Range): number => Math.max(0, Math.min(100, percent(at, range)));

/** Milliseconds in each state. */
export function sumStates(bars: readonly Bar[]): ReadonlyMap<SpanState, number> {
  const sums = new Map<SpanState, number>();
  for (const { state, from, to } of bars) sums.set(state, (sums.get(state) ?? 0) + to - from);
  return sums;
}
