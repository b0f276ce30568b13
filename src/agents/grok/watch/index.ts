/**
 * What Grok Build's hooks do not report: its calls, which of them a request is about, that it was approved, 23 ms after the key (median, n=15),
 * and at the end of each turn its tokens, context and title, each in a small file beside the session's events.
 */
import { dirname, join } from "node:path";
import {
  asCount,
  asRecord,
  asText,
  type JsonRecord,
  parseRecord,
  readNumber,
  readTime,
} from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import type { Enrichment } from "../../../core/session/event.ts";
import { type Ask, isBlocking, type Session } from "../../../core/session/session.ts";
import { readOr, readSmallFile } from "../../../storage/files.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { readId } from "../../hook-event.ts";
import { toOneLine } from "../../one-line.ts";
import {
  createFileCalls,
  type FileCalls,
  rememberEnd,
  reportCalls,
  type StartedCall,
} from "../../watch/file-calls.ts";
import { followFile, type GrowingFile } from "../../watch/growing-file.ts";
import { createEmitter, findInsideFolders, toMoment } from "../../watch/index.ts";
import { hasPromptOption, isFolderId, watchSessionFiles } from "../../watch/session-files.ts";
import { addTokens, createFileUsage, summarizeUsage } from "../../watch/usage.ts";
import { sessionsFolder } from "../setup/folder.ts";
import { createCallAsk, questionTool } from "../translate.ts";

interface GrokEvents {
  /** When the user was last asked, and when the last request was resolved. null if never. */
  requestedAt: number | null;
  resolvedAt: number | null;
  /** How many requests are open. */
  open: number;
  model: string | null;
  /** True if a turn has ended since the files beside this one were read. */
  hasNewFacts: boolean;
  facts: Enrichment;
  readonly calls: FileCalls;
  /** The transcript beside it. null until it is read. */
  transcript: GrowingFile | null;
  /** The calls in the transcript that the user can still be asked about. */
  waiting: StartedCall[];
}

function addLine(state: GrokEvents, text: string): void {
  if (text.includes('"permission_requested"')) {
    state.requestedAt = readTime(parseRecord(text).ts);
    state.open++;
  }
  if (text.includes('"permission_resolved"')) {
    const { ts, decision } = parseRecord(text);
    state.resolvedAt = readTime(ts);
    state.open = Math.max(0, state.open - 1);
    if (decision === "allow") state.calls.starts.push(...state.waiting);
    state.waiting = [];
  }
  if (text.includes('"tool_completed"')) {
    const { tool_call_id, outcome, ts } = parseRecord(text);
    const toolUseId = readId(tool_call_id);
    if (toolUseId !== null)
      rememberEnd(state.calls, { toolUseId, isFailed: outcome !== "success", at: readTime(ts) });
  }
  if (text.includes('"turn_started"')) state.model = readId(parseRecord(text).model_id) ?? state.model;
  if (text.includes('"turn_ended"')) state.hasNewFacts = true;
}

/** A line of the transcript. Each call is in it before the user is asked about it. */
function addCall(waiting: StartedCall[], text: string): void {
  if (!text.includes('"sessionUpdate":"tool_call"')) return;
  const { update, _meta } = asRecord(parseRecord(text).params);
  const { sessionUpdate, toolCallId, rawInput, _meta: about } = asRecord(update);
  const toolUseId = readId(toolCallId);
  const tool_name = readId(asRecord(asRecord(about)["x.ai/tool"]).name);
  // A question has a hook.
  if (sessionUpdate !== "tool_call" || toolUseId === null || tool_name === questionTool) return;
  const { agentTimestampMs: at } = asRecord(_meta);
  const payload = { tool_name, tool_input: asRecord(rawInput), tool_use_id: toolUseId };
  waiting.push({ toolUseId, at: readNumber(at), payload });
}

/** Its calls start one by one: each after the request of the one before was answered. So the last one is what the user is asked about. */
function readTranscript(state: GrokEvents, folder: string): void {
  const { calls, waiting, open } = state;
  state.transcript ??= followFile(join(folder, "updates.jsonl"));
  const isKnown = waiting.length;
  state.transcript.readNew((text) => addCall(waiting, text));
  if (open > 0) return;
  calls.starts.push(...waiting.splice(0, isKnown));
}

const readJson = (path: string): JsonRecord =>
  parseRecord(readOr(() => readSmallFile(path, limits.maxAgentSettingsBytes), ""));

function readFacts(folder: string): Enrichment {
  const { session } = readJson(join(folder, "usage.json"));
  const { contextTokensUsed, contextWindowTokens } = readJson(join(folder, "signals.json"));
  const { generated_title } = readJson(join(folder, "summary.json"));
  const count = (name: string): number => asCount(asRecord(session)[name]);
  const [cacheRead, cacheWrite] = [count("cachedReadTokens"), count("cacheCreationTokens")];
  const usage = createFileUsage();
  // Its total is the sum of input and output, so what was cached is part of the input.
  const input = Math.max(0, count("inputTokens") - cacheRead - cacheWrite);
  if (count("modelCalls") > 0)
    addTokens(usage, { input, output: count("outputTokens"), cacheRead, cacheWrite });
  const used = asCount(contextTokensUsed);
  const title = toOneLine(asText(generated_title));
  return {
    ...summarizeUsage(usage),
    ...(used === 0 ? {} : { context: { used, window: asCount(contextWindowTokens) || null } }),
    ...(title === "" ? {} : { title }),
  };
}

/** Later, a name would count as another request. */
const maxUnnamedMs = 1_500;
/** A request is reported by its hook at most this much later. */
const hookLagMs = 3_000;

export function watchGrok(context: WatchContext): AgentWatcher {
  const { clock, env, mask, report, findSession } = context;
  const emit = createEmitter(context);
  const known = new Set<string>();
  /** How many requests the file of each session has open. */
  const openRequests = new Map<string, number>();
  /** The session, and others that the same process runs: a subagent has its own, but its request is reported for the main one. */
  const listTogether = (session: Session): readonly Session[] => [
    session,
    ...[...known].flatMap((id) => {
      const other = id === session.sessionId ? null : findSession(id);
      const pid = other && !other.ended ? other.place?.pid : null;
      return other && pid != null && pid === session.place?.pid ? [other] : [];
    }),
  ];
  /** The first hook of a subagent names no transcript: its folder is beside that of the main session. */
  function findFolder(session: Session): string | null {
    if (session.transcriptPath !== null) return dirname(session.transcriptPath);
    const { transcriptPath: other = null } =
      listTogether(session).find(({ transcriptPath }) => transcriptPath !== null) ?? {};
    if (other === null || !isFolderId(session.sessionId)) return null;
    return join(dirname(dirname(other)), session.sessionId);
  }

  function nameAsk(together: readonly Session[], call: StartedCall | undefined): void {
    if (!call) return;
    const isUnnamed = (ask: Ask) => isBlocking(ask) && ask.tool === null && clock().t - ask.t < maxUnnamedMs;
    const asking = together.find(({ asks }) => asks.some(isUnnamed));
    if (asking) emit({ agent: "grok", sessionId: asking.sessionId }, clock(), createCallAsk(call.payload));
  }

  const files = watchSessionFiles<GrokEvents>(context, {
    agent: "grok",
    async findFile(session) {
      const folder = findFolder(session);
      return folder && findInsideFolders(join(folder, "events.jsonl"), [sessionsFolder(env)]);
    },
    createState: () => ({
      requestedAt: null,
      resolvedAt: null,
      open: 0,
      model: null,
      hasNewFacts: false,
      facts: {},
      calls: createFileCalls(),
      transcript: null,
      waiting: [],
    }),
    addLine,
    summarize(state, path) {
      if (state.hasNewFacts) state.facts = readFacts(dirname(path));
      state.hasNewFacts = false;
      const { model, facts } = state;
      return { model, ...facts, ...(facts.title ? { title: mask(facts.title) } : {}) };
    },
    onRead(session, state, _isBehind, path) {
      readTranscript(state, dirname(path));
      const { requestedAt, resolvedAt, open, calls, waiting } = state;
      reportCalls(session, calls, report);
      openRequests.set(session.sessionId, open);
      const together = listTogether(session);
      if (open > 0) nameAsk(together, waiting.at(-1));
      if (requestedAt === null || resolvedAt === null) return;
      const isAnyOpen = together.some(({ sessionId }) => openRequests.get(sessionId) !== 0);
      // Its dialogs come one by one, each with its own request: one that was opened later is still open. If nobody can answer, it is
      // cancelled after 60 to 320 ms (n=2), which can be before its hook has reported it.
      const isOver = ({ at }: Ask) => at <= resolvedAt || (!isAnyOpen && at - requestedAt < hookLagMs);
      for (const { sessionId, asks, stopped, prompted } of together) {
        if (!asks.some((ask) => isBlocking(ask) && ask.kind === "permission" && isOver(ask))) continue;
        const subject = { agent: "grok", sessionId };
        // A subagent in the background asks between the turns of the main session, which do not go on.
        if (stopped !== null && prompted !== null && stopped.t >= prompted.t)
          emit(subject, clock(), { kind: "interrupted" });
        else
          emit(subject, toMoment(clock(), resolvedAt), {
            kind: "ask-ended",
            inputKey: null,
            outcome: null,
          });
      }
    },
    isUrgent: (session) =>
      session.turn.running ||
      session.tools.some(({ ended }) => !ended) ||
      listTogether(session).some(({ asks }) => asks.some(isBlocking)),
    isUnattended: hasPromptOption,
    readAfter: new Set(["session-start", "prompt", "turn-end"]),
  });
  return {
    ...files,
    follow(session, event) {
      known.add(session.sessionId);
      files.follow(session, event);
      // The notification of a request names no call.
      if (event.change.kind === "ask" && event.change.tool === null)
        queueMicrotask(() => listTogether(session).forEach(files.readNow));
    },
    check(sessions) {
      known.clear();
      for (const { sessionId, ended } of sessions) {
        if (!ended) known.add(sessionId);
        else openRequests.delete(sessionId);
      }
      files.check(sessions);
    },
  };
}

export const findTranscript = (path: string, env: WatchContext["env"]): Promise<string | null> =>
  findInsideFolders(path, [sessionsFolder(env)]);
