/** Checks what a tool is given: a command line, a path, an address, or values of any kind. */
import {
  findInvisible,
  findReorderedSigns,
  findRightToLeft,
  listLookalikes,
} from "../../core/text/visible.ts";
import type { CommandContext } from "./context.ts";
import { checkScriptText, checkWord } from "./index.ts";
import { describeSpecialFile, findSecretPath, isOutsideProject } from "./paths.ts";
import { findDataLoss } from "./sql.ts";

/** A longer text is checked up to here. No more of one is ever shown. */
const maxChecked = 16_384;
const maxTexts = 500;

export function checkCommandLine(command: string, context: CommandContext): void {
  const start = command.slice(0, maxChecked);
  const isCut = start.length < command.length;
  checkCharacters(start, context);
  if (setsHome.test(start)) context.paths.home = null;
  if (forkBomb.test(start)) context.findings.add("system", "starts itself again and again", ":(){ :|:& }");
  if (isCut) context.findings.add("unclear", "too long to check", `${command.length} characters`);
  // A command that is cut in the middle of a quote could not be read at all.
  checkScriptText(isCut ? start.slice(0, start.lastIndexOf("\n") + 1) : start, context);
}

/** `HOME=/`, `read HOME`, and what may set it unseen: `. ./env.sh`, `eval …`. */
const setsHome = /(?<![$\w{])HOME\b|(?:^|[\s;&|({])(?:source|eval|\.)\s/m;

const forkBomb =
  /\bwhile\s{1,4}(?::|true)\s{0,4}[;\n]\s{0,4}do\b[^\n;]{1,200}&\s{0,4}done\b|(?:^|[\s;])(\S{1,40}?)\s{0,4}\(\)\s{0,4}\{\s{0,4}\1\s{0,4}\|\s{0,4}\1\s{0,4}&/;

/** Not Greek: `Δx` and `μs` are everyday names, and Greek letters that look like Latin ones are found as such. */
const twoAlphabets = /\p{Script=Latin}\p{Script=Cyrillic}|\p{Script=Cyrillic}\p{Script=Latin}/u;

function checkCharacters(text: string, { findings }: CommandContext): void {
  const codes = findInvisible(text);
  if (codes.length > 0)
    findings.add("unseen", "has characters that cannot be seen", codes.slice(0, 4).join(" "));
  const reversed = findRightToLeft(text);
  if (reversed !== null)
    findings.add("unseen", "has letters that are shown in another order than they run", reversed);
  const mixed = text.split(/[\s/=:.@-]+/).find((word) => twoAlphabets.test(word));
  const lookalikes = listLookalikes(text);
  if (mixed !== undefined) findings.add("unseen", "mixes letters of two alphabets", mixed);
  else if (lookalikes.length > 0)
    findings.add("unseen", "has characters that look like others", lookalikes.slice(0, 4).join(", "));
}

export function checkWrittenPath(fullPath: string, context: CommandContext): void {
  const path = fullPath.slice(0, maxChecked);
  checkCharacters(path, context);
  // Not a shell's: a `$` or `-` at the start is part of the name.
  context.checkTarget(path.replace(/^[$`-]+(?=.)/, "./$&"));
  if (findSecretPath(path) !== null && describeSpecialFile(path, context.paths) === null)
    context.findings.add("system", "changes a file that may hold secrets", path);
}

/** Checks a text that is written into a file. */
export function checkWrittenText(text: string, context: CommandContext): void {
  const reordered = findReorderedSigns(text.slice(0, maxChecked));
  if (reordered !== null)
    context.findings.add(
      "unseen",
      "has signs that are shown in another order than they are written",
      reordered,
    );
}

export function checkReadPath(fullPath: string, context: CommandContext): void {
  const path = fullPath.slice(0, maxChecked);
  checkCharacters(path, context);
  if (findSecretPath(path) !== null)
    context.findings.add("sends", "reads a file that may hold secrets", path);
  else if (isOutsideProject(path, context.paths))
    context.findings.add("outside", "reads outside the project", path);
}

/** Checks every text in the values, for statements that delete data, secrets in addresses and strange characters. */
export function checkValues(values: unknown, context: CommandContext): void {
  const texts: string[] = [];
  const open: unknown[] = [values];
  let remaining = maxChecked;
  while (open.length > 0 && texts.length < maxTexts) {
    const value = open.pop();
    if (typeof value === "string") {
      texts.push(value.slice(0, remaining));
      remaining -= Math.min(remaining, value.length);
    } else if (typeof value === "object" && value !== null) {
      open.push(...Object.values(value).slice(0, maxTexts));
    }
  }
  for (const text of texts) {
    checkWord(text, context);
    checkCharacters(text, context);
    const loss = findDataLoss(text);
    if (loss !== null) context.findings.add("data", "deletes data", loss);
  }
}

const cloudMetadata = /^(?:169\.254\.|metadata\.google\.internal$|\[?fd00:ec2)/;

export function checkUrl(address: string, context: CommandContext): void {
  const { findings } = context;
  checkWord(address.slice(0, maxChecked), context);
  const url = parseUrl(address);
  if (!url) {
    findings.add("address", "is not a valid address", address.slice(0, maxChecked));
    return;
  }
  if (url.username !== "" || url.password !== "")
    findings.add("address", "hides where it leads", `${url.username}@${url.host}`);
  if (/(?:^|\.)xn--/.test(url.hostname))
    findings.add("address", "has foreign letters in its name", url.hostname);
  else checkCharacters(address, context);
  if (cloudMetadata.test(url.hostname))
    findings.add("sends", "asks for the credentials of a cloud machine", url.hostname);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    findings.add("address", "is not a web page", url.protocol);
}

/** The host that an address leads to. null if the address shows it as it is. */
export function findRealHost(address: string): string | null {
  const url = parseUrl(address);
  if (!url) return null;
  const written = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\\]*)/i.exec(address)?.[1] ?? "";
  const host = url.host === "" ? url.protocol : url.host;
  const isPlain = written.toLowerCase() === host && !/xn--/.test(host);
  return isPlain ? null : host;
}

/** null also for a longer one than is ever shown: a host of a million foreign letters takes a minute to read. */
const parseUrl = (address: string): URL | null =>
  address.length <= maxChecked && URL.canParse(address) ? new URL(address) : null;
