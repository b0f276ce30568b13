/** The history, the details of a session and moments of the past, loaded when one is first opened. They share the page's state, so their script only draws. */
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { Part } from "./load-part.tsx";
import type { Bar, Range } from "./spans.ts";
import { openedKey, sessions } from "./state.ts";

interface More {
  readonly History: FunctionComponent;
  readonly Detail: FunctionComponent;
  readonly PastBar: FunctionComponent;
  readonly PastInbox: FunctionComponent;
  readonly PastRail: FunctionComponent<{ readonly range: Range; readonly waits: readonly Bar[] }>;
  readonly pastActions: Readonly<Record<string, () => void>>;
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

export const PastBar = () => (
  <Part script="more" what="past">
    {more.value && <more.value.PastBar />}
  </Part>
);

export const PastInbox = () => more.value && <more.value.PastInbox />;
export const PastRail: More["PastRail"] = (props) => more.value && <more.value.PastRail {...props} />;
/** What keys do in the past. */
export const pastActions = (): More["pastActions"] => more.value?.pastActions ?? {};

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
