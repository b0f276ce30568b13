/** Describes the CLI's permission_suggestions: what can be allowed for good. Only what can be described is offered. */
import { isRecord, type JsonRecord } from "../../../core/json.ts";
import { makeLineVisible } from "../../../core/text/visible.ts";
import { formatList } from "../../../core/text/words.ts";
import { isReadableOffer } from "../../offers.ts";
import { formatToolName } from "../summary.ts";

export interface Suggestion {
  readonly text: string;
  /** The CLI's own entry, unchanged. */
  readonly entry: JsonRecord;
}

const maxSuggestions = 12;

/** In the CLI's order. The choice of an answer is an index into this list. */
export function listSuggestions(entries: unknown): readonly Suggestion[] {
  const list = Array.isArray(entries) ? entries.slice(0, maxSuggestions) : [];
  return list.flatMap((entry) => {
    const text = describeSuggestion(entry);
    return text !== null && isReadableOffer(text) ? [{ text, entry }] : [];
  });
}

const destinations: Readonly<Record<string, string>> = {
  session: "in this session",
  localSettings: "in this project, for you",
  projectSettings: "in this project, for everybody",
  userSettings: "in all your projects",
};

const modes: Readonly<Record<string, string>> = {
  default: "Ask as usual",
  acceptEdits: "Allow all edits",
  plan: "Only plan",
  auto: "Let the agent decide by itself what to ask",
  dontAsk: "Refuse everything that is not allowed yet, without asking",
  bypassPermissions: "Allow everything and never ask",
};

/** null for an unknown kind or field, which could mean anything. */
function describeSuggestion(entry: unknown): string | null {
  if (!isRecord(entry)) return null;
  const where = lookUp(destinations, entry.destination);
  if (where === null) return null;
  const { type, destination, ...rest } = entry;
  if (type === "setMode" && hasOnly(rest, ["mode"])) {
    const mode = lookUp(modes, rest.mode);
    return mode === null ? null : `${mode} ${where}`;
  }
  if (type === "addDirectories" && hasOnly(rest, ["directories"])) {
    const folders = asTexts(rest.directories);
    return folders && `Let it work in ${formatList(folders)} too, ${where}`;
  }
  if (type === "addRules" && hasOnly(rest, ["rules", "behavior"]) && rest.behavior === "allow") {
    const rules = Array.isArray(rest.rules) ? rest.rules.map(describeRule) : [];
    const known = rules.filter((rule) => rule !== null);
    const isComplete = known.length > 0 && known.length === rules.length;
    return isComplete ? `Always allow ${formatList(known)} ${where}` : null;
  }
  return null;
}

function describeRule(rule: unknown): string | null {
  if (!isRecord(rule) || !hasOnly(rule, ["toolName", "ruleContent"])) return null;
  const { toolName: tool, ruleContent: content } = rule;
  if (typeof tool !== "string" || tool === "") return null;
  const name = formatToolName(tool);
  if (content === undefined || content === null || content === "")
    return tool === "Bash" ? "every command" : `every ${name}`;
  if (typeof content !== "string") return null;
  // `Bash(*)` and `Bash(:*)` match every command.
  if (tool === "Bash" && /^[\s:*]+$/.test(content)) return `every command (${makeLineVisible(content)})`;
  return tool === "Bash" ? makeLineVisible(content) : `${name} of ${makeLineVisible(content)}`;
}

function lookUp(texts: Readonly<Record<string, string>>, key: unknown): string | null {
  return typeof key === "string" && Object.hasOwn(texts, key) ? (texts[key] ?? null) : null;
}

function hasOnly(fields: JsonRecord, known: readonly string[]): boolean {
  return Object.keys(fields).every((name) => known.includes(name));
}

function asTexts(value: unknown): string[] | null {
  const isText = (item: unknown): item is string => typeof item === "string" && item !== "";
  return Array.isArray(value) && value.length > 0 && value.every(isText)
    ? value.map((text) => makeLineVisible(text))
    : null;
}
