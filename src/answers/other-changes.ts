/**
 * What other sessions have changed in a file that a session is about to edit. The work guard finds it before the agent asks, and the
 * request shows it.
 */
import { forgetOldest } from "../core/forget-oldest.ts";
import type { AskDetails } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { minuteMs } from "../core/timing.ts";

export interface OtherChanges {
  /** The lines that a request to edit this file shows within the next minute; none if the file is the session's own. */
  set(session: SessionRefLike, path: string, lines: readonly string[]): void;
  /** Paths are absolute. */
  find(session: SessionRefLike, paths: readonly string[]): readonly string[];
}

/** A request comes within a second of the work guard's answer, unless other hooks of the user take longer. */
const keptMs = minuteMs;
const maxKept = 64;

export function createOtherChanges(clock: () => Pick<ClockReading, "t">): OtherChanges {
  const kept = new Map<string, { readonly t: number; readonly lines: readonly string[] }>();
  const keyOf = (session: SessionRefLike, path: string) => `${sessionKeyOf(session)} ${path}`;
  return {
    set(session, path, lines) {
      const key = keyOf(session, path);
      kept.delete(key);
      if (lines.length > 0) kept.set(key, { t: clock().t, lines });
      forgetOldest(kept, maxKept);
    },
    find(session, paths) {
      const since = clock().t - keptMs;
      return paths.flatMap((path) => {
        const found = kept.get(keyOf(session, path));
        return found && found.t > since ? found.lines : [];
      });
    },
  };
}

/** Shown below what is asked. They are not a part of it: it is whole without them. */
export function addOtherChanges(details: AskDetails, lines: readonly string[]): AskDetails {
  if (lines.length === 0) return details;
  return { ...details, lines: [...details.lines, ...lines], otherChangesAt: details.lines.length };
}
