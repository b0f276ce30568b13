/** What a row of Claude Code's transcript says to a user who reads it. */
import type { TranscriptLine } from "../../core/interfaces/wire.ts";
import { asRecord, asText, readTime } from "../../core/json.ts";
import { readMessage } from "./own-message.ts";
import { summarizeCall } from "./summary.ts";
import { isPrompt, listBlocks, listTexts, parseRow } from "./transcript.ts";

/** Results of tools are left out: they are as long as files, and the calls say what was done. */
export function readTranscriptRow(line: string): readonly TranscriptLine[] {
  const row = parseRow(line);
  if (!row || row.isSidechain === true) return [];
  const at = readTime(row.timestamp);
  if (isPrompt(row)) return [{ at, who: "you", text: readMessage(listTexts(row.message).join("\n")) }];
  if (row.type !== "assistant") return [];
  return listBlocks(row.message).flatMap((block): TranscriptLine[] => {
    if (block.type === "text" && asText(block.text).trim() !== "")
      return [{ at, who: "agent", text: asText(block.text) }];
    if (block.type !== "tool_use") return [];
    const tool = asText(block.name);
    return [{ at, who: "step", tool, text: summarizeCall(tool, asRecord(block.input)) }];
  });
}
