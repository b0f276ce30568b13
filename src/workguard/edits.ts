/** Remembers which files a tool call edits: some agents name them, or the tool, only when the call starts. */

import { forgetOldest } from "../core/forget-oldest.ts";
import type { SessionChange } from "../core/interfaces/index.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";

interface StartedEdit {
  readonly tool: string;
  readonly editPaths: readonly string[];
}

export interface EditTracker {
  /** The change with the files that it edits, if the start of the call named them. */
  addPaths(change: SessionChange): SessionChange;
}

const maxStartedEdits = 1_000;

export function createEditTracker(): EditTracker {
  const started = new Map<string, StartedEdit>();
  return {
    addPaths(change) {
      const { event, session } = change;
      if (event.change.kind !== "tool-start" && event.change.kind !== "tool-end") return change;
      const { tool, toolUseId, editPaths } = event.change;
      const id = `${sessionKeyOf(session)} ${toolUseId}`;
      if (event.change.kind === "tool-start") {
        if (editPaths !== undefined && toolUseId !== null) started.set(id, { tool, editPaths });
        forgetOldest(started, maxStartedEdits);
        return change;
      }
      const edit = started.get(id);
      started.delete(id);
      if (editPaths !== undefined || edit === undefined) return change;
      return { ...change, event: { ...event, change: { ...event.change, ...edit } } };
    },
  };
}
