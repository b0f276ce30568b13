/** What the user has seen: a session that finished since then is marked as new. Kept in the browser. */

import { signal } from "@preact/signals";
import { viewKeyOf } from "../../core/session/session-ref.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import { readSaved, save } from "./saved.ts";
import { now } from "./state.ts";

const savedName = "looked-at";

const readLookedAt = (): number => Number(readSaved(savedName) ?? Date.now());

/** When the user last left the page: they have seen everything that was on it then. */
const lookedAt = signal(readLookedAt());
/** Sessions that the user has opened or gone to since, and when. */
const lookedKeys = signal<ReadonlyMap<string, number>>(new Map());

export function markLooked(key: string): void {
  lookedKeys.value = new Map(lookedKeys.value).set(key, now.peek());
}

export function isNew(session: SessionView): boolean {
  const seenAt = Math.max(lookedAt.value, lookedKeys.value.get(viewKeyOf(session)) ?? 0);
  return session.group === "ready" && session.since > seenAt;
}

export function followLooks(): void {
  const leave = () => save(savedName, String(now.peek()));
  if (readSaved(savedName) === null) leave();
  addEventListener("blur", leave);
  addEventListener("pagehide", leave);
  addEventListener("focus", () => {
    lookedAt.value = readLookedAt();
  });
}
