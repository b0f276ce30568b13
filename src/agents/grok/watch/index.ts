/** What Grok Build's hooks do not report: that a request was approved. Its file of events says so 23 ms after the key (median, n=15). */
import { dirname, join } from "node:path";
import { parseRecord, readTime } from "../../../core/json.ts";
import { type Ask, isBlocking } from "../../../core/session/session.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { createEmitter, findInsideFolders, toMoment } from "../../watch/index.ts";
import { watchSessionFiles } from "../../watch/session-files.ts";
import { sessionsFolder } from "../setup/folder.ts";

interface GrokEvents {
  /** When the last request was resolved. null if none was. */
  resolvedAt: number | null;
}

function addLine(state: GrokEvents, text: string): void {
  if (!text.includes('"permission_resolved"')) return;
  state.resolvedAt = readTime(parseRecord(text).ts);
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
    createState: () => ({ resolvedAt: null }),
    addLine,
    onRead({ sessionId, asks }, { resolvedAt }) {
      // Its dialogs come one by one, each with its own request: one that was opened later is still open.
      const isOver = (ask: Ask) =>
        isBlocking(ask) && ask.kind === "permission" && ask.at <= (resolvedAt ?? 0);
      if (resolvedAt === null || !asks.some(isOver)) return;
      const when = toMoment(clock(), resolvedAt);
      emit({ agent: "grok", sessionId }, when, { kind: "ask-ended", inputKey: null, outcome: null });
    },
    isUrgent: ({ asks }) => asks.some(isBlocking),
    isUnattended: (commandLine) => commandLine.some((argument) => /^(?:-p|--single)(?:=|$)/.test(argument)),
    readAfter: new Set(["session-start"]),
  });
}

export const findTranscript = (path: string, env: WatchContext["env"]): Promise<string | null> =>
  findInsideFolders(path, [sessionsFolder(env)]);
