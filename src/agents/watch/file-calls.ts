/**
 * The calls of agents that would wait for a hook at each: a file that they write says when they start and end, and both are reported as
 * their hooks would have.
 */
import { asRecord, type JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { Session } from "../../core/session/session.ts";
import type { WatchContext } from "../agent.ts";

export interface StartedCall {
  readonly toolUseId: string;
  /** null if unknown. */
  readonly at: number | null;
  /** The tool and its input, in the names of the agent's hooks. */
  readonly payload: JsonRecord;
}

interface EndedCall {
  readonly toolUseId: string;
  readonly isFailed: boolean;
  /** null if unknown. */
  readonly at: number | null;
}

export interface FileCalls {
  /** Not reported yet. */
  readonly starts: StartedCall[];
  readonly running: Map<string, StartedCall>;
  /** The last ones, the newest last: an end can be read before its start. */
  readonly ends: EndedCall[];
}

export const createFileCalls = (): FileCalls => ({ starts: [], running: new Map(), ends: [] });

const maxRemembered = 50;

export function rememberEnd({ ends }: FileCalls, end: EndedCall): void {
  ends.push(end);
  if (ends.length > maxRemembered) ends.shift();
}

/** A hook's body has such a limit too. The paths of files that an edit changes are kept, its content is not. */
function fitInput(payload: JsonRecord): JsonRecord {
  if (JSON.stringify(payload).length <= limits.maxBodyBytes / 3) return payload;
  const isShort = ([, value]: [string, unknown]) => JSON.stringify(value).length <= limits.maxPathLength;
  return {
    ...payload,
    tool_input: Object.fromEntries(Object.entries(asRecord(payload.tool_input)).filter(isShort)),
  };
}

/** What is older than the session's first event happened before beckon knew it. */
export function reportCalls(
  { sessionId, startedAt, tools }: Session,
  { starts, running, ends }: FileCalls,
  report: WatchContext["report"],
): void {
  const reportCall = (name: string, { toolUseId, payload }: StartedCall, at: number, id = toolUseId) => {
    const about = { hook_event_name: name, session_id: sessionId };
    report({ id: `${sessionId}.${id}`, at, payload: { ...about, ...payload } });
  };
  for (const call of starts.splice(0)) {
    const { toolUseId, at } = call;
    if (at === null || at < startedAt) continue;
    const fitted = { ...call, payload: fitInput(call.payload) };
    running.set(toolUseId, fitted);
    // Its hook was registered by an older beckon.
    if (!tools.some((known) => known.toolUseId === toolUseId)) reportCall("PreToolUse", fitted, at);
  }
  for (const { toolUseId, isFailed, at } of running.size === 0 ? [] : ends) {
    const call = running.get(toolUseId);
    if (!call || at === null) continue;
    running.delete(toolUseId);
    const name = isFailed ? "PostToolUseFailure" : "PostToolUse";
    reportCall(name, call, Math.max(at, call.at ?? at), `${toolUseId}.end`);
  }
}
