/** What a row of Codex's rollout file says to a user who reads it. */
import type { TranscriptLine } from "../../core/interfaces/wire.ts";
import { asRecord, asText, parseRecordOrNull, readTime } from "../../core/json.ts";
import { toOneLine } from "../one-line.ts";

export function readTranscriptRow(line: string): readonly TranscriptLine[] {
  const row = line.startsWith("{") ? parseRecordOrNull(line) : null;
  if (!row) return [];
  const at = readTime(row.timestamp);
  const payload = asRecord(row.payload);
  const text = asText(payload.message);
  if (row.type === "event_msg" && payload.type === "user_message" && text !== "")
    return [{ at, who: "you", text }];
  if (row.type === "event_msg" && payload.type === "agent_message" && text !== "")
    return [{ at, who: "agent", text }];
  if (row.type !== "response_item") return [];
  if (payload.type === "function_call") return [{ at, who: "step", ...describeCall(payload) }];
  if (payload.type === "custom_tool_call")
    return [{ at, who: "step", tool: "Edit", text: findPatchedFile(asText(payload.input)) }];
  return [];
}

function describeCall({ name, arguments: given }: Readonly<Record<string, unknown>>) {
  const { cmd, command } = parseRecordOrNull(asText(given)) ?? {};
  const words = Array.isArray(command) ? command.map(String) : [asText(command) || asText(cmd)];
  // ["bash", "-lc", "npm test"]
  const text = words.length === 3 && words[1]?.startsWith("-") ? words[2] : words.join(" ");
  return text ? { tool: "Bash", text: toOneLine(text) } : { tool: asText(name), text: "" };
}

const findPatchedFile = (patch: string): string =>
  /^\*\*\* (?:Add|Update|Delete) File: (.+)$/m.exec(patch)?.[1] ?? "";
