/**
 * What Kimi Code's hooks do not tell: most calls, whether a Stop is that of the turn or of a subagent, the last response, and what was
 * used. The wire file of the main agent has all of it, but the calls of subagents, which have files of their own.
 */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { forgetOldest } from "../../../core/forget-oldest.ts";
import { asCount, asRecord, asText, type JsonRecord, parseRecord, readNumber } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import { truncate } from "../../../core/text/truncate.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { createTurnEnd, readId } from "../../hook-event.ts";
import { createFileCalls, type FileCalls, rememberEnd, reportCalls } from "../../watch/file-calls.ts";
import { followFile, type GrowingFile } from "../../watch/growing-file.ts";
import { createEmitter, findInsideFolders, toMoment } from "../../watch/index.ts";
import { hasPromptOption, isFolderId, watchSessionFiles } from "../../watch/session-files.ts";
import { addTokens, createFileUsage, type FileUsage, summarizeUsage } from "../../watch/usage.ts";
import { sessionsFolder } from "../setup/folder.ts";
import { hasHook } from "../translate.ts";

interface KimiWire extends FileUsage {
  /** When the last turn ended. null if none has. */
  endedAt: number | null;
  /** The text since the last request to the model. */
  response: string;
  /** Of the subagents too. */
  readonly calls: FileCalls;
  /** By their ids. */
  readonly subagents: Map<string, Subagent>;
}

interface Subagent {
  /** null until it is found. */
  wire: GrowingFile | null;
  isEnded: boolean;
}

const readTypes = [
  "turn.ended",
  "usage.record",
  "llm.request",
  "token_counting.measured",
  "context.append_loop_event",
  ...["subagent.spawned", "subagent.completed", "subagent.failed", "subagent.cancelled"],
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
    case "context.append_loop_event":
      addLoopEvent(state, asRecord(line.event), line.time);
      return;
    default:
      noteSubagent(state, asText(line.subagentId), line.type === "subagent.spawned");
  }
}

function noteSubagent({ subagents }: KimiWire, id: string, isNew: boolean): void {
  if (!isFolderId(id)) return;
  const known = subagents.get(id);
  if (isNew) subagents.set(id, { wire: known?.wire ?? null, isEnded: false });
  else if (known) known.isEnded = true;
  forgetOldest(subagents, limits.maxChildren);
}

function addLoopEvent(state: KimiWire, event: JsonRecord, time: unknown): void {
  addCall(state.calls, event, time);
  if (event.type === "step.begin") state.response = "";
  const { type: kind, text } = asRecord(event.part);
  if (event.type === "content.part" && kind === "text")
    state.response = truncate(state.response + asText(text), limits.maxTextLength);
}

function addCall(
  calls: FileCalls,
  { type, toolCallId, name, args, result }: JsonRecord,
  time: unknown,
): void {
  const toolUseId = readId(toolCallId);
  if (toolUseId === null) return;
  const at = readNumber(time);
  const tool = readId(name) ?? "";
  // It starts here once it is approved. Hooks report the others before.
  if (type === "tool.call" && !hasHook(tool))
    calls.starts.push({
      toolUseId,
      at,
      payload: { tool_name: tool, tool_input: asRecord(args), tool_call_id: toolUseId },
    });
  if (type === "tool.result")
    rememberEnd(calls, { toolUseId, isFailed: asRecord(result).isError === true, at });
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
  const { clock, env, mask, report } = context;
  const emit = createEmitter(context);

  async function findWire(sessionId: string): Promise<string | null> {
    if (!isFolderId(sessionId)) return null;
    const root = sessionsFolder(env);
    for (const folder of await readdir(root).catch(() => [])) {
      const path = join(root, folder, sessionId, "agents", "main", "wire.jsonl");
      const found = await findInsideFolders(path, [root]);
      if (found !== null) return found;
    }
    return null;
  }

  /** The sessions in which a subagent runs. */
  const withSubagents = new Set<string>();

  /** `folder` has one of each agent's. */
  function readSubagents(folder: string, subagents: KimiWire["subagents"], calls: FileCalls): void {
    for (const [id, subagent] of subagents) {
      subagent.wire ??= followFile(join(folder, id, "wire.jsonl"));
      const result = subagent.wire.readNew((text) => {
        if (!text.startsWith('{"type":"context.append_loop_event"')) return;
        const { event, time } = parseRecord(text);
        addCall(calls, asRecord(event), time);
      });
      if (subagent.isEnded && result !== "behind") subagents.delete(id);
    }
  }

  const files = watchSessionFiles<KimiWire>(context, {
    agent: "kimi",
    findFile: ({ sessionId }) => findWire(sessionId),
    createState: () => ({
      ...createFileUsage(),
      endedAt: null,
      response: "",
      calls: createFileCalls(),
      subagents: new Map(),
    }),
    addLine,
    summarize: (state) => ({
      ...summarizeUsage(state),
      ...(state.response === "" ? {} : { lastResponse: mask(state.response) }),
    }),
    onRead(session, { endedAt, calls, subagents }, _isBehind, path) {
      const { sessionId, turn, prompted, ended } = session;
      readSubagents(dirname(dirname(path)), subagents, calls);
      reportCalls(session, calls, report);
      if (subagents.size > 0 && !ended) withSubagents.add(sessionId);
      else withSubagents.delete(sessionId);
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
      if (event.name !== "Stop" || event.change.kind !== "no-change") return;
      const canBeSubagents =
        withSubagents.has(event.sessionId) ||
        session.tools.some(({ tool, ended }) => tool.startsWith("Agent") && !ended);
      if (canBeSubagents) return;
      queueMicrotask(() => emit({ agent: "kimi", sessionId: event.sessionId }, event, createTurnEnd()));
    },
  };
}
