/** Lanes as shares of their width. Pure. */
import type { Lane, Span, SpanState } from "../../core/interfaces/wire.ts";
import { hourMs, minuteMs } from "../../core/timing.ts";

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

/** The axes of a day that has just begun, the shortest first, and what they start at a multiple of if they hold the day then. */
const shortAxes = [
  { lengthMs: hourMs / 2, stepMs: hourMs / 12 },
  { lengthMs: hourMs, stepMs: hourMs / 6 },
  { lengthMs: 2 * hourMs, stepMs: quarterMs },
  { lengthMs: 4 * hourMs, stepMs: hourMs / 2 },
];
/** Now is at this part of the axis or later: an axis that is mostly future shows nothing. */
const nowPart = 0.6;

/**
 * The shortest of half an hour, 1, 2 and 4 hours that holds everything; of a longer day, from the quarter of an hour in which
 * something happened first to the end of this quarter.
 */
export function chooseDayRange(spans: readonly Pick<Span, "from">[], { from, to }: Range): Range {
  const first = Math.max(
    from,
    spans.reduce((earliest, span) => Math.min(earliest, span.from), to),
  );
  for (const { lengthMs, stepMs } of shortAxes) {
    const latest = Math.min(first, to - nowPart * lengthMs);
    for (const alignMs of [stepMs, minuteMs]) {
      const start = Math.max(from, Math.floor(latest / alignMs) * alignMs);
      if (start + lengthMs >= to) return { from: start, to: start + lengthMs };
    }
  }
  return {
    from: Math.floor(first / quarterMs) * quarterMs,
    to: Math.ceil(to / quarterMs) * quarterMs,
  };
}

export interface Mark extends Bar {
  /** How many waits it stands for. */
  readonly count: number;
}

/** Waits as marks that can be seen and pointed at: each at least `minWidth` percent wide, and those that touch are one. */
export function markWaits(bars: readonly Bar[], minWidth: number): readonly Mark[] {
  const marks: Mark[] = [];
  for (const bar of bars) {
    if (bar.state !== "waiting") continue;
    const width = Math.max(bar.width, minWidth);
    const last = marks.at(-1);
    if (last && bar.x <= last.x + last.width)
      marks[marks.length - 1] = {
        ...last,
        to: bar.to,
        width: Math.max(last.width, bar.x + width - last.x),
        count: last.count + 1,
      };
    else marks.push({ ...bar, width, count: 1 });
  }
  return marks;
}

/** Where the labels under waits go: below the middle of each. None if two would touch. Widths are percents. */
export function placeWaitLabels(
  marks: readonly Mark[],
  widthOf: (mark: Mark) => number,
): readonly { readonly mark: Mark; readonly x: number }[] {
  const labels = marks.map((mark) => ({ mark, x: mark.x + mark.width / 2, half: widthOf(mark) / 2 }));
  const isClear = labels.every(({ x, half }, index) => {
    const before = labels[index - 1];
    return before === undefined || x - half >= before.x + before.half;
  });
  return isClear ? labels : [];
}

/** The ticks whose labels have room: none is nearer than `gap` percent to another, or to now. */
export function chooseLabels(ticks: readonly Tick[], gap: number, nowX: number | null): readonly Tick[] {
  const labels: Tick[] = [];
  for (const tick of ticks) {
    const last = labels.at(-1);
    const isNearNow = nowX !== null && Math.abs(tick.x - nowX) < gap;
    if (!isNearNow && tick.x < 98 && (!last || tick.x - last.x >= gap)) labels.push(tick);
  }
  return labels;
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
