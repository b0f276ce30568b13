/** What of a hook's payload is worth keeping, and what tells it apart from others. */

import { type JsonRecord, readText as textOf } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import { blankMember } from "../../core/text/json-text.ts";

/** tool_result is its older name; a batch repeats all its calls, and what each returned. */
const returned = ["tool_response", "tool_result", "tool_calls"] as const;

/** What a tool returned moves no session: a picture, a whole file or its output would only lie on the disk. */
export function stripToolOutput(text: string, from: number, payload: JsonRecord): string {
  let left = text;
  for (const name of returned) if (payload[name] != null) left = blankMember(left, name, from);
  return left;
}

const once: ReadonlySet<unknown> = new Set(["PreToolUse", "PostToolUse", "PostToolUseFailure"]);

/** A tool call begins once and ends once. */
export function dedupeKey({ hook_event_name: name, tool_use_id }: JsonRecord): string | null {
  const id = once.has(name) ? textOf(tool_use_id, limits.maxIdLength) : null;
  return id && `${name}.${id}`;
}
