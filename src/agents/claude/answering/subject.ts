/** What a request would do, as far as a rule of the user's can name it. */
import type { RuleSubject } from "../../../core/answers/subject.ts";
import { asRecord, asText, type JsonRecord, readString } from "../../../core/json.ts";
import { listEditedFiles } from "../../edits.ts";
import { editTools } from "../translate.ts";

/** Anything else changes how the command runs: in the background, outside of the sandbox. */
export const bashFields: ReadonlySet<string> = new Set(["command", "description", "timeout"]);

export function readSubject(payload: JsonRecord): RuleSubject | null {
  const tool = asText(payload.tool_name);
  const input = asRecord(payload.tool_input);
  const cwd = readString(payload.cwd);
  if (tool === "Bash") {
    const isPlain = Object.keys(input).every((name) => bashFields.has(name));
    return isPlain && typeof input.command === "string"
      ? { kind: "command", command: input.command, cwd }
      : null;
  }
  const field = Object.hasOwn(editTools, tool) ? editTools[tool] : undefined;
  const paths = field === undefined ? [] : listEditedFiles(input[field]);
  return paths.length === 0 ? null : { kind: "edit", paths, cwd };
}
