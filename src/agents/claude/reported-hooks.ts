/**
 * What the hooks of an unattended run reported, read from its transcript. Measured with 2.1.325: at the end of its turn, `claude -p`
 * sends SIGTERM to the async hooks that still run, and waits only for SessionEnd. The transcript is complete by then.
 *
 * Only what starts or ends the session, a turn or a skill: other calls are followed by a request to the model, which takes longer
 * than a hook.
 */
import { asText, isRecord, type JsonRecord, parseRecordOrNull, readTime } from "../../core/json.ts";
import type { ReportedHook } from "../agent.ts";
import { isModelMessage, isPrompt, listBlocks, listTexts } from "./transcript.ts";

export const isRunEnd = ({ hook_event_name }: JsonRecord): boolean => hook_event_name === "SessionEnd";

/** Hooks of one kind have the id of their turn or call. */
export function identifyReported(payload: JsonRecord): string | null {
  const { hook_event_name: name, prompt_id: turn, tool_use_id: call, tool_name: tool, source } = payload;
  const nameWith = (kind: string, id: unknown) => (typeof id === "string" && id ? `${kind}.${id}` : null);
  switch (name) {
    case "SessionStart":
      return nameWith("start", source);
    case "UserPromptSubmit":
      return nameWith("prompt", turn);
    case "PreToolUse":
      return tool === "Skill" ? nameWith("call", call) : null;
    case "PostToolUse":
    case "PostToolUseFailure":
      return tool === "Skill" ? nameWith("result", call) : null;
    case "Stop":
    case "StopFailure":
      return nameWith("stop", turn);
    default:
      return null;
  }
}

const turnHooks: ReadonlySet<string> = new Set(["UserPromptSubmit", "Stop"]);

const reportingTexts = ['"type":"user"', '"type":"assistant"', '"stop_hook_summary"'].map((text) =>
  Buffer.from(text),
);

/** False for a row that listReportedHooks would ignore: most of a short transcript is the system prompt. */
export const isReportingRow = (row: Buffer): boolean => reportingTexts.some((text) => row.includes(text));

/**
 * Oldest first. `isWhole` if the lines start where the transcript starts. Before 2.1.196, the transcript names turns, but hooks do not: it
 * cannot be told whose hook is missing, so only skills are listed.
 */
export function listReportedHooks(
  lines: readonly string[],
  end: JsonRecord,
  isWhole: boolean,
): readonly ReportedHook[] {
  const { session_id, transcript_path, cwd } = end;
  const hooks: ReportedHook[] = [];
  const calls = new Map<string, JsonRecord>();
  let turn: string | undefined;
  let response = "";
  const namesTurns = end.prompt_id !== undefined;
  const add = (row: JsonRecord, hook_event_name: string, fields: JsonRecord): void => {
    const at = readTime(row.timestamp);
    if (at === null || (turnHooks.has(hook_event_name) && !namesTurns)) return;
    const common = { session_id, transcript_path, cwd, prompt_id: turn, hook_event_name };
    hooks.push({ at, payload: { ...common, ...fields } });
  };
  for (const [index, line] of lines.entries()) {
    const row = parseRecordOrNull(line);
    if (!row || row.isSidechain === true) continue;
    if (index === 0 && isWhole) add(row, "SessionStart", { source: "startup" });
    if (isPrompt(row)) {
      turn = asText(row.promptId) || undefined;
      response = "";
      add(row, "UserPromptSubmit", { prompt: listTexts(row.message).join("\n") });
    } else if (isModelMessage(row)) {
      response = listTexts(row.message).join("\n") || response;
      for (const { name, id, input } of listBlocks(row.message)) {
        if (name !== "Skill" || typeof id !== "string" || !isRecord(input)) continue;
        const call = { tool_name: name, tool_input: input, tool_use_id: id };
        calls.set(id, call);
        add(row, "PreToolUse", call);
      }
    } else if (row.type === "user") {
      for (const { type, tool_use_id: id, is_error } of listBlocks(row.message)) {
        const call = type === "tool_result" ? calls.get(asText(id)) : undefined;
        if (call) add(row, is_error === true ? "PostToolUseFailure" : "PostToolUse", call);
      }
    } else if (row.subtype === "stop_hook_summary") {
      add(row, "Stop", response ? { last_assistant_message: response } : {});
    }
  }
  return hooks;
}
