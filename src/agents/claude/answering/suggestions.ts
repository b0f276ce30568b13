/** The CLI's own permission_suggestions in words. Only what can be said in words is offered. */

import { isRecord, type JsonRecord } from "../../../core/json.ts";
import { maxColumns } from "../../../core/text/fit.ts";
import { makeLineVisible } from "../../../core/text/visible.ts";
import { toolName } from "./tool-name.ts";

export interface Offer {
  readonly words: string;
  /** The CLI's own entry, untouched. */
  readonly suggestion: JsonRecord;
}

/** In the CLI's order. An answer's choice is an index into this list. */
export function offersOf(suggestions: unknown): readonly Offer[] {
  const list = Array.isArray(suggestions) ? suggestions.slice(0, maxOffers) : [];
  return list.flatMap((suggestion) => {
    const words = inWords(suggestion);
    return words !== null && words.length <= maxColumns ? [{ words, suggestion }] : [];
  });
}

const maxOffers = 12;

export function alwaysInWords(suggestion: unknown): string {
  const type = isRecord(suggestion) && typeof suggestion.type === "string" ? suggestion.type : "no type";
  return (
    inWords(suggestion) ??
    `A lasting change that beckon cannot put in words (${makeLineVisible(type.slice(0, 60))})`
  );
}

const places: Readonly<Record<string, string>> = {
  session: "in this session",
  localSettings: "in this project, for you",
  projectSettings: "in this project, for everybody",
  userSettings: "in all your projects",
};

const modes: Readonly<Record<string, string>> = {
  default: "Ask as usual",
  acceptEdits: "Allow all edits",
  plan: "Only plan",
  auto: "Let the agent judge by itself what to ask",
  dontAsk: "Refuse, without asking, all that is not allowed yet",
  bypassPermissions: "Allow everything and never ask",
};

/** null: a kind or a field that we do not know: it could mean anything. */
function inWords(suggestion: unknown): string | null {
  if (!isRecord(suggestion)) return null;
  const where = named(places, suggestion.destination);
  if (where === null) return null;
  const { type, destination, ...rest } = suggestion;
  if (type === "setMode" && isOnly(rest, ["mode"])) {
    const mode = named(modes, rest.mode);
    return mode === null ? null : `${mode} ${where}`;
  }
  if (type === "addDirectories" && isOnly(rest, ["directories"])) {
    const folders = texts(rest.directories);
    return folders && `Let it work in ${joined(folders)} too, ${where}`;
  }
  if (type === "addRules" && isOnly(rest, ["rules", "behavior"]) && rest.behavior === "allow") {
    const rules = Array.isArray(rest.rules) ? rest.rules.map(ruleInWords) : [];
    const said = rules.filter((rule) => rule !== null);
    return said.length > 0 && said.length === rules.length ? `Always allow ${joined(said)} ${where}` : null;
  }
  return null;
}

function ruleInWords(rule: unknown): string | null {
  if (!isRecord(rule) || !isOnly(rule, ["toolName", "ruleContent"])) return null;
  const { toolName: tool, ruleContent: content } = rule;
  if (typeof tool !== "string" || tool === "") return null;
  const name = toolName(tool);
  if (content === undefined || content === null || content === "")
    return tool === "Bash" ? "every command" : `every ${name}`;
  if (typeof content !== "string") return null;
  // `Bash(*)` and `Bash(:*)` match whatever comes.
  if (tool === "Bash" && /^[\s:*]+$/.test(content)) return `every command (${makeLineVisible(content)})`;
  return tool === "Bash" ? makeLineVisible(content) : `${name} of ${makeLineVisible(content)}`;
}

function named(words: Readonly<Record<string, string>>, key: unknown): string | null {
  return typeof key === "string" && Object.hasOwn(words, key) ? (words[key] ?? null) : null;
}

function isOnly(fields: JsonRecord, known: readonly string[]): boolean {
  return Object.keys(fields).every((name) => known.includes(name));
}

function texts(value: unknown): string[] | null {
  const isText = (one: unknown): one is string => typeof one === "string" && one !== "";
  return Array.isArray(value) && value.length > 0 && value.every(isText)
    ? value.map((text) => makeLineVisible(text))
    : null;
}

function joined(list: readonly string[]): string {
  return list.length < 2 ? (list[0] ?? "") : `${list.slice(0, -1).join(", ")} and ${list.at(-1)}`;
}
