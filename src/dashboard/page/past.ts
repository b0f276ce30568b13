/** The way into the past and back. What is shown there, and what keys do, is loaded with rewind.tsx when it is first used. */
import { effect } from "@preact/signals";
import { startOfDay } from "./format.ts";
import { laneDay } from "./reports.ts";
import { moment, now, openedKey, selectedId, wantedAt } from "./state.ts";

/** Whether the page shows the past, or is about to. */
export const isPast = (): boolean => wantedAt.value !== null;

/** Shows the sessions as they were. The lanes show that day. */
export function showMoment(at: number): void {
  const time = Math.round(at);
  if (time >= now.peek()) {
    backToNow();
    return;
  }
  if (!isPast()) {
    openedKey.value = null;
    selectedId.value = null;
    // The day moves to the top: it is what the user holds.
    scrollTo(0, 0);
  }
  const day = startOfDay(time);
  laneDay.value = day === startOfDay(now.peek()) ? null : day;
  wantedAt.value = time;
}

export function backToNow(): void {
  wantedAt.value = null;
  moment.value = null;
  laneDay.value = null;
}

/** The page looks different while it shows the past: nobody should take it for now. */
export function followPast(): void {
  effect(() => {
    document.documentElement.classList.toggle("past", isPast());
  });
}
