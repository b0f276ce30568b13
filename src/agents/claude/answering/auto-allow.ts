/** Whether a person's own rule allows a request without them. It must only read, inside of the rule's folder. */

import {
  type AutoAllowRule,
  type AutoAllowRules,
  checkRuleFolder,
  parseAutoAllowRule,
  splitPlainCommand,
} from "../../../core/config/auto-allow-rules.ts";
import { isReadOnlyCommand } from "../../../core/config/read-only-commands.ts";
import { isRecord, type JsonRecord } from "../../../core/json.ts";
import { isAbsolute, relativeWithin, resolvePath } from "../../../core/text/paths.ts";
import { makeVisible } from "../../../core/text/visible.ts";
import { findSecretPath } from "../../../shell/dangers/paths.ts";
import type { AutoAllowed, RequestContext } from "../../agent.ts";
import { describeRequest, kindOf } from "./describe.ts";

/** null: no rule allows it. */
export function autoAllow(
  rules: AutoAllowRules,
  payload: unknown,
  context: RequestContext,
): AutoAllowed | null {
  const { cwd } = context;
  if (!isRecord(payload) || !isRecord(payload.tool_input)) return null;
  const { tool_name: tool, tool_input: input, cwd: own } = payload;
  if (typeof tool !== "string" || kindOf(tool) !== "permission" || cwd === null) return null;
  const here = typeof own === "string" ? own : cwd;
  for (const [folder, list] of Object.entries(rules)) {
    if (checkRuleFolder(folder) !== null || !isInside(folder, cwd) || !isInside(folder, here)) continue;
    const rule = list.find((text) => isAllowed(text, tool, input, { folder, here }));
    if (rule === undefined) continue;
    return isPlainlySafe(payload, context) ? { rule, folder, paths: pathsOf(tool, input, here) } : null;
  }
  return null;
}

/** Every word that could be one. */
function pathsOf(tool: string, input: JsonRecord, here: string): string[] {
  const words = tool === "Bash" ? (splitPlainCommand(String(input.command)) ?? []) : Object.values(input);
  const parts = words.flatMap((word) => (typeof word === "string" ? partsOf(word) : []));
  return [here, ...parts.map((part) => resolvePath(here, part))];
}

/** What could not be shown whole, or is marked, is for a person. */
function isPlainlySafe(payload: JsonRecord, context: RequestContext): boolean {
  const asked = describeRequest(payload, context);
  return asked?.isWhole === true && asked.dangers.length === 0;
}

interface Where {
  readonly folder: string;
  readonly here: string;
}

function isAllowed(text: string, tool: string, input: JsonRecord, where: Where): boolean {
  const rule = parseAutoAllowRule(text);
  if (typeof rule === "string" || rule.tool !== tool) return false;
  return tool === "Bash" ? isCommandAllowed(rule, input, where) : isReadAllowed(tool, input, where);
}

const bashFields: ReadonlySet<string> = new Set(["command", "description", "timeout"]);

function isCommandAllowed({ words, isOpen }: AutoAllowRule, input: JsonRecord, where: Where): boolean {
  if (typeof input.command !== "string" || !isOnly(input, bashFields)) return false;
  const given = splitPlainCommand(input.command);
  if (given === null || !isReadOnlyCommand(given)) return false;
  if (isOpen ? given.length < words.length : given.length !== words.length) return false;
  if (!words.every((word, n) => word === given[n])) return false;
  return given.slice(1).every((word) => isWordInside(word, where));
}

function isWordInside(word: string, where: Where): boolean {
  return partsOf(word).every((part) => isPathAllowed(part, where));
}

/** Also what stands behind an option's "=", or a commit's ":". */
const partsOf = (word: string): string[] => [word, ...word.split(/[=:]/)];

function isPathAllowed(path: string, { folder, here }: Where): boolean {
  if (path.startsWith("~") || /(?:^|[\\/])\.\.(?:[\\/]|$)/.test(path)) return false;
  if (makeVisible(path) !== path || path.includes("\n") || findSecretPath(path) !== null) return false;
  return relativeWithin(folder, isAbsolute(path) ? path : `${here}/${path}`) !== null;
}

interface Reading {
  readonly paths: readonly string[];
  readonly needs: string;
  readonly others: readonly string[];
}

const readings: Readonly<Record<string, Reading>> = {
  Read: { paths: ["file_path"], needs: "file_path", others: ["offset", "limit", "pages"] },
  NotebookRead: { paths: ["notebook_path"], needs: "notebook_path", others: ["cell_id"] },
  LS: { paths: ["path"], needs: "path", others: [] },
  Glob: { paths: ["path", "pattern"], needs: "pattern", others: [] },
  Grep: {
    paths: ["path", "glob"],
    needs: "pattern",
    others: "pattern type output_mode -A -B -C -n -i -o context head_limit offset multiline".split(" "),
  },
};

function isReadAllowed(tool: string, input: JsonRecord, where: Where): boolean {
  const reading = Object.hasOwn(readings, tool) ? readings[tool] : undefined;
  if (!reading || typeof input[reading.needs] !== "string") return false;
  const { paths, others } = reading;
  if (!isOnly(input, new Set([...paths, ...others]))) return false;
  return paths.every((name) => {
    const path = input[name];
    if (path === undefined) return true;
    // `{..,x}/y` is one of several.
    const isOut = typeof path !== "string" || (/[{}*?[\]]/.test(path) && path.includes(".."));
    return !isOut && isPathAllowed(path, where);
  });
}

function isOnly(input: JsonRecord, known: ReadonlySet<string>): boolean {
  return Object.keys(input).every((name) => known.has(name));
}

function isInside(folder: string, path: string): boolean {
  return isAbsolute(path) && relativeWithin(folder, path) !== null;
}
