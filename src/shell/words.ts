/** The words of a shell command: quotes taken off, what the shell would put in left as it is written. */
import type { Script, Word } from "./script.ts";

export interface Reader {
  readonly text: string;
  at: number;
  /** Here-documents whose bodies begin at the next line. */
  waiting: { readonly end: string; readonly isIndented: boolean; readonly take: (body: string) => void }[];
  /** Reads commands up to `close` and steps over it. */
  readonly script: (reader: Reader, close: string, depth: number) => Script;
}

export class Lost extends Error {}
export const maxDepth = 24;

/** Usually one. `rm${IFS}-rf` is two: the shell takes it apart as well. */
export function readWord(reader: Reader, depth: number): Word[] {
  const inner: Script[] = [];
  let text = "";
  let isQuoted = false;
  let isOpen = false;
  const from = reader.at;
  while (reader.at < reader.text.length) {
    const char = reader.text.charAt(reader.at);
    const next = reader.text.charAt(reader.at + 1);
    if ((char === "<" || char === ">") && next === "(") {
      reader.at += 2;
      inner.push(reader.script(reader, ")", depth + 1));
      text += `${char}()`;
      isOpen = true;
    } else if (" \t\r\n;&|()<>".includes(char)) {
      break;
    } else if (char === "\\") {
      reader.at += 2;
      if (next !== "\n") text += next;
      isQuoted ||= next !== "\n";
    } else if (char === "'") {
      text += readTo(reader, reader.at + 1, "'", false);
      isQuoted = true;
    } else if (char === "$" && next === "'") {
      text += unescaped(readTo(reader, reader.at + 2, "'", true));
      isQuoted = true;
    } else if (char === '"' || (char === "$" && next === '"')) {
      reader.at += char === '"' ? 1 : 2;
      const read = readOpenText(reader, '"', depth, inner);
      text += read.text;
      isOpen ||= read.isOpen;
      isQuoted = true;
    } else if (char === "$" || char === "`") {
      const expansion = readExpansion(reader, depth, inner, false);
      text += expansion;
      isOpen ||= expansion !== "$";
    } else {
      if ("*?[{".includes(char)) isOpen = true;
      text += char;
      reader.at++;
    }
  }
  if (reader.at === from) throw new Lost();
  const parts = isOpen
    ? text.split(/\$(?:IFS\b|\{IFS[^}]*\})(?:\$\d)?/).filter((part) => part !== "")
    : [text];
  if (parts.length < 2) return [{ text, isQuoted, isOpen, inner }];
  return parts.map((part, n) => ({
    text: part,
    isQuoted,
    isOpen: /[$*?[{]/.test(part),
    inner: n === 0 ? inner : [],
  }));
}

/** Up to `close` and over it, as in double quotes: only `$`, backticks and some backslashes mean something. */
export function readOpenText(
  reader: Reader,
  close: string,
  depth: number,
  inner: Script[],
): { text: string; isOpen: boolean } {
  if (depth > maxDepth) throw new Lost();
  let text = "";
  let isOpen = false;
  while (reader.at < reader.text.length) {
    const char = reader.text.charAt(reader.at);
    if (char === close) {
      reader.at++;
      return { text, isOpen };
    }
    if (char === "\\") {
      const next = reader.text.charAt(reader.at + 1);
      if (next !== "\n") text += '$`"\\'.includes(next) ? next : `\\${next}`;
      reader.at += 2;
    } else if (char === "$" || char === "`") {
      const expansion = readExpansion(reader, depth, inner, close === '"');
      isOpen ||= expansion !== "$";
      text += expansion;
    } else {
      text += char;
      reader.at++;
    }
  }
  if (close !== "") throw new Lost();
  return { text, isOpen };
}

function readExpansion(reader: Reader, depth: number, inner: Script[], isInQuotes: boolean): string {
  const { text, at } = reader;
  if (text.charAt(at) === "`") {
    const code = readTo(reader, at + 1, "`", true).replace(/\\([\\`$])/g, "$1");
    // Inside double quotes shells do not agree on what a backslash before a quote is.
    if (isInQuotes && code.includes('\\"')) throw new Lost();
    const own = { ...reader, text: code, at: 0, waiting: [] as Reader["waiting"] };
    inner.push(reader.script(own, "", depth + 1));
    if (own.waiting.length > 0) throw new Lost();
    return "$()";
  }
  if (text.startsWith("$(", at)) {
    reader.at += 2;
    inner.push(reader.script(reader, ")", depth + 1));
    return "$()";
  }
  if (text.startsWith("${", at)) {
    reader.at += 2;
    readBraces(reader, depth + 1, inner, isInQuotes);
    return text.slice(at, reader.at);
  }
  const name = /\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])?/y;
  name.lastIndex = at;
  const found = name.exec(text)?.[0] ?? "$";
  reader.at += found.length;
  return found;
}

function readBraces(reader: Reader, depth: number, inner: Script[], isInQuotes: boolean): void {
  if (depth > maxDepth) throw new Lost();
  while (reader.at < reader.text.length) {
    const char = reader.text.charAt(reader.at);
    if (char === "}") {
      reader.at++;
      return;
    }
    if (char === "\\") reader.at += 2;
    else if (char === "$" || char === "`") readExpansion(reader, depth, inner, isInQuotes);
    else if (char === '"') {
      reader.at++;
      readOpenText(reader, '"', depth, inner);
    } else if (char === "'") {
      // Inside double quotes it quotes in some of these forms, and in others not.
      if (isInQuotes) throw new Lost();
      readTo(reader, reader.at + 1, "'", false);
    } else reader.at++;
  }
  throw new Lost();
}

/** The text from `from` up to `close`; the reader steps over it. */
function readTo(reader: Reader, from: number, close: string, hasEscapes: boolean): string {
  let end = from;
  while (end < reader.text.length && reader.text.charAt(end) !== close) {
    end += hasEscapes && reader.text.charAt(end) === "\\" ? 2 : 1;
  }
  if (end >= reader.text.length) throw new Lost();
  reader.at = end + 1;
  return reader.text.slice(from, end);
}

const named: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", e: "\x1b", E: "\x1b" };
const escaped = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))/gs;

/** `$'\x72m'` */
function unescaped(text: string): string {
  return text.replace(escaped, (_, x, u, long, octal, char) => {
    const hex = x ?? u ?? long;
    const code = hex === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(hex, 16);
    if (Number.isNaN(code)) return named[char] ?? char;
    return code <= 0x10ffff ? String.fromCodePoint(code) : "";
  });
}
