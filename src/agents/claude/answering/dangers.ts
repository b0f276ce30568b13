/** What a person should not miss before they say yes, in words, most severe first. */

import { isRecord, type JsonRecord } from "../../../core/json.ts";
import { findInvisible } from "../../../core/text/visible.ts";
import {
  type AgentDangers,
  type CommandContext,
  createCommandContext,
} from "../../../shell/dangers/context.ts";
import { checkScriptText, checkWord } from "../../../shell/dangers/index.ts";
import { describeSpecialFile, findSecretPath, isOutsideProject } from "../../../shell/dangers/paths.ts";
import { findDataLoss } from "../../../shell/dangers/service-programs.ts";
import { ownDangers } from "./own-dangers.ts";
import { checkUrl } from "./urls.ts";

export interface DangerOptions {
  /** The project's folder. */
  readonly cwd: string | null;
  /** Where the command would run, if it is another folder. */
  readonly from?: string | null;
  /** What a command can do to agents. Claude Code itself is always included. */
  readonly agents?: readonly AgentDangers[];
}

/** A longer command is looked at as far as this, and called long. No more of one is ever shown. */
const maxChecked = 16_384;
const maxTexts = 500;

export function findDangers(tool: string, input: unknown, options: DangerOptions): readonly string[] {
  const agents = [ownDangers, ...(options.agents ?? [])];
  const context = createCommandContext(options.cwd, options.from ?? null, agents);
  const fields = isRecord(input) ? input : {};
  const command = typeof fields.command === "string" ? fields.command : null;
  if (command !== null) checkCommandLine(command, context);
  if (fields.dangerouslyDisableSandbox === true)
    context.findings.add("root", "runs outside of the sandbox", "dangerouslyDisableSandbox");
  if (editors.has(tool)) checkWrite(fields, context);
  if (tool === "Read" || tool === "NotebookRead") checkRead(fields, context);
  if (tool === "WebFetch" && typeof fields.url === "string") checkUrl(fields.url, context);
  if (tool.startsWith("mcp__")) checkStrings(fields, context);
  if (context.secrets.size > 0 && context.network.size > 0) {
    const form = [[...context.secrets][0], [...context.network][0]].join(", ");
    context.findings.add("sends", "may send secrets away", form);
  }
  return context.findings.list();
}

const editors = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"]);

function checkCommandLine(command: string, context: CommandContext): void {
  const start = command.slice(0, maxChecked);
  checkCharacters(start, context);
  if (forkBomb.test(start)) context.findings.add("system", "starts itself again and again", ":(){ :|:& }");
  if (start.length < command.length)
    context.findings.add("unclear", "too long to check", `${command.length} characters`);
  // Cut in the middle of a quote it could not be read at all.
  checkScriptText(
    start.length < command.length ? start.slice(0, start.lastIndexOf("\n") + 1) : start,
    context,
  );
}

/** The letters themselves turn what stands between them around: `rm א/ב` shows as `rm ב/א`. */
const leftward =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Samaritan}\p{Script=Mandaic}\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const forkBomb = /(?:^|[\s;])(\S{1,40}?)\s{0,4}\(\)\s{0,4}\{\s{0,4}\1\s{0,4}\|\s{0,4}\1\s{0,4}&/;
const twoAlphabets =
  /\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}]\p{Script=Latin}/u;

function checkCharacters(text: string, context: CommandContext): void {
  const codes = findInvisible(text);
  if (codes.length > 0)
    context.findings.add("unseen", "has characters that cannot be seen", codes.slice(0, 4).join(" "));
  const turned = leftward.exec(text)?.[0];
  if (turned !== undefined)
    context.findings.add("unseen", "has letters that are shown in another order than they run", turned);
  const mixed = text.split(/[\s/=:.@-]+/).find((word) => twoAlphabets.test(word));
  if (mixed !== undefined) context.findings.add("unseen", "mixes letters of two alphabets", mixed);
}

/** No system has longer paths than this, so what is behind it counts for nothing. */
function pathOf({ file_path, notebook_path }: JsonRecord): string | null {
  const path = file_path ?? notebook_path;
  return typeof path === "string" ? path.slice(0, maxChecked) : null;
}

function checkWrite(fields: JsonRecord, context: CommandContext): void {
  const path = pathOf(fields);
  if (path === null) return;
  checkCharacters(path, context);
  context.checkTarget(path.replace(/^[$`-]+(?=.)/, "./$&"));
  if (findSecretPath(path) !== null && describeSpecialFile(path, context.paths) === null)
    context.findings.add("system", "changes a file that may hold secrets", path);
}

function checkRead(fields: JsonRecord, context: CommandContext): void {
  const path = pathOf(fields);
  if (path === null) return;
  checkCharacters(path, context);
  if (findSecretPath(path) !== null)
    context.findings.add("sends", "reads a file that may hold secrets", path);
  else if (isOutsideProject(path, context.paths))
    context.findings.add("outside", "reads outside the project", path);
}

/** Every text of a tool that we do not know: statements that delete data, secrets in addresses. */
function checkStrings(fields: JsonRecord, context: CommandContext): void {
  const texts: string[] = [];
  const open: unknown[] = [fields];
  let left = maxChecked;
  while (open.length > 0 && texts.length < maxTexts) {
    const value = open.pop();
    if (typeof value === "string") {
      texts.push(value.slice(0, left));
      left -= Math.min(left, value.length);
    } else if (typeof value === "object" && value !== null)
      open.push(...Object.values(value).slice(0, maxTexts));
  }
  for (const text of texts) {
    checkWord(text, context);
    checkCharacters(text, context);
    const loss = findDataLoss(text);
    if (loss !== null) context.findings.add("data", "deletes data", loss);
  }
}
