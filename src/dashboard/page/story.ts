/** The story of the history: what is searched, what is loaded of it, which folds are open, and the moment that is shown. */
import { effect, signal } from "@preact/signals";
import type { StoryKind, StoryPage, StoryThread, TranscriptPage } from "../../core/interfaces/wire.ts";
import type { Beat } from "../../core/view/story.ts";
import { load } from "./load.ts";
import { selectedId } from "./state.ts";
import { view } from "./view.ts";

export interface StoryFilter {
  readonly q: string;
  readonly project: string;
  readonly agent: string;
  readonly kind: StoryKind | "";
  /** The start of the day that the story begins with; null for today. */
  readonly day: number | null;
}

export const filter = signal<StoryFilter>({ q: "", project: "", agent: "", kind: "", day: null });
export const story = signal<StoryPage | null>(null);
export const isSearching = signal(false);
/** Something was recorded at some time. null if that is not known yet. */
export const hasHistory = signal<boolean | null>(null);

/** Threads that were loaded whole, because a fold of them was opened. */
export const wholeThreads = signal<ReadonlyMap<string, StoryThread>>(new Map());
/** Folds that are open, by the id of what is folded. Those of hits are open at first, so there they are the closed ones. */
export const toggledFolds = signal<ReadonlySet<string>>(new Set());

export const threadIdOf = ({ key, day }: Pick<StoryThread, "key" | "day">): string => `${key}@${day}`;

/** Only what matches is shown. "asks" alone is another view, not a search. */
export const isFiltered = ({ q, kind }: StoryFilter): boolean => q !== "" || kind !== "";

const createQuery = (before: string | null): string => {
  const { day, ...fields } = filter.peek();
  const values = { ...fields, day: day === null ? "" : String(day), before: before ?? "" };
  return new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "")).toString();
};

let searches = 0;

async function search(): Promise<void> {
  const number = ++searches;
  isSearching.value = true;
  const page = await load<StoryPage>(`/api/story?${createQuery(null)}`);
  // An answer that is overtaken by a later search is dropped.
  if (number !== searches) return;
  isSearching.value = false;
  if (!page) return;
  story.value = page;
  const { q, project, agent, kind, day } = filter.peek();
  const isAll = q + project + agent + kind === "" && day === null;
  if (page.threads.length > 0 || isAll) hasHistory.value = page.threads.length > 0;
  for (const id of wholeThreads.peek().keys()) loadWhole(id);
}

/** The next page is in the list. */
let hasMore = false;

export async function showMore(): Promise<void> {
  const known = story.value;
  if (!known?.next) return;
  const number = searches;
  const page = await load<StoryPage>(`/api/story?${createQuery(known.next)}`);
  if (!page || number !== searches) return;
  hasMore = true;
  const days = [...known.days, ...page.days.filter(({ day }) => !known.days.some((old) => old.day === day))];
  story.value = { ...page, days, threads: [...known.threads, ...page.threads] };
}

async function loadWhole(id: string): Promise<void> {
  const at = id.lastIndexOf("@");
  const query = new URLSearchParams({ session: id.slice(0, at), day: id.slice(at + 1) });
  const [thread] = (await load<StoryPage>(`/api/story?${query}`))?.threads ?? [];
  if (thread) wholeThreads.value = new Map(wholeThreads.peek()).set(id, thread);
}

/** Loads what the fold hides, unless it is a fold of hits. */
export function toggleFold(id: string, thread: StoryThread, needsWhole: boolean): void {
  const next = new Set(toggledFolds.peek());
  if (!next.delete(id)) next.add(id);
  toggledFolds.value = next;
  const threadId = threadIdOf(thread);
  if (needsWhole && next.has(id) && !wholeThreads.peek().has(threadId)) loadWhole(threadId);
}

/** A moment, and what the transcript of its session says around it. */
export interface OpenedMoment {
  readonly thread: StoryThread;
  readonly id: string;
  readonly at: number;
  /** null for a step of the work. */
  readonly beat: Beat | null;
}

export const openedMoment = signal<OpenedMoment | null>(null);
/** null while it is loaded. */
export const transcript = signal<TranscriptPage | null>(null);
/** How many lines before the moment are asked for. */
const transcriptLines = signal(20);

export function openMoment(moment: OpenedMoment): void {
  if (openedMoment.peek()?.thread.key !== moment.thread.key) transcript.value = null;
  transcriptLines.value = 20;
  selectedId.value = moment.id;
  openedMoment.value = moment;
}

export function closeMoment(): void {
  openedMoment.value = null;
}

export function showEarlierLines(): void {
  transcriptLines.value *= 5;
}

async function loadTranscript({ thread, at }: OpenedMoment, lines: number): Promise<void> {
  const query = new URLSearchParams({ session: thread.key, at: String(at), lines: String(lines) });
  const page = await load<TranscriptPage>(`/api/transcript?${query}`);
  const opened = openedMoment.peek();
  if (opened?.thread.key !== thread.key || opened.at !== at) return;
  transcript.value = page ?? { lines: [], hasEarlier: false, hasLater: false, why: "beckon does not answer" };
}

const searchDelayMs = 150;

/** After news. The story is loaded while it is on the screen, and once to know whether there is any. */
export function refreshStory(): void {
  const isShown = view.peek() === "history";
  // More than the first page: the user reads further down.
  if (hasHistory.peek() === null || (isShown && !hasMore)) search();
}

export function followStory(): void {
  let timer = 0;
  let isFirst = true;
  effect(() => {
    void filter.value;
    if (isFirst) return;
    hasMore = false;
    clearTimeout(timer);
    timer = window.setTimeout(search, searchDelayMs);
  });
  effect(() => {
    if (view.value === "history" && !isFirst) search();
  });
  effect(() => {
    const moment = openedMoment.value;
    const lines = transcriptLines.value;
    if (moment) loadTranscript(moment, lines);
  });
  isFirst = false;
}
