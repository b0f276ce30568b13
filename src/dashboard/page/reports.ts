/** What the history knows: lanes of the day, waiting times, ports. Loaded when the page is visible and something happened. */
import { computed, effect, signal } from "@preact/signals";
import type { HistoryItem, HistoryPage, Lanes, PortView, Stats } from "../../core/interfaces/wire.ts";
import { hourMs } from "../../core/timing.ts";
import { isAskKind } from "../../core/view/story.ts";
import { onNews } from "./connection.ts";
import { startOfDay } from "./format.ts";
import { load } from "./load.ts";
import { now } from "./state.ts";
import { followStory, refreshStory } from "./story.ts";

export const lanes = signal<Lanes | null>(null);
export const stats = signal<Stats | null>(null);
export const ports = signal<readonly PortView[]>([]);
/** The last asks that were answered. */
export const recentAnswers = signal<readonly HistoryItem[]>([]);

/** Nothing is known of the days before. */
export const isFirstDay = computed(() => {
  const days = stats.value?.enabled ? stats.value.days.slice(0, -1) : null;
  return days?.every(({ waitedMs, asks, tokens }) => waitedMs + asks + tokens === 0) === true;
});

/** How many hours the lanes show; null for the whole day. */
export const laneHours = signal<1 | 4 | null>(null);
/** The start of the day that the lanes show; null for today. */
export const laneDay = signal<number | null>(null);
/** The lanes of `laneDay`; null while they are loaded, and for today. */
export const pastLanes = signal<Lanes | null>(null);

/** As far back as the lanes go. The history keeps 30 days unless the user says otherwise. */
const maxLaneDays = 30;

/** The start of the day before or after `day`. A day with a change of the clocks has 23 or 25 hours. */
export const shiftDay = (day: number, days: number): number => {
  const date = new Date(day);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
};

export const canGoBack = (): boolean =>
  (laneDay.value ?? startOfDay(now.value)) > shiftDay(startOfDay(now.value), -maxLaneDays);

/** Shows the lanes of the day before (-1) or after (1). */
export function moveLaneDay(days: -1 | 1): void {
  const today = startOfDay(now.peek());
  const day = shiftDay(laneDay.peek() ?? today, days);
  laneHours.value = null;
  laneDay.value = day >= today ? null : day;
}

const statsDays = 14;
const sessionItems = 50;
const recentCount = 8;

async function loadLanes(): Promise<void> {
  const to = now.peek();
  const hours = laneHours.value;
  const from = hours === null ? startOfDay(to) : to - hours * hourMs;
  const loaded = await load<Lanes>(`/api/lanes?from=${from}&to=${to}`);
  if (loaded) lanes.value = loaded;
}

async function loadPastLanes(day: number): Promise<void> {
  const loaded = await load<Lanes>(`/api/lanes?from=${day}&to=${shiftDay(day, 1)}`);
  if (loaded && laneDay.peek() === day) pastLanes.value = loaded;
}

async function loadStats(): Promise<void> {
  const loaded = await load<Stats>(`/api/stats?days=${statsDays}`);
  if (loaded) stats.value = loaded;
}

async function loadPorts(): Promise<void> {
  const loaded = await load<{ readonly ports: readonly PortView[] }>("/api/ports");
  if (loaded) ports.value = loaded.ports;
}

async function loadRecentAnswers(): Promise<void> {
  const pages = await Promise.all(
    (["permission", "question", "plan"] as const).map((kind) =>
      load<HistoryPage>(`/api/history?kind=${kind}&limit=${recentCount}`),
    ),
  );
  recentAnswers.value = pages
    .flatMap((page) => page?.items ?? [])
    .filter(({ kind, how }) => isAskKind(kind) && how !== null && how !== "rule")
    .sort((a, b) => b.at - a.at)
    .slice(0, recentCount);
}

/** The events of one session, newest first. */
export const loadSessionHistory = (key: string): Promise<HistoryPage | null> =>
  load<HistoryPage>(`/api/history?session=${encodeURIComponent(key)}&limit=${sessionItems}`);

/** After an ask or a new session. */
const newsDelayMs = 500;
/** After anything else: a busy agent changes several times a second. */
const changeDelayMs = 5_000;
const soon: ReadonlySet<string> = new Set([
  "ask-opened",
  "ask-closed",
  "session-appeared",
  "session-departed",
]);
const refreshMs = 30_000;

/** Loads everything, again after news, and now and then because times pass. */
export function followReports(): void {
  let timer = 0;
  let dueAt = Number.POSITIVE_INFINITY;
  let isStale = true;
  const loadAll = () => {
    dueAt = Number.POSITIVE_INFINITY;
    isStale = false;
    loadLanes();
    loadStats();
    loadPorts();
    loadRecentAnswers();
    refreshStory();
  };
  const schedule = (ms: number) => {
    isStale = true;
    if (document.visibilityState !== "visible" || performance.now() + ms >= dueAt) return;
    clearTimeout(timer);
    dueAt = performance.now() + ms;
    timer = window.setTimeout(loadAll, ms);
  };
  onNews((event) => schedule(event === "connected" ? 0 : soon.has(event) ? newsDelayMs : changeDelayMs));
  document.addEventListener("visibilitychange", () => {
    if (isStale) schedule(0);
  });
  setInterval(() => schedule(0), refreshMs);

  let isFirst = true;
  followStory();
  effect(() => {
    void laneHours.value;
    if (!isFirst) loadLanes();
  });
  effect(() => {
    const day = laneDay.value;
    pastLanes.value = null;
    if (day !== null) loadPastLanes(day);
  });
  isFirst = false;
}
