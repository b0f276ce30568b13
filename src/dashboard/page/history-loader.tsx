/** The history, which is loaded when it is first opened. It shares the page's state, so its script brings only what draws it. */
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { Part } from "./load-part.tsx";

const loaded = signal<{ readonly History: FunctionComponent } | null>(null);

export function provideHistory(History: FunctionComponent): void {
  loaded.value = { History };
}

export function HistoryPanel() {
  const part = loaded.value;
  return <Part name="history">{part ? <part.History /> : <p class="off">Loading…</p>}</Part>;
}
