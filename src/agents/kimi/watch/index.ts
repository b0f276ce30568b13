/**
 * What Kimi Code's hooks do not tell: whether a Stop is that of the turn or of a subagent, how most calls end, the last response, and
 * what was used. The wire file of the main agent has all of it.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { asCount, asRecord, asText, type JsonRecord, parseRecord } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import { truncate } from "../../../core/text/truncate.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { createTurnEnd, readId } from "../../hook-event.ts";
import { type EndedCalls, emitEnds, rememberEnd } from "../../watch/call-ends.ts";
import { createEmitter, findInsideFolders, toMoment } from "../../watch/index.ts";
import { hasPromptOption, watchSessionFiles } from "../../watch/session-files.ts";
import { addTokens, createFileUsage, type FileUsage, summarizeUsage } from "../../watch/usage.ts";
import { sessionsFolder } from "../setup/folder.ts";

interface KimiWire extends FileUsage {
  /** When the last turn ended. null if none has. */
  endedAt: number | null;
  /** The text since the last request to the model. */
  response: string;
  readonly ends: EndedCalls;
}

const readTypes = [
  "turn.ended",
  "usage.record",
  "llm.request",
  "token_counting.measured",
  "context.append_loop_event",
];
const isRead = (text: string): boolean => readTypes.some((type) => text.startsWith(`{"type":"${type}"`));

function addLine(state: KimiWire, text: string): void {
  if (!isRead(text)) return;
  const line = parseRecord(text);
  switch (line.type) {
    case "turn.ended":
      state.endedAt = typeof line.time === "number" ? line.time : state.endedAt;
      return;
    case "llm.request":
      state.model = readId(line.model) ?? state.model;
      return;
    case "token_counting.measured":
      state.contextUsed = asCount(line.tokens) || state.contextUsed;
      return;
    case "usage.record":
      addUsage(state, asRecord(line.usage));
      return;
    default:
      addLoopEvent(state, asRecord(line.event), line.time);
  }
}

function addLoopEvent(state: KimiWire, { type, part, toolCallId, result }: JsonRecord, time: unknown): void {
  if (type === "step.begin") state.response = "";
  const toolUseId = readId(toolCallId);
  if (type === "tool.result" && toolUseId !== null) {
    const isFailed = asRecord(result).isError === true;
    rememberEnd(state.ends, { toolUseId, isFailed, at: typeof time === "number" ? time : null });
  }
  const { type: kind, text } = asRecord(part);
  if (type === "content.part" && kind === "text")
    state.response = truncate(state.response + asText(text), limits.maxTextLength);
}

function addUsage(state: KimiWire, usage: JsonRecord): void {
  const count = (name: string): number => asCount(usage[name]);
  addTokens(state, {
    input: count("inputOther"),
    output: count("output"),
    cacheRead: count("inputCacheRead"),
    cacheWrite: count("inputCacheCreation"),
  });
}

export function watchKimi(context: WatchContext): AgentWatcher {
  const { clock, env, mask } = context;
  const emit = createEmitter(context);

  async function findWire(sessionId: string): Promise<string | null> {
    if (!/^[\w-]{1,100}$/.test(sessionId)) return null;
    const root = sessionsFolder(env);
    for (const folder of await readdir(root).catch(() => [])) {
      const path = join(root, folder, sessionId, "agents", "main", "wire.jsonl");
      const found = await findInsideFolders(path, [root]);
      if (found !== null) return found;
    }
    return null;
  }

  const files = watchSessionFiles<KimiWire>(context, {
    agent: "kimi",
    findFile: ({ sessionId }) => findWire(sessionId),
    createState: () => ({ ...createFileUsage(), endedAt: null, response: "", ends: [] }),
    addLine,
    summarize: (state) => ({
      ...summarizeUsage(state),
      ...(state.response === "" ? {} : { lastResponse: mask(state.response) }),
    }),
    onRead(session, { endedAt, ends }) {
      const { sessionId, turn, prompted, ended } = session;
      emitEnds(session, ends, emit, clock());
      if (turn.running && !ended && endedAt !== null && endedAt > (prompted?.at ?? turn.at))
        emit({ agent: "kimi", sessionId }, toMoment(clock(), endedAt), createTurnEnd());
    },
    isUrgent: ({ turn }) => turn.running,
    isUnattended: hasPromptOption,
    readAfter: new Set(["session-start", "prompt", "turn-end"]),
  });
  return {
    ...files,
    follow(session, event) {
      files.follow(session, event);
      const isSubagentsOwn = session.tools.some(({ tool, ended }) => tool === "Agent" && !ended);
      if (event.name !== "Stop" || event.change.kind !== "no-change" || isSubagentsOwn) return;
      queueMicrotask(() => emit({ agent: "kimi", sessionId: event.sessionId }, event, createTurnEnd()));
    },
  };
}
