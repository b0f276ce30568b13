/** What Grok Build's hooks do not report: its model, and that a request was approved, 23 ms after the key (median, n=15). */
import { dirname, join } from "node:path";
import { parseRecord, readTime } from "../../../core/json.ts";
import { type Ask, isBlocking } from "../../../core/session/session.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { readId } from "../../hook-event.ts";
import { createEmitter, findInsideFolders, toMoment } from "../../watch/index.ts";
import { hasPromptOption, watchSessionFiles } from "../../watch/session-files.ts";
import { sessionsFolder } from "../setup/folder.ts";

interface GrokEvents {
  /** When the last request was resolved. null if none was. */
  resolvedAt: number | null;
  model: string | null;
}

function addLine(state: GrokEvents, text: string): void {
  if (text.includes('"permission_resolved"')) state.resolvedAt = readTime(parseRecord(text).ts);
  if (text.includes('"turn_started"')) state.model = readId(parseRecord(text).model_id) ?? state.model;
}

export function watchGrok(context: WatchContext): AgentWatcher {
  const { clock, env } = context;
  const emit = createEmitter(context);
  return watchSessionFiles<GrokEvents>(context, {
    agent: "grok",
    findFile: async ({ transcriptPath }) =>
      transcriptPath === null
        ? null
        : findInsideFolders(join(dirname(transcriptPath), "events.jsonl"), [sessionsFolder(env)]),
    createState: () => ({ resolvedAt: null, model: null }),
    addLine,
    summarize: ({ model }) => ({ model }),
    onRead({ sessionId, asks }, { resolvedAt }) {
      // Its dialogs come one by one, each with its own request: one that was opened later is still open.
      const isOver = (ask: Ask) =>
        isBlocking(ask) && ask.kind === "permission" && ask.at <= (resolvedAt ?? 0);
      if (resolvedAt === null || !asks.some(isOver)) return;
      const when = toMoment(clock(), resolvedAt);
      emit({ agent: "grok", sessionId }, when, { kind: "ask-ended", inputKey: null, outcome: null });
    },
    isUrgent: ({ asks }) => asks.some(isBlocking),
    isUnattended: hasPromptOption,
    readAfter: new Set(["session-start", "prompt", "turn-end"]),
  });
}

export const findTranscript = (path: string, env: WatchContext["env"]): Promise<string | null> =>
  findInsideFolders(path, [sessionsFolder(env)]);
