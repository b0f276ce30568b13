/**
 * What Kimi Code's hooks do not tell: whether a Stop is that of the turn or of a subagent, the last response, and what was used. The
 * wire file of the main agent has all of it.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { asCount, asRecord, asText, type JsonRecord, parseRecord } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import type { Enrichment, Tokens } from "../../../core/session/event.ts";
import { truncate } from "../../../core/text/truncate.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { createTurnEnd, readId } from "../../hook-event.ts";
import { createEmitter, findInsideFolders, isNews, toMoment } from "../../watch/index.ts";
import { watchSessionFiles } from "../../watch/session-files.ts";
import { sessionsFolder } from "../setup/folder.ts";

interface KimiWire {
  /** When the last turn ended. null if none has. */
  endedAt: number | null;
  /** The text since the last request to the model. */
  response: string;
  model: string | null;
  contextUsed: number | null;
  tokens: Tokens | null;
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
      addLoopEvent(state, asRecord(line.event));
  }
}

function addLoopEvent(state: KimiWire, { type, part }: JsonRecord): void {
  if (type === "step.begin") state.response = "";
  const { type: kind, text } = asRecord(part);
  if (type === "content.part" && kind === "text")
    state.response = truncate(state.response + asText(text), limits.maxTextLength);
}

function addUsage(state: KimiWire, usage: JsonRecord): void {
  const count = (name: string): number => asCount(usage[name]);
  const known = state.tokens ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  state.tokens = {
    input: known.input + count("inputOther"),
    output: known.output + count("output"),
    cacheRead: known.cacheRead + count("inputCacheRead"),
    cacheWrite: known.cacheWrite + count("inputCacheCreation"),
  };
}

const summarize = (
  { tokens, model, contextUsed, response }: KimiWire,
  mask: (text: string) => string,
): Enrichment => ({
  ...(model === null ? {} : { model }),
  ...(tokens === null ? {} : { usage: { tokens, costMicros: null } }),
  ...(contextUsed === null ? {} : { context: { used: contextUsed, window: null } }),
  ...(response === "" ? {} : { lastResponse: mask(response) }),
});

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
    createState: () => ({ endedAt: null, response: "", model: null, contextUsed: null, tokens: null }),
    addLine,
    onRead(session, state, isBehind) {
      const { endedAt } = state;
      const { sessionId, turn, prompted } = session;
      const subject = { agent: "kimi", sessionId };
      const enrichment = summarize(state, mask);
      if (!isBehind && isNews(session, enrichment))
        emit(subject, clock(), { kind: "enriched", with: enrichment });
      if (turn.running && !session.ended && endedAt !== null && endedAt > (prompted?.at ?? turn.at))
        emit(subject, toMoment(clock(), endedAt), createTurnEnd());
    },
    isUrgent: ({ turn }) => turn.running,
    isUnattended: (commandLine) =>
      commandLine.some((argument) => /^(?:-p|--print|--prompt)(?:=|$)/.test(argument)),
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
