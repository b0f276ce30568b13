/** History: what happened, told by session and day. */
import { useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { type StoryKind, type StoryThread, storyKinds } from "../../core/interfaces/wire.ts";
import { capitalize, formatCount } from "../../core/text/words.ts";
import { formatAge, formatExactDuration } from "../../core/view/figures.ts";
import { describeAsk, nameTool } from "../../core/view/moment-words.ts";
import {
  type AskBeat,
  type Beat,
  formatEarlier,
  formatHits,
  formatWork,
  type WorkBeat,
  type WorkStep,
} from "../../core/view/story.ts";
import {
  branchOf,
  cleanLines,
  cleanText,
  formatDay,
  formatModel,
  formatTime,
  noValue,
  splitMatches,
  startOfDay,
} from "./format.ts";
import { Host } from "./machines.tsx";
import { machineOf, nameOnMachine } from "./names.ts";
import { isSearchWanted } from "./navigation.ts";
import { Outcome } from "./outcome.tsx";
import { stats } from "./reports.ts";
import { agentName, selectedId, sessions, slowNow } from "./state.ts";
import {
  filter,
  isFiltered,
  isSearching,
  openedMoment,
  openMoment,
  showMore,
  story,
  threadIdOf,
  toggledFolds,
  toggleFold,
  wholeThreads,
} from "./story.ts";
import { HistoryOff, Problem } from "./today.tsx";
import { Script } from "./transcript.tsx";
import { Dots, Duration, Glyph, Icon, Pick } from "./ui.tsx";

const setFilter = (change: Partial<typeof filter.value>): void => {
  filter.value = { ...filter.value, ...change };
};

export function History() {
  const page = story.value;
  const isOff = page !== null && !page.enabled;
  return (
    <div class={openedMoment.value ? "book with-script" : "book"} id="history">
      <h1 class="hid">History</h1>
      {!isOff && <Days />}
      <div class="story">
        <div class="story-head">
          <div class="story-top">
            <h2>History</h2>
            <span class="quiet" role="status">
              {isOff ? "" : describeExtent()}
            </span>
            <div class="end">{!isOff && <ViewChoice />}</div>
          </div>
          {!isOff && <Sift />}
        </div>
        {isOff ? (
          <div class="panel">
            <HistoryOff what="Nothing is recorded" />
          </div>
        ) : (
          <>
            <Problem text={page?.problem} />
            <Story />
          </>
        )}
      </div>
      <Script />
    </div>
  );
}

/** "last 30 days", "25 hits in 14 sessions" */
function describeExtent(): string {
  const page = story.value;
  if (page === null) return "";
  if (isSearching.value && isFiltered(filter.value)) return "Searching…";
  if (!isFiltered(filter.value)) return page.kept ? `last ${formatCount(page.kept.days, "day")}` : "";
  const hits = page.days.reduce((sum, day) => sum + (day.hits ?? 0), 0);
  const isMore = page.next !== null;
  const where = isMore ? formatCount(page.days.length, "day") : formatCount(page.threads.length, "session");
  return `${formatCount(hits, nameHit())} ${isMore ? "on" : "in"} ${where}`;
}

const nameHit = (): string => (filter.value.q === "" && filter.value.kind === "asks" ? "ask" : "hit");

function ViewChoice() {
  const isAsks = filter.value.kind === "asks";
  return (
    <fieldset class="seg" aria-label="Show">
      <button type="button" aria-pressed={!isAsks} onClick={() => isAsks && setFilter({ kind: "" })}>
        Story
      </button>
      <button type="button" aria-pressed={isAsks} onClick={() => setFilter({ kind: "asks" })}>
        Asks only
      </button>
    </fieldset>
  );
}

/** The days, with how long agents waited on each, or how many moments match. */
function Days() {
  const page = story.value;
  const isSearch = isFiltered(filter.value);
  const today = startOfDay(slowNow.value);
  const hits = new Map(page?.days.map((day) => [day.day, day.hits ?? 0]));
  const first = Math.min(today, startOfDay(page?.holds?.firstAt ?? today));
  const days = (stats.value?.days ?? []).toReversed().flatMap(({ date, waitedMs }) => {
    const day = new Date(`${date}T00:00:00`).getTime();
    if (day < first) return [];
    const count = hits.get(day) ?? 0;
    return isSearch
      ? { day, value: count, text: count === 0 ? noValue : String(count) }
      : { day, value: waitedMs, text: waitedMs === 0 ? noValue : formatAge(waitedMs) };
  });
  const most = Math.max(1, ...days.map(({ value }) => value));
  const current = filter.value.day ?? today;
  return (
    <nav class={isSearch ? "day-list of-hits" : "day-list"} aria-label="Days">
      <div class="day-list-head">
        <span>Day</span>
        <span>{isSearch ? `${nameHit()}s` : "waited"}</span>
      </div>
      <ol>
        {days.map(({ day, value, text }) => (
          <li key={day}>
            <button
              type="button"
              class={value === 0 ? "none" : ""}
              aria-current={day === current ? "true" : undefined}
              onClick={() => {
                setFilter({ day: day === today ? null : day });
                scrollTo(0, 0);
              }}
            >
              <span>{formatDay(day, slowNow.value)}</span>
              <svg aria-hidden="true">
                <rect width={`${(value / most) * 100}%`} height="6" rx="2" />
              </svg>
              <span>{text}</span>
            </button>
          </li>
        ))}
      </ol>
      {page?.kept && (
        <p class="day-list-foot">
          Kept for {formatCount(page.kept.days, "day")}, {page.kept.mb} of {page.kept.maxMb} MB.{" "}
          <a href="#settings-history">Change</a>
        </p>
      )}
    </nav>
  );
}

function listProjects(): string[] {
  const known = stats.value?.projects.map(({ project }) => project) ?? [];
  const current = [...sessions.value.values()].flatMap(({ project }) => project ?? []);
  return [...new Set([...known, ...current])].sort((a, b) => a.localeCompare(b));
}

/** Those that the history or a session is of: most people use one or two of all that beckon knows. */
function listAgents(): string[] {
  const current = [...sessions.value.values()].map(({ provider }) => provider);
  const chosen = filter.value.agent === "" ? [] : [filter.value.agent];
  const known = new Set([...(story.value?.holds?.agents ?? []), ...current, ...chosen]);
  return [...known].sort((a, b) => agentName(a).localeCompare(agentName(b)));
}

function Sift() {
  const { q, project, agent, kind } = filter.value;
  const field = useRef<HTMLInputElement>(null);
  useSignalEffect(() => {
    if (!isSearchWanted.value) return;
    isSearchWanted.value = false;
    field.current?.focus({ preventScroll: true });
    field.current?.select();
  });
  return (
    <div class="sift">
      <div class="find">
        <Icon of="search" />
        <input
          class="field"
          type="search"
          id="find"
          ref={field}
          aria-label="Search history by text"
          placeholder="Command, file, question, your words"
          value={q}
          onInput={(event) => setFilter({ q: event.currentTarget.value, day: null })}
        />
        <kbd>/</kbd>
      </div>
      <Pick
        label="Project"
        value={project}
        any="Any project"
        options={listProjects().map((name) => [name, cleanText(name)])}
        onChange={(value) => setFilter({ project: value })}
      />
      <Pick
        label="Agent"
        value={agent}
        any="Any agent"
        options={listAgents().map((name) => [name, agentName(name)])}
        onChange={(value) => setFilter({ agent: value })}
      />
      <Pick
        label="Kind"
        value={kind}
        any="Any kind"
        options={storyKinds.map((name) => [name, capitalize(name)])}
        onChange={(value) => setFilter({ kind: value as StoryKind | "" })}
      />
    </div>
  );
}

function Story() {
  const page = story.value;
  if (page === null) return <p class="off">Loading…</p>;
  if (page.threads.length === 0) return <Nothing />;
  const byDay = Map.groupBy(page.threads, ({ day }) => day);
  return (
    <>
      {[...byDay].map(([day, threads]) => (
        <DayOf key={day} day={day} threads={threads} />
      ))}
      {page.next !== null && (
        <div class="more">
          <button class="btn" type="button" onClick={showMore}>
            Show older
          </button>
        </div>
      )}
    </>
  );
}

/** "Nothing found for “npm” in checkout-api." */
function Nothing() {
  const { q, project, agent, kind, day } = filter.value;
  if (q + project + agent + kind === "" && day === null)
    return <p class="off panel">Nothing has happened yet.</p>;
  const parts = [
    q === "" ? "" : ` for “${cleanText(q)}”`,
    project === "" ? "" : ` in ${cleanText(project)}`,
    agent === "" ? "" : `, ${agentName(agent)}`,
    kind === "" ? "" : `, ${kind} only`,
    day === null ? "" : `, ${formatDay(day, slowNow.value)} and before`,
  ];
  return (
    <p class="off panel">
      Nothing found{parts.join("")}.{" "}
      {q !== "" && project + agent + kind !== "" && (
        <button
          class="link"
          type="button"
          onClick={() => setFilter({ project: "", agent: "", kind: "", day: null })}
        >
          Search everything
        </button>
      )}
      {q === "" && (
        <button
          class="link"
          type="button"
          onClick={() => setFilter({ project: "", agent: "", kind: "", day: null })}
        >
          Show everything
        </button>
      )}
    </p>
  );
}

function formatDate(day: number): string {
  return new Date(day)
    .toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" })
    .replace(/^(\w+) /, "$1, ");
}

const localDateOf = (day: number): string => {
  const date = new Date(day);
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
};

function DayOf({ day, threads }: { readonly day: number; readonly threads: readonly StoryThread[] }) {
  const told = threads.filter(({ beats }) => beats !== null);
  const others = threads.filter(({ beats }) => beats === null);
  const figures = stats.value?.days.find(({ date }) => date === localDateOf(day));
  const known = story.value?.days.find((each) => each.day === day);
  const isSearch = isFiltered(filter.value);
  const counts = isSearch
    ? `${formatCount(
        told.reduce((sum, { hits = 0 }) => sum + hits, 0),
        nameHit(),
      )} in ${formatCount(told.length, "session")}`
    : [
        formatDate(day),
        [
          known ? formatCount(known.sessions, "session") : "",
          figures && figures.asks > 0 ? formatCount(figures.asks, "ask") : "",
        ]
          .filter(Boolean)
          .join(", "),
      ].join(" · ");
  return (
    <section class="day-of">
      <h3 class="day-h">
        <span>{formatDay(day, slowNow.value)}</span>
        <small>{counts}</small>
        {!isSearch && figures !== undefined && figures.waitedMs > 0 && (
          <span class="end">
            waited <b>{formatAge(figures.waitedMs)}</b>
          </span>
        )}
      </h3>
      {told.map((thread) => (
        <Thread key={threadIdOf(thread)} thread={thread} />
      ))}
      {others.length > 0 && <Others day={day} threads={others} hasTold={told.length > 0} />}
    </section>
  );
}

/** Sessions that asked for nothing, as one line. */
function Others({
  day,
  threads,
  hasTold,
}: {
  readonly day: number;
  readonly threads: readonly StoryThread[];
  readonly hasTold: boolean;
}) {
  const id = `others@${day}`;
  const isOpen = toggledFolds.value.has(id);
  const names = [
    ...new Set(threads.map(({ project, key }) => nameOnMachine(cleanText(project ?? key), key))),
  ];
  return (
    <div class="others panel">
      <button
        class="others-head"
        type="button"
        aria-expanded={isOpen}
        onClick={() => toggleFold(id, threads[0] as StoryThread, false)}
      >
        <span>
          <b>{formatCount(threads.length, hasTold ? "more session" : "session")}</b> that asked nothing
        </span>
        {!isOpen && <span class="quiet cut">{names.join(", ")}</span>}
        <Icon of="down" class={isOpen ? "up" : ""} />
      </button>
      {isOpen && threads.map((thread) => <OtherThread key={threadIdOf(thread)} thread={thread} />)}
    </div>
  );
}

function OtherThread({ thread }: { readonly thread: StoryThread }) {
  const id = threadIdOf(thread);
  const isOpen = toggledFolds.value.has(id);
  const whole = wholeThreads.value.get(id);
  return (
    <div class="other">
      <button
        class="other-head"
        type="button"
        aria-expanded={isOpen}
        onClick={() => toggleFold(id, thread, true)}
      >
        <Glyph of={thread.group} isSpoken />
        <b class="cut">{cleanText(thread.project ?? thread.key)}</b>
        <span class="branch">{branchOf(thread.branch)}</span>
        <Host machine={machineOf(thread.key)} />
        <span class="quiet cut">{cleanText(thread.title)}</span>
        <span class="hrs">
          {formatTime(thread.from)} – {formatTime(thread.to)}
        </span>
      </button>
      {isOpen && whole?.beats && <Beats thread={whole} beats={whole.beats} />}
    </div>
  );
}

/** Whether it is still at it: the group is that of now, and a day that is over has no "now". */
const isLiveThread = ({ day, group, endedAt }: StoryThread): boolean =>
  endedAt === null && group !== "ended" && day === startOfDay(slowNow.value);

function Thread({ thread }: { readonly thread: StoryThread }) {
  const { project, key, branch, title, model, provider, endedAt, asks, waitedMs, hits } = thread;
  const isLive = isLiveThread(thread);
  const name = cleanText(project ?? key);
  const id = `t-${threadIdOf(thread)}`;
  const isSearch = isFiltered(filter.value) && hits !== undefined;
  return (
    <article class="thread panel" aria-labelledby={id}>
      <header class="thread-head">
        <span class="st">
          <Glyph
            of={isLive ? (sessions.value.get(key)?.group ?? thread.group) : lastGroup(thread)}
            isSpoken
          />
        </span>
        <div class="who">
          <h4 id={id} class="cut" title={name}>
            {name}
          </h4>
          <span class="branch" title={branchOf(branch)}>
            {branchOf(branch)}
          </span>
          <Host machine={machineOf(key)} />
        </div>
        <span class="hrs">
          {isSearch && hits !== undefined
            ? formatCount(hits, nameHit())
            : `${formatTime(thread.from)} – ${isLive ? "now" : formatTime(thread.to)}`}
        </span>
        <Dots
          class="title cut"
          parts={[
            cleanText(title),
            agentName(provider),
            formatModel(model),
            endedAt === null ? null : `ended ${formatTime(endedAt)}`,
          ]}
        />
        {!isSearch && asks > 0 && (
          <span class="hrs">
            {formatCount(asks, "ask")} · <b>{formatAge(waitedMs)}</b>
          </span>
        )}
      </header>
      <Beats thread={thread} beats={beatsOf(thread)} />
    </article>
  );
}

/** What the last moment of a day left behind. */
function lastGroup({ beats, endedAt }: StoryThread): StoryThread["group"] {
  if (endedAt !== null) return "ended";
  const last = beats?.findLast(({ kind }) => kind === "response" || kind === "failure");
  return last?.kind === "failure" ? "failed" : last ? "ready" : "ended";
}

/** With the older turns if their fold is open. */
function beatsOf(thread: StoryThread): readonly Beat[] {
  const { beats } = thread;
  const [first, ...rest] = beats ?? [];
  if (first?.kind !== "earlier" || !toggledFolds.value.has(first.id)) return beats ?? [];
  const whole = wholeThreads.value.get(threadIdOf(thread))?.beats;
  if (!whole) return beats ?? [];
  const cut = whole.findIndex(({ id }) => id === rest[0]?.id);
  return [first, ...whole.slice(0, Math.max(0, cut)), ...rest];
}

function Beats({ thread, beats }: { readonly thread: StoryThread; readonly beats: readonly Beat[] }) {
  return (
    <ol class="beats">
      {beats.map((beat) => (
        <BeatRow key={`${beat.kind} ${beat.id}`} beat={beat} thread={thread} />
      ))}
    </ol>
  );
}

const classOf: Readonly<Record<Beat["kind"], string>> = {
  prompt: "you",
  response: "says",
  failure: "fails",
  note: "notes",
  ask: "asks",
  work: "works",
  earlier: "works",
};

function BeatRow({ beat, thread }: { readonly beat: Beat; readonly thread: StoryThread }) {
  const id = `${beat.kind === "earlier" ? "earlier " : ""}${beat.id}`;
  const isAt = openedMoment.value?.id === beat.id;
  const isSelected = selectedId.value === id;
  const isFold = beat.kind === "work" || beat.kind === "earlier";
  const open = () => openMoment({ thread, id: beat.id, at: beat.at, beat });
  const openAnywhere = ({ target }: Event) => {
    if (!isFold && !(target as Element).closest("a, button")) open();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: its time is the button for keys and screen readers
    <li
      class={`beat ${classOf[beat.kind]}${isAt ? " at" : ""}`}
      data-id={id}
      tabIndex={isSelected ? 0 : -1}
      onClick={openAnywhere}
    >
      <time>
        {beat.kind === "earlier" ? (
          formatTime(beat.at)
        ) : (
          <button
            type="button"
            data-do="moment"
            title={`Open the transcript at ${formatTime(beat.at)}`}
            onClick={open}
          >
            {formatTime(beat.at)}
          </button>
        )}
      </time>
      <span class="knot">
        <Knot beat={beat} />
      </span>
      <div class="tell">
        <Tell beat={beat} thread={thread} />
      </div>
      <span class="took">
        <Took beat={beat} />
      </span>
    </li>
  );
}

function Knot({ beat }: { readonly beat: Beat }) {
  switch (beat.kind) {
    case "prompt":
      return <Icon of="forth" />;
    case "ask":
      return beat.how === null ? <Glyph of="needs_you" isSpoken /> : <Glyph of="past" />;
    case "response":
      return <Glyph of="ready" />;
    case "failure":
      return <Glyph of="failed" />;
    default:
      return <i />;
  }
}

const longWaitMs = 120_000;

function Took({ beat }: { readonly beat: Beat }) {
  switch (beat.kind) {
    case "ask": {
      const { how, at, waitedMs } = beat;
      return (
        <span class={how === null || waitedMs >= longWaitMs ? "long" : ""}>
          <span class="hid">waited </span>
          {how === null ? <Duration since={at} /> : formatExactDuration(waitedMs)}
        </span>
      );
    }
    case "response":
      return beat.tookMs === null ? null : (
        <>
          <span class="hid">the turn took </span>
          {formatAge(beat.tookMs)}
        </>
      );
    case "work":
    case "earlier":
      return beat.tookMs < 1_000 ? null : formatAge(beat.tookMs);
    default:
      return null;
  }
}

function Marked({ text }: { readonly text: string }) {
  return (
    <>
      {splitMatches(text, filter.value.q).map((part, index) =>
        part.isMatch ? <mark key={index}>{part.text}</mark> : part.text,
      )}
    </>
  );
}

function Tell({ beat, thread }: { readonly beat: Beat; readonly thread: StoryThread }) {
  switch (beat.kind) {
    case "earlier":
      return (
        <Fold id={beat.id} thread={thread} needsWhole>
          <b>{capitalize(formatEarlier(beat))}</b>
          {describeEarlier(beat)}
        </Fold>
      );
    case "work":
      return <Work beat={beat} thread={thread} />;
    case "ask":
      return <Ask beat={beat} thread={thread} />;
    case "failure":
      return (
        <p class="said-p">
          <b>Failed</b> <Marked text={cleanText(beat.text)} />
        </p>
      );
    default:
      return (
        <p class="said-p">
          <span class="hid">{beat.kind === "prompt" ? "You: " : ""}</span>
          <Marked text={cleanLines(beat.text)} />
        </p>
      );
  }
}

const describeEarlier = ({ counts, asks }: Extract<Beat, { kind: "earlier" }>): string =>
  [formatWork(counts), asks > 0 ? formatCount(asks, "ask") : ""]
    .filter(Boolean)
    .join(", ")
    .replace(/^(?=.)/, " · ");

function Fold({
  id,
  thread,
  needsWhole,
  isOpenAtFirst = false,
  children,
}: {
  readonly id: string;
  readonly thread: StoryThread;
  readonly needsWhole: boolean;
  readonly isOpenAtFirst?: boolean;
  readonly children: ComponentChildren;
}) {
  const isOpen = toggledFolds.value.has(id) !== isOpenAtFirst;
  return (
    <button
      class="fold"
      type="button"
      aria-expanded={isOpen}
      onClick={() => toggleFold(id, thread, needsWhole)}
    >
      <span>{children}</span>
      <Icon of="down" class={isOpen ? "up" : ""} />
    </button>
  );
}

function Work({ beat, thread }: { readonly beat: WorkBeat; readonly thread: StoryThread }) {
  const { id, counts, hits } = beat;
  const isHit = hits !== undefined;
  const foldId = isHit ? `hits ${id}` : `work ${id}`;
  const isOpen = toggledFolds.value.has(foldId) !== isHit;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const whole = isHit
    ? null
    : wholeThreads.value.get(threadIdOf(thread))?.beats?.find((other) => other.id === id);
  const steps = whole?.kind === "work" ? whole.steps : beat.steps;
  const rest = (isHit ? hits : total) - steps.length;
  return (
    <>
      <Fold
        id={foldId}
        thread={thread}
        needsWhole={!isHit && total > beat.steps.length}
        isOpenAtFirst={isHit}
      >
        {isHit ? <b>{formatHits(beat)}</b> : formatWork(counts)}
      </Fold>
      {isOpen && (
        <ol class="steps">
          {steps.map((step) => (
            <StepRow key={step.id} step={step} thread={thread} />
          ))}
          {rest > 0 && <li class="rest-n">and {rest} more</li>}
        </ol>
      )}
    </>
  );
}

function StepRow({ step, thread }: { readonly step: WorkStep; readonly thread: StoryThread }) {
  const { id, at, tool, text, error } = step;
  return (
    <li class={openedMoment.value?.id === id ? "at" : ""}>
      <time>
        <button
          type="button"
          title={`Open the transcript at ${formatTime(at)}`}
          onClick={() => openMoment({ thread, id, at, beat: null })}
        >
          {formatTime(at)}
        </button>
      </time>
      <b class="cut" title={nameTool(tool)}>
        {nameTool(tool)}
      </b>
      <code>
        <Marked text={cleanText(text)} />
      </code>
      {error !== undefined && (
        <span class="failed" title={cleanText(error)}>
          failed
        </span>
      )}
    </li>
  );
}

function Ask({ beat, thread }: { readonly beat: AskBeat; readonly thread: StoryThread }) {
  const { ask: kind, text, how } = beat;
  const { lead, subject, isCode } = describeAsk({ kind, text, how, isOpen: how === null });
  const shown = cleanText(subject);
  return (
    <>
      <p class="said-p">
        {lead}{" "}
        {isCode ? (
          <code>
            <Marked text={shown} />
          </code>
        ) : (
          <Marked text={shown} />
        )}
      </p>
      <Outcome beat={beat} thread={thread} />
    </>
  );
}
