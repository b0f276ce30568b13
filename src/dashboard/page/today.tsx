/** Today: one lane for each session, and when any of them waited. Readable without colour: height and pattern tell the states. */

import { signal } from "@preact/signals";
import type { Lane, SpanState } from "../../core/interfaces/wire.ts";
import { formatCount } from "../../core/text/words.ts";
import { formatAge, formatExactDuration } from "../../core/view/figures.ts";
import { sortSessions } from "../../core/view/order.ts";
import { cleanText, formatDay, formatDayInside, formatTime, noValue, spanLabels } from "./format.ts";
import { Host } from "./machines.tsx";
import { PastRail } from "./more-loader.tsx";
import { labelLane, nameOnMachine } from "./names.ts";
import { openSession } from "./navigation.ts";
import { isPast, showMoment } from "./past.ts";
import {
  canGoBack,
  isFirstDay,
  laneDay,
  laneHours,
  lanes,
  moveLaneDay,
  pastLanes,
  shiftDay,
} from "./reports.ts";
import {
  type Bar,
  chooseDayRange,
  chooseLabels,
  choosePastRange,
  createBars,
  createTicks,
  joinLanes,
  type Mark,
  markWaits,
  placeOf,
  placeWaitLabels,
  type Range,
  sumStates,
} from "./spans.ts";
import { now, sessions, shownSessions, slowNow, wantedAt } from "./state.ts";
import { withTip } from "./tip.tsx";
import { Glyph, Icon } from "./ui.tsx";

const showsAll = signal(false);
const maxLanes = 16;
const manyLanes = 40;

const shapes: Readonly<
  Record<SpanState, { readonly y: number; readonly height: number; readonly rx: number }>
> = {
  working: { y: 8, height: 10, rx: 2 },
  waiting: { y: 4, height: 18, rx: 2 },
  ready: { y: 12, height: 2, rx: 0 },
  failed: { y: 4, height: 18, rx: 2 },
};

/** The patterns that the lanes refer to. */
export function Patterns() {
  return (
    <svg width="0" height="0" class="hid" aria-hidden="true">
      <defs>
        <pattern id="p-wait" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="p-wait-bg" width="7" height="7" />
          <line class="p-wait-fg" x1="0" x2="0" y1="0" y2="7" />
        </pattern>
        <pattern id="p-fail" width="6" height="6" patternUnits="userSpaceOnUse">
          <rect class="p-fail-bg" width="6" height="6" />
          <path class="p-fail-fg" d="M0 0l6 6M6 0L0 6" />
        </pattern>
      </defs>
    </svg>
  );
}

function Legend() {
  return (
    <div class="legend">
      {(Object.keys(shapes) as SpanState[]).map((state) => (
        <span key={state}>
          <svg class="tl" aria-hidden="true">
            <rect
              class={`s-${state}`}
              x="5%"
              width="90%"
              y={(14 - Math.min(12, shapes[state].height)) / 2}
              height={Math.min(12, shapes[state].height)}
              rx={shapes[state].rx}
            />
          </svg>
          {spanLabels[state]}
        </span>
      ))}
    </div>
  );
}

function DayButtons({ day }: { readonly day: number | null }) {
  return (
    <div class="days">
      <button
        class="btn bare sq"
        type="button"
        aria-label="The day before"
        title="The day before"
        disabled={!canGoBack()}
        onClick={() => moveLaneDay(-1)}
      >
        <Icon of="back" />
      </button>
      <button
        class="btn bare sq"
        type="button"
        aria-label="The day after"
        title="The day after"
        disabled={day === null}
        onClick={() => moveLaneDay(1)}
      >
        <Icon of="forth" />
      </button>
    </div>
  );
}

function HoursChoice() {
  return (
    <div class="end">
      <fieldset class="seg" aria-label="Time range">
        {([1, 4, null] as const).map((choice) => (
          <button
            key={choice}
            type="button"
            aria-pressed={laneHours.value === choice}
            onClick={() => {
              if (choice !== null) laneDay.value = null;
              laneHours.value = choice;
            }}
          >
            {choice === null ? "Day" : `${choice} h`}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

/** Lanes that say something: who waited or failed, and if there is room, who worked. */
function chooseLanes(all: readonly Lane[]): readonly Lane[] {
  if (showsAll.value) return all;
  const isTold = ({ waitedMs, spans }: Lane) =>
    waitedMs > 0 || spans.some(({ state }) => state === "waiting" || state === "failed");
  const worked = ({ spans }: Lane) => spans.some(({ state }) => state === "working");
  const told = all.filter(isTold);
  if (all.length >= manyLanes) return told.slice(0, maxLanes);
  return all.filter((lane) => isTold(lane) || worked(lane)).slice(0, maxLanes);
}

/** In the order of the sessions above. */
function sortLanes(list: readonly Lane[]): readonly Lane[] {
  return sortSessions(list, ({ key, group, spans }) => ({
    key,
    group,
    since: sessions.value.get(key)?.since ?? spans.at(-1)?.from ?? 0,
  }));
}

/** The stream knows the group of a session sooner than the lanes, which are loaded now and then. */
const groupOf = ({ key, group }: Lane): Lane["group"] =>
  shownSessions.value.get(key)?.group ?? (wantedAt.value === null ? group : "ended");

const groupOfState = { working: "working", waiting: "needs_you", ready: "ready", failed: "failed" } as const;

/** The group that a session was in at the end of a day. */
function groupAt({ spans }: Lane, at: number): Lane["group"] {
  const last = spans.at(-1);
  const hasEnded = last === undefined || (last.to !== null && last.to < at);
  return hasEnded ? "ended" : groupOfState[last.state];
}

export function Today() {
  const day = laneDay.value;
  const loaded = day === null ? lanes.value : pastLanes.value;
  const hours = laneHours.value;
  const time = slowNow.value;
  const known = (loaded?.lanes ?? []).map((lane) => ({
    ...lane,
    group: day === null || isPast() ? groupOf(lane) : groupAt(lane, shiftDay(day, 1)),
  }));
  const all = sortLanes(joinLanes(known));
  const shown = chooseLanes(all);
  const spans = all.flatMap((lane) => lane.spans);
  const range =
    day !== null
      ? choosePastRange(spans, { from: day, to: shiftDay(day, 1) })
      : hours !== null
        ? { from: time - hours * 3_600_000, to: time }
        : chooseDayRange(spans, { from: loaded?.from ?? time - 1, to: time });
  const anyWaiting = createBars(
    (loaded?.anyWaiting ?? []).map((span) => ({ ...span, state: "waiting" as const })),
    range,
    time,
  );
  const rest = all.length - shown.length;
  return (
    <section class="panel" id="today" aria-labelledby="h-day">
      <div class="panel-head">
        <h2 id="h-day">{formatDay(day ?? time, time)}</h2>
        {day === null && isFirstDay.value && <span class="quiet">{describeFirst(spans, time)}</span>}
        <DayButtons day={day} />
        {all.length > 0 && <Legend />}
        {/* There is nothing to look at more closely before the first session of a day. */}
        {(all.length > 0 || day !== null || hours !== null) && <HoursChoice />}
      </div>
      {loaded !== null && !loaded.enabled ? (
        <HistoryOff what="The day is not recorded" />
      ) : (
        <>
          <Problem text={loaded?.problem} />
          <div class="day">
            <Axis range={range} />
            <div class="lane any">
              <div class="who">{isPast() ? "Drag, or ← →" : "Any of them waiting"}</div>
              <Scrub range={range} waits={anyWaiting} />
              <div class={anyWaiting.length > 0 ? "sum big" : "sum"}>
                {anyWaiting.length > 0 ? formatAge(sum(anyWaiting)) : noValue}
              </div>
            </div>
            {shown.map((lane) => (
              <LaneRow key={lane.key} lane={lane} range={range} />
            ))}
          </div>
          {(rest > 0 || showsAll.value) && (
            <div class="foot">
              <span>
                {rest > 0
                  ? `${rest} more that did little, and never waited for you or failed`
                  : "All lanes are shown"}
              </span>
              <span class="end">
                <button
                  class="link"
                  type="button"
                  onClick={() => {
                    showsAll.value = !showsAll.value;
                  }}
                >
                  {showsAll.value ? "Show fewer lanes" : "Show all lanes"}
                </button>
              </span>
            </div>
          )}
        </>
      )}
    </section>
  );
}

/** When any of them waited, and the handle that goes to any moment of the day. */
function Scrub({ range, waits }: { readonly range: Range; readonly waits: readonly Bar[] }) {
  const at = wantedAt.value;
  return (
    <div class="scrub-at">
      <svg
        class="tl"
        role="img"
        aria-label={`Some session waited for ${formatExactDuration(sum(waits))} in all`}
      >
        {at !== null ? (
          <PastRail range={range} waits={waits} />
        ) : (
          <>
            <Ticks range={range} />
            {waits.map((bar) => (
              <rect
                key={bar.from}
                class="s-any"
                x={`${bar.x}%`}
                width={`${bar.width}%`}
                y="8"
                height="10"
                rx="1"
              />
            ))}
          </>
        )}
      </svg>
      <input
        class="scrub-in"
        type="range"
        min={range.from}
        max={range.to}
        step={scrubStepMs}
        value={at ?? Math.min(range.to, now.value)}
        title={at === null ? "Drag to see any moment of it" : undefined}
        aria-label="Time shown"
        aria-valuetext={at === null ? "now" : formatTime(at)}
        onInput={({ currentTarget }) => showMoment(Number(currentTarget.value))}
      />
    </div>
  );
}

/** Of a day, a pixel is about as much. */
const scrubStepMs = 15_000;

/** The moment that is shown, and what came later. */
function Then({ range }: { readonly range: Range }) {
  const at = wantedAt.value;
  if (at === null) return null;
  const x = placeOf(at, range);
  return (
    <>
      <rect class="veil" x={`${x}%`} width={`${100 - x}%`} y="0" height="100%" />
      <line class="then" x1={`${x}%`} x2={`${x}%`} y1="-1" y2="100%" />
    </>
  );
}

const hourMinutes = 60;

/** "your first 18 minutes"; empty after the first hour. */
function describeFirst(spans: Lane["spans"], time: number): string {
  const minutes = Math.floor((time - Math.min(...spans.map(({ from }) => from))) / 60_000);
  return minutes < 1 || minutes >= hourMinutes ? "" : `your first ${formatCount(minutes, "minute")}`;
}

const sum = (bars: readonly Bar[]): number => bars.reduce((total, { from, to }) => total + to - from, 0);

const describeBar = ({ from, to }: Bar): string =>
  `${formatAge(to - from)} · ${formatTime(from)}–${formatTime(to)}`;

/** So many pixels of a lane, in percent of its width. It is the same for all of them; before the first is drawn, a guess does. */
const toLanePercent = (pixels: number): number =>
  (pixels / (document.querySelector("#today .lane svg.tl")?.clientWidth || 800)) * 100;

/** Labels that are nearer to each other touch. */
const labelPixels = 44;
const waitPixels = 6;
/** Of a character of a label under a wait, and of the gap between two labels. */
const characterPixels = 6;
const gapPixels = 6;

/** null on a day that is over. */
const placeOfNow = (range: Range): number | null =>
  laneDay.value === null ? placeOf(slowNow.value, range) : null;

function Axis({ range }: { readonly range: Range }) {
  const nowX = placeOfNow(range);
  return (
    <div class="lane axis" aria-hidden="true">
      <div class="who" />
      <svg class="tl" aria-hidden="true">
        {chooseLabels(createTicks(range), toLanePercent(labelPixels), nowX).map(({ at, x }) => (
          <text key={at} x={`${x}%`} y="14" text-anchor={x < 2 ? "start" : "middle"}>
            {formatTime(at)}
          </text>
        ))}
        {nowX !== null && (
          <text class="now-t" x={`${nowX}%`} y="14" text-anchor={nowX > 97 ? "end" : "middle"}>
            {formatTime(now.value)}
          </text>
        )}
      </svg>
      <div class="sum">waited</div>
    </div>
  );
}

function Ticks({ range }: { readonly range: Range }) {
  const nowX = placeOfNow(range);
  return (
    <>
      {createTicks(range).map(({ at, x }) => (
        <line key={at} class="tick" x1={`${x}%`} x2={`${x}%`} y1="0" y2="100%" />
      ))}
      {nowX !== null && <line class="now" x1={`${nowX}%`} x2={`${nowX}%`} y1="-1" y2="100%" />}
    </>
  );
}

const labelWait = ({ count, from, to }: Mark): string => (count > 1 ? `${count} asks` : formatAge(to - from));

/** On a phone, each lane is below its name. */
const hasRoom = matchMedia("(min-width: 641px)");

/** The first waits say how long they were: later there are too many of them. */
function chooseWaitLabels(marks: readonly Mark[]) {
  if (laneDay.value !== null || !isFirstDay.value || !hasRoom.matches) return [];
  return placeWaitLabels(marks, (mark) =>
    toLanePercent(labelWait(mark).length * characterPixels + gapPixels),
  );
}

interface LaneChartProps {
  readonly lane: Lane;
  readonly range: Range;
  readonly canLabel?: boolean;
}

export function LaneChart({ lane, range, canLabel = false }: LaneChartProps) {
  const bars = createBars(lane.spans, range, slowNow.value);
  const marks = markWaits(bars, toLanePercent(waitPixels));
  const labels = canLabel ? chooseWaitLabels(marks) : [];
  const { project, detail } = labelLane(lane);
  const name = nameOnMachine(detail === "" ? project : `${project} ${detail}`, lane.key);
  const sums = [...sumStates(bars)].map(([state, ms]) => `${spanLabels[state]} ${formatAge(ms)}`);
  const day = formatDayInside(range.from, slowNow.value);
  const last = bars.at(-1);
  const isOver = last !== undefined && last.to < slowNow.value - 1_000 && groupOf(lane) === "ended";
  return (
    <svg class="tl" role="img" aria-label={`${name}, ${day}: ${sums.join(", ") || "nothing"}`}>
      <Ticks range={range} />
      {bars
        .filter(({ state }) => state !== "waiting")
        .map((bar) => (
          <rect
            key={`${bar.state} ${bar.from}`}
            class={`s-${bar.state}`}
            x={`${bar.x}%`}
            width={`${bar.width}%`}
            {...shapes[bar.state]}
            {...withTip({ title: name, lines: [`${spanLabels[bar.state]} · ${describeBar(bar)}`] })}
          />
        ))}
      {marks.map((mark) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: a button for each wait of a day would be hundreds; [ and ] go to them
        <rect
          key={`waiting ${mark.from}`}
          class="s-waiting"
          x={`${mark.x}%`}
          width={`${mark.width}%`}
          {...shapes.waiting}
          onClick={() => showMoment((mark.from + mark.to) / 2)}
          {...withTip({
            title: name,
            lines: [
              `${mark.count > 1 ? `${mark.count} asks` : spanLabels.waiting} · ${describeBar(mark)}`,
              "Click to see that moment",
            ],
          })}
        />
      ))}
      {labels.map(({ mark, x }) => (
        <text key={`label ${mark.from}`} class="wait-t" x={`${x}%`} y="36" text-anchor="middle">
          {labelWait(mark)}
        </text>
      ))}
      <Then range={range} />
      {isOver && <rect class="s-ended" x={`${last.x + last.width}%`} width="2" y="7" height="12" />}
    </svg>
  );
}

function LaneRow({ lane, range }: { readonly lane: Lane; readonly range: Range }) {
  const { group } = lane;
  const { project, detail, machine } = labelLane(lane);
  return (
    <div class="lane">
      <div class="who">
        <Glyph of={group} isSpoken />
        <button
          class="link"
          type="button"
          title={cleanText(lane.title) || undefined}
          disabled={!sessions.value.has(lane.key)}
          onClick={() => openSession(lane.key)}
        >
          {project}
        </button>
        <span class="branch" title={detail}>
          {detail}
        </span>
        <Host machine={machine} />
      </div>
      <LaneChart lane={lane} range={range} canLabel />
      <div class={group === "needs_you" && lane.waitedMs > 0 ? "sum big" : "sum"}>
        {lane.waitedMs > 0 ? formatAge(lane.waitedMs) : noValue}
      </div>
    </div>
  );
}

export function HistoryOff({ what }: { readonly what: string }) {
  return (
    <p class="off">
      {what}: the history is off. To turn it on, remove <code class="in">"history": "off"</code> from your
      settings.
    </p>
  );
}

export function Problem({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : (
    <p class="off" role="status">
      {cleanText(text)}
    </p>
  );
}
