/**
 * What Kimi Code's hooks do not tell: whether a Stop is that of the turn or of a subagent, and what was used. The wire file of the
 * main agent has both.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { asCount, asRecord, parseRecord } from "../../../core/json.ts";
import type { Tokens } from "../../../core/session/event.ts";
import type { AgentWatcher, WatchContext } from "../../agent.ts";
import { createTurnEnd } from "../../hook-event.ts";
import { createEmitter, findInsideFolders, isNews, toMoment } from "../../watch/index.ts";
import { watchSessionFiles } from "../../watch/session-files.ts";
import { sessionsFolder } from "../setup/folder.ts";

interface KimiWire {
  /** When the last turn ended. null if none has. */
  endedAt: number | null;
  tokens: Tokens | null;
}

function addLine(state: KimiWire, text: string): void {
  if (!text.startsWith('{"type":"turn.ended"') && !text.startsWith('{"type":"usage.record"')) return;
  const { type, time, usage } = parseRecord(text);
  if (type === "turn.ended") state.endedAt = typeof time === "number" ? time : state.endedAt;
  if (type !== "usage.record") return;
  const count = (name: string): number => asCount(asRecord(usage)[name]);
  const known = state.tokens ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  state.tokens = {
    input: known.input + count("inputOther"),
    output: known.output + count("output"),
    cacheRead: known.cacheRead + count("inputCacheRead"),
    cacheWrite: known.cacheWrite + count("inputCacheCreation"),
  };
}

export function watchKimi(context: WatchContext): AgentWatcher {
  const { clock, env } = context;
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
    createState: () => ({ endedAt: null, tokens: null }),
    addLine,
    onRead(session, { endedAt, tokens }, isBehind) {
      const { sessionId, turn, prompted } = session;
      const subject = { agent: "kimi", sessionId };
      const enrichment = tokens === null ? {} : { usage: { tokens, costMicros: null } };
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
