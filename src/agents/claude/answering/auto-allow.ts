/** Finds the rule of the user's that allows a request without asking. The request may only read, inside of the rule's folder. */

import {
  type AutoAllowRule,
  type AutoAllowRules,
  checkRuleFolder,
  parseAutoAllowRule,
  splitPlainCommand,
} from "../../../core/config/auto-allow-rules.ts";
import { isReadOnlyCommand, listFoldersReadThroughLinks } from "../../../core/config/read-only-commands.ts";
import { isRecord, type JsonRecord } from "../../../core/json.ts";
import { findRelativePath, isAbsolute, resolvePath } from "../../../core/text/paths.ts";
import { makeVisible } from "../../../core/text/visible.ts";
import { findSecretPath } from "../../../shell/dangers/paths.ts";
import type { AutoAllowed, RequestContext } from "../../agent.ts";
import { askKindOf } from "../payload.ts";
import { describeRequest } from "./describe.ts";
import { bashFields } from "./subject.ts";

/** Where paths start from, and where they must stay. */
interface Folders {
  readonly cwd: string;
  readonly allowed: string;
}

/** null if no rule allows it. */
export function autoAllow(
  rules: AutoAllowRules,
  payload: unknown,
  context: RequestContext,
): AutoAllowed | null {
  if (!isRecord(payload) || !isRecord(payload.tool_input) || context.cwd === null) return null;
  const { tool_name: tool, tool_input: input } = payload;
  if (typeof tool !== "string" || askKindOf(tool) !== "permission") return null;
  const cwd = typeof payload.cwd === "string" ? payload.cwd : context.cwd;
  for (const [folder, list] of Object.entries(rules)) {
    if (checkRuleFolder(folder) !== null) continue;
    if (!isInside(folder, context.cwd) || !isInside(folder, cwd)) continue;
    const rule = list.find((text) => isAllowed(text, tool, input, { cwd, allowed: folder }));
    if (rule === undefined) continue;
    return isHarmless(payload, context) ? { rule, folder, ...listPaths(tool, input, cwd) } : null;
  }
  return null;
}

/** Every part of the input that could be a path. */
function listPaths(
  tool: string,
  input: JsonRecord,
  cwd: string,
): Pick<AutoAllowed, "paths" | "readThroughLinks"> {
  const command = tool === "Bash" ? (splitPlainCommand(String(input.command)) ?? []) : [];
  const values = tool === "Bash" ? command : Object.values(input);
  const parts = values.flatMap((value) => (typeof value === "string" ? splitWord(value) : []));
  return {
    paths: [cwd, ...parts.map((part) => resolvePath(cwd, part))],
    readThroughLinks: listFoldersReadThroughLinks(command).map((path) => resolvePath(cwd, path)),
  };
}

/** A request that cannot be shown in full, or has a danger, is for the user to answer. */
function isHarmless(payload: JsonRecord, context: RequestContext): boolean {
  const details = describeRequest(payload, context);
  return details?.isWhole === true && details.dangers.length === 0;
}

function isAllowed(text: string, tool: string, input: JsonRecord, folders: Folders): boolean {
  const rule = parseAutoAllowRule(text);
  if (typeof rule === "string" || rule.tool !== tool) return false;
  return tool === "Bash" ? isCommandAllowed(rule, input, folders) : isReadAllowed(tool, input, folders);
}

function isCommandAllowed(rule: AutoAllowRule, input: JsonRecord, folders: Folders): boolean {
  if (typeof input.command !== "string" || !hasOnly(input, bashFields)) return false;
  const words = splitPlainCommand(input.command);
  if (words === null || !isReadOnlyCommand(words)) return false;
  const hasLength = rule.isOpen ? words.length >= rule.words.length : words.length === rule.words.length;
  if (!hasLength || !rule.words.every((word, index) => word === words[index])) return false;
  return words.slice(1).every((word) => splitWord(word).every((part) => isPathAllowed(part, folders)));
}

/** A path can also come after the "=" of an option, or after the ":" of a commit. */
const splitWord = (word: string): string[] => [word, ...word.split(/[=:]/)];

function isPathAllowed(path: string, { cwd, allowed }: Folders): boolean {
  if (path.startsWith("~") || /(?:^|[\\/])\.\.(?:[\\/]|$)/.test(path)) return false;
  if (makeVisible(path) !== path || path.includes("\n") || findSecretPath(path) !== null) return false;
  return findRelativePath(allowed, isAbsolute(path) ? path : `${cwd}/${path}`) !== null;
}

interface ReadingTool {
  readonly paths: readonly string[];
  readonly required: string;
  readonly others: readonly string[];
}

const readingTools: Readonly<Record<string, ReadingTool>> = {
  Read: { paths: ["file_path"], required: "file_path", others: ["offset", "limit", "pages"] },
  NotebookRead: { paths: ["notebook_path"], required: "notebook_path", others: ["cell_id"] },
  LS: { paths: ["path"], required: "path", others: [] },
  Glob: { paths: ["path", "pattern"], required: "pattern", others: [] },
  Grep: {
    paths: ["path", "glob"],
    required: "pattern",
    others: "pattern type output_mode -A -B -C -n -i -o context head_limit offset multiline".split(" "),
  },
};

function isReadAllowed(name: string, input: JsonRecord, folders: Folders): boolean {
  const tool = Object.hasOwn(readingTools, name) ? readingTools[name] : undefined;
  if (!tool || typeof input[tool.required] !== "string") return false;
  if (!hasOnly(input, new Set([...tool.paths, ...tool.others]))) return false;
  // Claude Code passes these values to ripgrep as arguments. It puts a pattern behind `-e`.
  const isOption = (value: unknown): boolean => typeof value === "string" && value.startsWith("-");
  if (tool.others.some((field) => field !== "pattern" && isOption(input[field]))) return false;
  return tool.paths.every((field) => {
    const path = input[field];
    if (path === undefined) return true;
    if (typeof path !== "string") return false;
    // `{..,x}/y` also means `../y`.
    const mayLeave = /[{}*?[\]]/.test(path) && path.includes("..");
    return !mayLeave && isKeptAsWritten(path) && isPathAllowed(path, folders);
  });
}

/**
 * Claude Code removes blanks around a path, and normalizes its letters, before it opens it. Measured with 2.1.100:
 * `" ~/x"` is read from the home folder.
 */
function isKeptAsWritten(path: string): boolean {
  return path === path.trim() && path === path.normalize("NFC") && !/\p{Cc}/u.test(path);
}

function hasOnly(input: JsonRecord, known: ReadonlySet<string>): boolean {
  return Object.keys(input).every((name) => known.has(name));
}

function isInside(folder: string, path: string): boolean {
  return isAbsolute(path) && findRelativePath(folder, path) !== null;
}
