/** What Qwen Code's hooks do not report: the transcript has what was used. A call that starts was approved before. */
import { asCount, asRecord, parseRecord } from "../../../core/json.ts";
import { isBlocking, type Session } from "../../../core/session/session.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { readId } from "../../hook-event.ts";
import { createEmitter, findInsideFolders } from "../../watch/index.ts";
import { hasPromptOption, watchSessionFiles } from "../../watch/session-files.ts";
import { addTokens, createFileUsage, type FileUsage, summarizeUsage } from "../../watch/usage.ts";
import { isPresent, transcriptRoot } from "../setup/folder.ts";
import type { QwenChannel } from "./channel.ts";

function addLine(usage: FileUsage, text: string): void {
  if (!text.includes('"usageMetadata"')) return;
  const { model, usageMetadata } = parseRecord(text);
  const count = (name: string): number => asCount(asRecord(usageMetadata)[name]);
  const cached = Math.min(count("cachedContentTokenCount"), count("promptTokenCount"));
  addTokens(usage, {
    input: count("promptTokenCount") - cached,
    output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
    cacheRead: cached,
    cacheWrite: 0,
  });
  usage.model = readId(model) ?? usage.model;
  usage.contextUsed = count("totalTokenCount") || usage.contextUsed;
}

export function watchQwen(context: WatchContext): AgentWatcher {
  const { env } = context;
  const emit = createEmitter(context);
  const files = watchSessionFiles<FileUsage>(context, {
    agent: "qwen",
    findFile: async ({ transcriptPath }) =>
      transcriptPath === null ? null : findTranscript(transcriptPath, env),
    createState: createFileUsage,
    addLine,
    summarize: summarizeUsage,
    isUrgent: () => false,
    isUnattended: hasPromptOption,
    readAfter: new Set(["session-start", "prompt", "turn-end"]),
  });
  /** Loaded when Qwen Code is there: most users do not have it. */
  let channel: QwenChannel | null = null;
  let isLoading = false;
  let isStopped = false;
  async function loadChannel(sessions: readonly Session[]): Promise<void> {
    isLoading = true;
    const { openChannel } = await import("./channel.ts");
    if (isStopped) return;
    channel = openChannel(context, emit);
    sessions.forEach(channel.note);
    channel.check(sessions);
  }

  return {
    ...files,
    check(sessions) {
      files.check(sessions);
      if (channel) channel.check(sessions);
      else if (!isLoading && isPresent(env)) void loadChannel(sessions);
    },
    stop() {
      isStopped = true;
      files.stop();
      channel?.stop();
    },
    follow(session, event) {
      files.follow(session, event);
      channel?.note(session);
      const { sessionId, agentId } = event;
      const isAsked = session.asks.some((ask) => isBlocking(ask) && ask.agentId === agentId);
      if (event.change.kind !== "tool-start" || !isAsked) return;
      // Parallel calls are all approved before the first of them starts (measured).
      const change = { kind: "ask-ended", inputKey: null, outcome: "allowed" } as const;
      queueMicrotask(() => emit({ agent: "qwen", sessionId, agentId }, event, change));
    },
  };
}

export const findTranscript = (path: string, env: WatchContext["env"]): Promise<string | null> =>
  findInsideFolders(path, [transcriptRoot(env)]);
