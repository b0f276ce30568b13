/** What a person should not miss before they say yes, in words, most severe first. */

import { isRecord, type JsonRecord } from "../../core/json.ts";
import { findInvisible } from "../../core/text/visible.ts";
import { judgeText, judgeWord } from "../../shell/dangers/commands.ts";
import { type AgentDangers, type CommandContext, createCommandContext } from "../../shell/dangers/look.ts";
import { isOutside, runsByItself, secretIn } from "../../shell/dangers/places.ts";
import { lossIn } from "../../shell/dangers/services.ts";
import { ownDangers } from "./own-dangers.ts";
import { judgeUrl } from "./urls.ts";

export interface DangerOptions {
  /** The project's folder. */
  readonly cwd: string | null;
  /** Where the command would run, if it is another folder. */
  readonly from?: string | null;
  /** What a command can do to agents. Claude Code itself is always included. */
  readonly agents?: readonly AgentDangers[];
}

/** A longer command is looked at as far as this, and called long. No more of one is ever shown. */
const maxLooked = 16_384;
const maxTexts = 500;

export function dangersOf(tool: string, input: unknown, options: DangerOptions): readonly string[] {
  const agents = [ownDangers, ...(options.agents ?? [])];
  const look = createCommandContext(options.cwd, options.from ?? null, agents);
  const fields = isRecord(input) ? input : {};
  const command = typeof fields.command === "string" ? fields.command : null;
  if (command !== null) judgeCommandLine(command, look);
  if (fields.dangerouslyDisableSandbox === true)
    look.found.add("root", "runs outside of the sandbox", "dangerouslyDisableSandbox");
  if (editors.has(tool)) judgeWrite(fields, look);
  if (tool === "Read" || tool === "NotebookRead") judgeRead(fields, look);
  if (tool === "WebFetch" && typeof fields.url === "string") judgeUrl(fields.url, look);
  if (tool.startsWith("mcp__")) judgeStrings(fields, look);
  if (look.secrets.size > 0 && look.network.size > 0) {
    const form = [[...look.secrets][0], [...look.network][0]].join(", ");
    look.found.add("sends", "may send secrets away", form);
  }
  return look.found.list();
}

const editors = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"]);

function judgeCommandLine(command: string, look: CommandContext): void {
  const start = command.slice(0, maxLooked);
  judgeUnseen(start, look);
  if (forkBomb.test(start)) look.found.add("system", "starts itself again and again", ":(){ :|:& }");
  if (start.length < command.length)
    look.found.add("unclear", "too long to be judged", `${command.length} characters`);
  // Cut in the middle of a quote it could not be read at all.
  judgeText(start.length < command.length ? start.slice(0, start.lastIndexOf("\n") + 1) : start, look);
}

/** The letters themselves turn what stands between them around: `rm א/ב` shows as `rm ב/א`. */
const leftward =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Samaritan}\p{Script=Mandaic}\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const forkBomb = /(?:^|[\s;])(\S{1,40}?)\s{0,4}\(\)\s{0,4}\{\s{0,4}\1\s{0,4}\|\s{0,4}\1\s{0,4}&/;
const twoAlphabets =
  /\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}]\p{Script=Latin}/u;

function judgeUnseen(text: string, look: CommandContext): void {
  const codes = findInvisible(text);
  if (codes.length > 0)
    look.found.add("unseen", "has characters that cannot be seen", codes.slice(0, 4).join(" "));
  const turned = leftward.exec(text)?.[0];
  if (turned !== undefined)
    look.found.add("unseen", "has letters that show in another order than they run", turned);
  const mixed = text.split(/[\s/=:.@-]+/).find((word) => twoAlphabets.test(word));
  if (mixed !== undefined) look.found.add("unseen", "mixes letters of two alphabets", mixed);
}

/** No system has longer paths than this, so what is behind it counts for nothing. */
function pathOf({ file_path, notebook_path }: JsonRecord): string | null {
  const path = file_path ?? notebook_path;
  return typeof path === "string" ? path.slice(0, maxLooked) : null;
}

function judgeWrite(fields: JsonRecord, look: CommandContext): void {
  const path = pathOf(fields);
  if (path === null) return;
  judgeUnseen(path, look);
  look.target(path.replace(/^[$`-]+(?=.)/, "./$&"));
  if (secretIn(path) !== null && runsByItself(path, look.places) === null)
    look.found.add("system", "changes what holds secrets", path);
}

function judgeRead(fields: JsonRecord, look: CommandContext): void {
  const path = pathOf(fields);
  if (path === null) return;
  judgeUnseen(path, look);
  if (secretIn(path) !== null) look.found.add("sends", "reads what may hold secrets", path);
  else if (isOutside(path, look.places)) look.found.add("outside", "reads outside the project", path);
}

/** Every text of a tool that we do not know: statements that delete data, secrets in addresses. */
function judgeStrings(fields: JsonRecord, look: CommandContext): void {
  const texts: string[] = [];
  const open: unknown[] = [fields];
  let left = maxLooked;
  while (open.length > 0 && texts.length < maxTexts) {
    const value = open.pop();
    if (typeof value === "string") {
      texts.push(value.slice(0, left));
      left -= Math.min(left, value.length);
    } else if (typeof value === "object" && value !== null)
      open.push(...Object.values(value).slice(0, maxTexts));
  }
  for (const text of texts) {
    judgeWord(text, look);
    judgeUnseen(text, look);
    const loss = lossIn(text);
    if (loss !== null) look.found.add("data", "deletes data", loss);
  }
}
