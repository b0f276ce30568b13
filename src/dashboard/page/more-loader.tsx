/** The history and the details of a session, loaded when one is first opened. They share the page's state, so their script only draws. */
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { Part } from "./load-part.tsx";
import { openedKey, sessions } from "./state.ts";

interface More {
  readonly History: FunctionComponent;
  readonly Detail: FunctionComponent;
}

const more = signal<More | null>(null);

export function provideMore(loaded: More): void {
  more.value = loaded;
}

export function HistoryPanel() {
  const loaded = more.value;
  return (
    <Part script="more" what="history">
      {loaded ? <loaded.History /> : <p class="off">Loading…</p>}
    </Part>
  );
}

export function DetailPanel() {
  const key = openedKey.value;
  if (key === null || !sessions.value.has(key)) return null;
  const loaded = more.value;
  return (
    <Part script="more" what="details">
      {loaded && <loaded.Detail />}
    </Part>
  );
}
