/**
 * What Gemini CLI's hooks do not report. Its transcript says that a dialog was left with No or Esc, that the model's API
 * failed, and what was used. Between an approval and the end of the command there is neither a hook nor a line: the command
 * itself, a child process, shows that it was approved.
 */
import type { Session } from "../../../core/session/session.ts";
import { isBlocking } from "../../../core/session/session.ts";
import { listChildren, readCommandLine } from "../../../system/processes.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { createTurnEnd } from "../../hook-event.ts";
import { createEmitter, findInsideFolders, toMoment } from "../../watch/index.ts";
import { hasPromptOption, watchSessionFiles } from "../../watch/session-files.ts";
import { transcriptRoot } from "../setup/folder.ts";
import {
  addTranscriptLine,
  createTranscript,
  type GeminiTranscript,
  summarizeTranscript,
} from "../transcript.ts";

export function watchGemini(context: WatchContext): AgentWatcher {
  const { clock, env } = context;
  const emit = createEmitter(context);

  function applyTranscript(session: Session, state: GeminiTranscript): void {
    const { sessionId, turn, prompted } = session;
    const subject = { agent: "gemini", sessionId };
    if (session.ended) return;
    const { cancelledAt, lastError } = state;
    const isOpen = turn.running || session.asks.some(isBlocking);
    if (isOpen && cancelledAt !== null && cancelledAt >= turn.at) {
      emit(subject, toMoment(clock(), cancelledAt), { kind: "interrupted" });
    }
    const isFailed = lastError !== null && prompted !== null && lastError.at > prompted.at;
    if (isFailed && !turn.running && turn.error === null) {
      const error = context.mask(lastError.text);
      emit(subject, clock(), createTurnEnd({ error }));
    }
    if (isOpen) endApproved(session);
  }

  function endApproved({ sessionId, asks, place }: Session): void {
    const command = asks.find(({ kind, tool }) => kind === "permission" && tool === "Shell")?.summary;
    if (!command || !place?.local || place.pid === null) return;
    const start = command.replace(/…$/, "");
    const isRunning = listChildren(place.pid).some((child) =>
      readCommandLine(child).some((argument) => collapse(argument).includes(start)),
    );
    if (!isRunning) return;
    emit({ agent: "gemini", sessionId }, clock(), { kind: "ask-ended", inputKey: null, outcome: "allowed" });
  }

  return watchSessionFiles<GeminiTranscript>(context, {
    agent: "gemini",
    findFile: async ({ transcriptPath }) =>
      transcriptPath === null ? null : findTranscript(transcriptPath, env),
    createState: createTranscript,
    addLine: addTranscriptLine,
    summarize: summarizeTranscript,
    onRead: applyTranscript,
    isUrgent: ({ asks, turn }) => turn.running || asks.some(isBlocking),
    isUnattended: hasPromptOption,
    readAfter: new Set(["session-start", "prompt", "turn-end"]),
  });
}

/** As in the ask's summary. The shell gets the command with some of its own around it, so more is kept of it. */
const collapse = (argument: string): string => argument.replace(/\s+/g, " ");

export const findTranscript = (path: string, env: WatchContext["env"]): Promise<string | null> =>
  findInsideFolders(path, [transcriptRoot(env)]);
