/** A moment of the past: the strip that says so, the handle, and what needed the user then. Nothing here can be answered. */
import { effect } from "@preact/signals";
import type { PastMoment } from "../../core/interfaces/wire.ts";
import { describeReason } from "../../core/session/texts.ts";
import { minuteMs } from "../../core/timing.ts";
import { formatExactDuration, formatRoughAge } from "../../core/view/figures.ts";
import { describePastAlert, describePastEnd } from "../../core/view/past-ask.ts";
import { addStyle } from "./define-panel.tsx";
import { cleanText, formatDayInside, formatTime } from "./format.ts";
import { load } from "./load.ts";
import { Host } from "./machines.tsx";
import { labelSession } from "./names.ts";
import { backToNow, showMoment } from "./past.ts";
import { laneDay, lanes, pastLanes } from "./reports.ts";
import styles from "./rewind.css" with { type: "text" };
import { type Bar, placeOf, type Range } from "./spans.ts";
import {
  agentName,
  connection,
  listOpenAsks,
  moment,
  now,
  type OpenAsk,
  openAsks,
  showMessage,
  shownInGroup,
  wantedAt,
} from "./state.ts";
import { Dots, Glyph, Icon } from "./ui.tsx";

addStyle(styles);

let isLoading = false;

/** While one is loaded, only the last that was asked for counts. */
async function loadMoment(): Promise<void> {
  if (isLoading) return;
  isLoading = true;
  for (let at = wantedAt.peek(); at !== null && moment.peek()?.at !== at; at = wantedAt.peek()) {
    const loaded = await load<PastMoment>(`/api/moment?at=${at}`);
    if (loaded === null) {
      showMessage("That moment could not be loaded.");
      backToNow();
    } else if (wantedAt.peek() !== null) moment.value = loaded;
  }
  isLoading = false;
}

effect(() => {
  if (wantedAt.value === null) stopPlaying();
  else if (connection.value === "closed") backToNow();
  else void loadMoment();
});

function moveBy(ms: number): void {
  const at = wantedAt.peek();
  if (at !== null) showMoment(at + ms);
}

/** The state settles within a second after an ask began to wait. */
const afterStartMs = 1_000;

function listWaits(): readonly number[] {
  const shown = laneDay.peek() === null ? lanes.peek() : pastLanes.peek();
  const starts = (shown?.lanes ?? []).flatMap(({ spans }) =>
    spans.flatMap(({ state, from }) => (state === "waiting" ? [from + afterStartMs] : [])),
  );
  return starts.sort((a, b) => a - b);
}

/** Goes to the ask before (-1) or after (1) the moment that is shown. */
function moveToAsk(step: -1 | 1): void {
  const at = wantedAt.peek();
  if (at === null) return;
  const waits = listWaits();
  const next = step < 0 ? waits.findLast((wait) => wait < at) : waits.find((wait) => wait > at);
  if (next !== undefined) showMoment(next);
  else showMessage(step < 0 ? "No ask came before it on that day." : "No ask came after it on that day.");
}

let playTimer = 0;
/** A minute of that day in half a second. */
const playStepMs = 500;

function togglePlaying(): void {
  if (playTimer !== 0) stopPlaying();
  else playTimer = window.setInterval(() => moveBy(minuteMs), playStepMs);
}

function stopPlaying(): void {
  clearInterval(playTimer);
  playTimer = 0;
}

/** In the past nothing can be answered. */
export const pastActions: Readonly<Record<string, () => void>> = {
  ArrowLeft: () => moveBy(-minuteMs),
  ArrowRight: () => moveBy(minuteMs),
  "[": () => moveToAsk(-1),
  "]": () => moveToAsk(1),
  " ": togglePlaying,
  n: backToNow,
};

/** The day up to now, when any session waited, and the handle. */
export function PastRail({ range, waits }: { readonly range: Range; readonly waits: readonly Bar[] }) {
  const at = wantedAt.value ?? range.to;
  const x = placeOf(at, range);
  return (
    <>
      <rect class="rail" width={`${placeOf(now.value, range)}%`} y="11" height="4" rx="2" />
      <rect class="rail-on" width={`${x}%`} y="11" height="4" rx="2" />
      {waits.map((bar) => (
        <rect key={bar.from} class="s-any" x={`${bar.x}%`} width={`${bar.width}%`} y="9" height="8" rx="1" />
      ))}
      <svg x={`${x}%`} overflow="visible" aria-hidden="true">
        <rect class="knob" x="-23" y="1" width="46" height="24" rx="7" />
        <text class="knob-t" y="17" text-anchor="middle">
          {formatTime(at)}
        </text>
      </svg>
    </>
  );
}

export function PastBar() {
  const at = wantedAt.value ?? now.value;
  const count = openAsks.value.length;
  const day = formatDayInside(at, now.value);
  return (
    <div class="then-bar" role="status">
      <svg class="icon" viewBox="0 0 14 14" aria-hidden="true">
        <path d="M5 3L2.4 5.6 5 8.2M2.6 5.6h5.6a3 3 0 0 1 0 6H6" />
      </svg>
      <p>
        <b>
          {formatTime(at)} {day}
        </b>
        <span>{formatRoughAge(now.value - at)} ago. Nothing here can be answered.</span>
      </p>
      <div class="end">
        {count > 0 && (
          <button class="now-need" type="button" onClick={backToNow}>
            <Glyph of="needs_you" />
            {count === 1 ? "1 needs you now" : `${count} need you now`}
          </button>
        )}
        <span class="steps-b">
          <button
            class="btn sm"
            type="button"
            title="The ask before ([). A minute: ←"
            onClick={() => moveToAsk(-1)}
          >
            ‹ Ask
          </button>
          <button
            class="btn sm sq"
            type="button"
            aria-label="Play from here"
            title="Play (space)"
            onClick={togglePlaying}
          >
            <svg class="icon" viewBox="0 0 14 14" aria-hidden="true">
              <path d="M4.4 2.8l6.4 4.2-6.4 4.2z" />
            </svg>
          </button>
          <button
            class="btn sm"
            type="button"
            title="The next ask (]). A minute: →"
            onClick={() => moveToAsk(1)}
          >
            Ask ›
          </button>
        </span>
        <button class="btn sm main" type="button" onClick={backToNow}>
          Back to now<kbd>Esc</kbd>
        </button>
      </div>
    </div>
  );
}

export function PastInbox() {
  const shown = moment.value;
  const asks = shown === null ? [] : shownInGroup("needs_you").flatMap(listOpenAsks);
  const time = formatTime(shown?.at ?? now.value);
  return (
    <section
      class="inbox"
      id="needs-you"
      aria-labelledby="h-need"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to scroll it
      tabIndex={0}
    >
      <div class="inbox-head">
        <h2 id="h-need">Needed you then</h2>
        {asks.length > 0 && <span class="badge">{asks.length}</span>}
        <span class="end">at {time}</span>
      </div>
      <div class="asks">
        {shown !== null && <About />}
        {asks.map((ask) => (
          <PastCard key={ask.id} ask={ask} />
        ))}
        {shown?.isKnown === true && asks.length === 0 && <p class="off">Nothing needed you at {time}.</p>}
      </div>
    </section>
  );
}

/** What must be known about the moment as a whole. */
function About() {
  const { enabled = true, isKnown = true, from = null, stoppedAt, quiet, problem } = moment.value ?? {};
  const lines = [
    problem === undefined ? "" : cleanText(problem),
    enabled ? "" : "The history is off, so nothing is kept of what was.",
    isKnown || !enabled
      ? ""
      : `Nothing is kept of that moment.${from === null ? "" : ` The first that is kept is ${formatDayInside(from, now.value)} ${formatTime(from)}.`}`,
    stoppedAt === undefined
      ? ""
      : `beckon did not run then. This is what it knew when it stopped, at ${formatTime(stoppedAt)}.`,
    quiet === undefined
      ? ""
      : `Alerts were off: ${quiet.by === "you" ? "you had turned them off" : "quiet hours"}.`,
  ].filter((line) => line !== "");
  return (
    <>
      {lines.map((line) => (
        <p key={line} class="off">
          {line}
        </p>
      ))}
    </>
  );
}

function PastCard({ ask: { key, session, ask } }: { readonly ask: OpenAsk }) {
  const { project, detail, machine } = labelSession(session);
  const { at = now.value, ends = [], alerts = [] } = moment.value ?? {};
  const end = ends.find((known) => known.key === key && known.ask === ask.id);
  const told = alerts.filter((known) => known.key === key && known.ask === ask.id);
  const words =
    end &&
    describePastEnd({ ...end, where: end.where === "page" ? "this page" : end.where }, ask.kind, formatTime);
  return (
    <article class="ask panel">
      <div class="ask-top">
        <Glyph of="needs_you" />
        <div class="ask-name">
          <h3>{project}</h3>
          <span class="branch">{detail}</span>
        </div>
        <span class="ask-time">{formatExactDuration(at - ask.openedAt)} by then</span>
        <Dots
          class="ask-sub cut"
          parts={[cleanText(describeReason(ask)), agentName(session.provider), session.terminal]}
        >
          <Host machine={machine} />
        </Dots>
      </div>
      {ask.summary !== "" && <pre class="code">{cleanText(ask.summary)}</pre>}
      <p class={words ? "out" : "out open"}>
        <Icon of={words ? (end?.how === "denied" ? "close" : "check") : "clock"} />
        {words ? (
          <span>
            <b>{cleanText(words.done)}</b> {cleanText(words.rest)}
          </span>
        ) : (
          <span>
            <b>Open at {formatTime(at)}.</b> Not answered yet at {formatTime(now.value)}
          </span>
        )}
      </p>
      {told.map((alert) => (
        <p key={`${alert.at} ${alert.outcome}`} class="out">
          <Icon of={alert.what === "shown" ? "bell" : "bellOff"} />
          <span>{cleanText(describePastAlert(alert, formatTime))}</span>
        </p>
      ))}
    </article>
  );
}
