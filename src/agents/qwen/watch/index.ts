/** What Qwen Code's hooks do not report: the transcript has what was used. A call that starts was approved before. */
import { asCount, asRecord, parseRecord } from "../../../core/json.ts";
import type { Enrichment, Tokens } from "../../../core/session/event.ts";
import { isBlocking, type Session } from "../../../core/session/session.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { readId } from "../../hook-event.ts";
import { createEmitter, findInsideFolders, isNews } from "../../watch/index.ts";
import { watchSessionFiles } from "../../watch/session-files.ts";
import { isPresent, transcriptRoot } from "../setup/folder.ts";
import type { QwenChannel } from "./channel.ts";

interface QwenTranscript {
  tokens: Tokens | null;
  model: string | null;
  contextUsed: number | null;
}

function addLine(state: QwenTranscript, text: string): void {
  if (!text.includes('"usageMetadata"')) return;
  const { model, usageMetadata } = parseRecord(text);
  const count = (name: string): number => asCount(asRecord(usageMetadata)[name]);
  const known = state.tokens ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const cached = Math.min(count("cachedContentTokenCount"), count("promptTokenCount"));
  state.tokens = {
    input: known.input + count("promptTokenCount") - cached,
    output: known.output + count("candidatesTokenCount") + count("thoughtsTokenCount"),
    cacheRead: known.cacheRead + cached,
    cacheWrite: 0,
  };
  state.model = readId(model) ?? state.model;
  state.contextUsed = count("totalTokenCount") || state.contextUsed;
}

const summarize = ({ tokens, model, contextUsed }: QwenTranscript): Enrichment => ({
  ...(model === null ? {} : { model }),
  ...(tokens === null ? {} : { usage: { tokens, costMicros: null } }),
  ...(contextUsed === null ? {} : { context: { used: contextUsed, window: null } }),
});

export function watchQwen(context: WatchContext): AgentWatcher {
  const { clock, env } = context;
  const emit = createEmitter(context);
  const files = watchSessionFiles<QwenTranscript>(context, {
    agent: "qwen",
    findFile: async ({ transcriptPath }) =>
      transcriptPath === null ? null : findTranscript(transcriptPath, env),
    createState: () => ({ tokens: null, model: null, contextUsed: null }),
    addLine,
    onRead(session, state, isBehind) {
      const enrichment = summarize(state);
      const subject = { agent: "qwen", sessionId: session.sessionId };
      if (!isBehind && isNews(session, enrichment))
        emit(subject, clock(), { kind: "enriched", with: enrichment });
    },
    isUrgent: () => false,
    isUnattended: (commandLine) => commandLine.some((argument) => /^(?:-p|--prompt)(?:=|$)/.test(argument)),
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
