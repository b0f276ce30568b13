/**
 * What Grok Build's hooks do not report: that a request was approved, 23 ms after the key (median, n=15), how calls end, and at the end of each turn
 * its tokens, context and title, each in a small file beside the session's events.
 */
import { dirname, join } from "node:path";
import { asCount, asRecord, asText, type JsonRecord, parseRecord, readTime } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import type { Enrichment } from "../../../core/session/event.ts";
import { type Ask, isBlocking, type Session } from "../../../core/session/session.ts";
import { readOr, readSmallFile } from "../../../storage/files.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { readId } from "../../hook-event.ts";
import { toOneLine } from "../../one-line.ts";
import { type EndedCalls, emitEnds, rememberEnd } from "../../watch/call-ends.ts";
import { createEmitter, findInsideFolders, toMoment } from "../../watch/index.ts";
import { hasPromptOption, watchSessionFiles } from "../../watch/session-files.ts";
import { addTokens, createFileUsage, summarizeUsage } from "../../watch/usage.ts";
import { sessionsFolder } from "../setup/folder.ts";

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
  readonly ends: EndedCalls;
}

function addLine(state: GrokEvents, text: string): void {
  if (text.includes('"permission_requested"')) {
    state.requestedAt = readTime(parseRecord(text).ts);
    state.open++;
  }
  if (text.includes('"permission_resolved"')) {
    state.resolvedAt = readTime(parseRecord(text).ts);
    state.open = Math.max(0, state.open - 1);
  }
  if (text.includes('"tool_completed"')) {
    const { tool_call_id, outcome, ts } = parseRecord(text);
    const toolUseId = readId(tool_call_id);
    if (toolUseId !== null)
      rememberEnd(state.ends, { toolUseId, isFailed: outcome !== "success", at: readTime(ts) });
  }
  if (text.includes('"turn_started"')) state.model = readId(parseRecord(text).model_id) ?? state.model;
  if (text.includes('"turn_ended"')) state.hasNewFacts = true;
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

/** A request is reported by its hook at most this much later. */
const hookLagMs = 3_000;

export function watchGrok(context: WatchContext): AgentWatcher {
  const { clock, env, mask, findSession } = context;
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
  const files = watchSessionFiles<GrokEvents>(context, {
    agent: "grok",
    async findFile({ transcriptPath }) {
      if (transcriptPath === null) return null;
      return findInsideFolders(join(dirname(transcriptPath), "events.jsonl"), [sessionsFolder(env)]);
    },
    createState: () => ({
      requestedAt: null,
      resolvedAt: null,
      open: 0,
      model: null,
      hasNewFacts: false,
      facts: {},
      ends: [],
    }),
    addLine,
    summarize(state, path) {
      if (state.hasNewFacts) state.facts = readFacts(dirname(path));
      state.hasNewFacts = false;
      const { model, facts } = state;
      return { model, ...facts, ...(facts.title ? { title: mask(facts.title) } : {}) };
    },
    onRead(session, { requestedAt, resolvedAt, open, ends }) {
      emitEnds(session, ends, emit, clock());
      openRequests.set(session.sessionId, open);
      if (requestedAt === null || resolvedAt === null) return;
      const together = listTogether(session);
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
