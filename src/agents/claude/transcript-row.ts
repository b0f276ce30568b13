/** One row of Claude Code's transcript. The format is internal to the CLI: every field may be missing or another's. */

import { isRecord, type JsonRecord, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";

const interruptions: ReadonlySet<string> = new Set([
  "[Request interrupted by user]",
  "[Request interrupted by user for tool use]",
]);

export function readRow(line: string): JsonRecord | null {
  if (!line.startsWith("{")) return null;
  try {
    const row: unknown = JSON.parse(line);
    return isRecord(row) ? row : null;
  } catch {
    return null;
  }
}

/** Not a subagent's, and not written by the CLI in the model's place (API errors, "No response requested."). */
export function isModelsWord(row: JsonRecord): row is JsonRecord & { readonly message: JsonRecord } {
  if (row.type !== "assistant" || row.isSidechain === true || row.isApiErrorMessage === true) return false;
  return isRecord(row.message) && row.message.model !== "<synthetic>";
}

/** Esc or "No" in the terminal. */
export function isInterruption(row: JsonRecord): boolean {
  return row.type === "user" && interruptions.has(textsOf(row.message).join("\n"));
}

/** A prompt of the person's, or the CLI's own word to the model that a background task has ended. */
export function beginsTurn(row: JsonRecord): boolean {
  if (row.type !== "user" || row.isSidechain === true) return false;
  return isPrompt(row) || textsOf(row.message).some((t) => t.startsWith("<task-notification>"));
}

/** Texts in tags are the CLI's: commands, their output, reminders. An editor puts some before what was typed. */
export function isPrompt(row: JsonRecord): boolean {
  if (row.type !== "user" || row.isSidechain === true) return false;
  if (row.isMeta === true || row.isCompactSummary === true) return false;
  const blocks = blocksOf(row.message);
  if (blocks.some((block) => block.type === "tool_result")) return false;
  const texts = textsOf(row.message);
  if (texts.length === 0) return blocks.some((block) => block.type === "image" || block.type === "document");
  return texts.some((t) => !/^\s*<[a-z][\w-]*>/i.test(t) && !interruptions.has(t));
}

export function textsOf(message: unknown): string[] {
  return blocksOf(message).flatMap((b) =>
    b.type === "text" && typeof b.text === "string" && b.text ? [b.text] : [],
  );
}

function blocksOf(message: unknown): readonly JsonRecord[] {
  const content = isRecord(message) ? message.content : null;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

export function idOf(message: JsonRecord): string | null {
  return readText(message.id, limits.maxIdLength);
}

export function timeOf(row: JsonRecord): number | null {
  const time = typeof row.timestamp === "string" ? Date.parse(row.timestamp) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
