/** What beckon's plugin for opencode sends (hooks/opencode.plugin.js): one object an event, checked here. */
import { asList, type JsonRecord, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";

export interface PluginPayload {
  readonly type: string;
  /** The session that the user started. */
  readonly session: string;
  /** The session of a subagent. null if the event belongs to the main session. */
  readonly subagent: string | null;
  readonly subagentType: string | null;
  readonly cwd: string | null;
  /** opencode's id of a permission or a question. */
  readonly request: string | null;
  /** opencode's id of a tool call. */
  readonly call: string | null;
  readonly fields: JsonRecord;
}

/** null if the payload names no session or no event. */
export function parsePayload(payload: JsonRecord): PluginPayload | null {
  const type = readText(payload.type, limits.maxIdLength);
  const session = readText(payload.session, limits.maxIdLength);
  if (type === null || session === null) return null;
  return {
    type,
    session,
    subagent: readText(payload.subagent, limits.maxIdLength),
    subagentType: readText(payload.subagentType, limits.maxIdLength),
    cwd: readText(payload.cwd, limits.maxPathLength),
    request: readText(payload.request, limits.maxIdLength),
    call: readText(payload.call, limits.maxIdLength),
    fields: payload,
  };
}

/** The texts of a list, not more than are shown. */
export const asStrings = (value: unknown): readonly string[] =>
  asList(value)
    .filter((item) => typeof item === "string")
    .slice(0, limits.maxOptions);
