/** Names of Copilot CLI's tools and requests, for users. */
import { asList, asRecord, asText, type JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import { findSummary, readId } from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";

/** A call's tool as shown, and what describes the call. Hooks with Claude Code's event names also have its names of tools. */
const tools: Readonly<Record<string, { readonly name: string; readonly field: string }>> = {
  apply_patch: { name: "Edit", field: "path" },
  ask_user: { name: "Question", field: "message" },
  bash: { name: "Bash", field: "command" },
  create: { name: "Write", field: "path" },
  edit: { name: "Edit", field: "path" },
  exit_plan_mode: { name: "Plan", field: "summary" },
  glob: { name: "Glob", field: "pattern" },
  grep: { name: "Grep", field: "pattern" },
  powershell: { name: "PowerShell", field: "command" },
  task: { name: "Agent", field: "description" },
  view: { name: "Read", field: "path" },
  web_fetch: { name: "WebFetch", field: "url" },
  web_search: { name: "WebSearch", field: "query" },
};

export const nameTool = (tool: string): string =>
  Object.hasOwn(tools, tool) ? (tools[tool]?.name ?? tool) : tool;

export const summarizeCall = (tool: string, input: JsonRecord): string =>
  toOneLine(findSummary(input, Object.hasOwn(tools, tool) ? tools[tool]?.field : undefined));

export interface RequestNames {
  /** null if unknown. */
  readonly tool: string | null;
  readonly summary: string;
}

/** What a permission request in the event log asks for. */
export function nameRequest(request: JsonRecord): RequestNames {
  const describe = (tool: string | null, ...fields: readonly string[]): RequestNames => {
    const text = fields.map((field) => asText(request[field])).find((value) => value !== "");
    return { tool, summary: toOneLine(text ?? asText(request.intention)) };
  };
  switch (request.kind) {
    case "shell":
      return describe(request.shellType === "powershell" ? "PowerShell" : "Bash", "fullCommandText");
    case "write":
      return describe("Edit", "fileName", "path");
    case "read":
      return describe("Read", "path");
    case "url":
      return describe("WebFetch", "url");
    case "mcp": {
      const [server, tool] = [readId(request.serverName), readId(request.toolName)];
      return describe(server && tool ? `mcp__${server}__${tool}` : tool, "toolTitle");
    }
    default:
      return describe(readId(request.toolName), "toolDescription", "subject");
  }
}

/** What the notification of a dialog starts with (its program has these texts). */
const announcements: Readonly<Record<string, string>> = {
  "Run command": "Bash",
  "Edit file": "Edit",
  "Write file": "Edit",
  "Read file": "Read",
  "Fetch URL": "WebFetch",
};

/** `Run command: touch a` */
export function nameNotification(message: string): RequestNames {
  const [, start = "", subject = ""] = /^([A-Z][A-Za-z ]{1,20}): (.*)$/s.exec(message) ?? [];
  const tool = Object.hasOwn(announcements, start) ? (announcements[start] ?? null) : null;
  return { tool, summary: toOneLine(tool === null ? message : subject) };
}

/** The question of an ask_user call and the choices of its only field. */
export function describeQuestion(input: JsonRecord): {
  readonly summary: string;
  readonly options: readonly string[];
} {
  const fields = Object.values(asRecord(asRecord(input.requestedSchema).properties)).map(asRecord);
  const choices = fields.length === 1 ? (fields[0]?.enum ?? input.choices) : input.choices;
  const options = asList(choices).filter((choice) => typeof choice === "string");
  return {
    summary: toOneLine(asText(input.message) || asText(input.question)),
    options: options.slice(0, limits.maxOptions).map(toOneLine),
  };
}
