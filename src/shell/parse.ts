/**
 * A shell command taken apart far enough to see which programs it would run. Nothing is run or expanded. What is not
 * read for certain is not read at all: a quote taken for another could hide a whole command.
 */
import type { Command, Redirect, Script, Word } from "./script.ts";
import { Lost, maxDepth, type Reader, readOpenText, readWord } from "./words.ts";

/** null: not closed, nested deeper than any person would write it, or ambiguous. */
export function parseShell(text: string): Script | null {
  try {
    const reader = { text, at: 0, waiting: [], script: readScript };
    const script = readScript(reader, "", 0);
    return reader.waiting.length === 0 ? script : null;
  } catch (error) {
    if (error instanceof Lost) return null;
    throw error;
  }
}

interface Open {
  words: Word[];
  redirects: Redirect[];
  group: Script | null;
}

const blank = (): Open => ({ words: [], redirects: [], group: null });

function readScript(reader: Reader, close: string, depth: number): Script {
  if (depth > maxDepth) throw new Lost();
  const script: Command[][] = [];
  let pipeline: Command[] = [];
  let command = blank();
  let cases = 0;
  const endCommand = () => {
    if (command.words.length + command.redirects.length > 0 || command.group) pipeline.push(command);
    command = blank();
  };
  const endPipeline = () => {
    endCommand();
    if (pipeline.length > 0) script.push(pipeline);
    pipeline = [];
  };
  const readGroup = (end: string) => {
    const group = reader.script(reader, end, depth + 1);
    command.group = command.group ? [...command.group, ...group] : group;
  };
  while (reader.at < reader.text.length) {
    const { text, at } = reader;
    const char = text.charAt(at);
    if (char === ")" && close === ")" && cases === 0) {
      reader.at++;
      endPipeline();
      return script;
    }
    if (char === " " || char === "\t" || char === "\r" || text.startsWith("\\\n", at)) {
      reader.at += char === "\\" ? 2 : 1;
    } else if (char === "\n") {
      reader.at++;
      endPipeline();
      readBodies(reader);
    } else if (char === "#") {
      const end = text.indexOf("\n", at);
      reader.at = end === -1 ? text.length : end;
    } else if (isRedirect(reader)) {
      command.redirects.push(readRedirect(reader, depth));
    } else if (char === "|" && text.charAt(at + 1) !== "|") {
      reader.at += text.charAt(at + 1) === "&" ? 2 : 1;
      endCommand();
    } else if (";&|)".includes(char) || (char === "(" && cases > 0)) {
      reader.at++;
      endPipeline();
    } else if (char === "(") {
      reader.at++;
      const isName = command.words.length > 0 && /^\(\s*\)/.test(text.slice(at, at + 16));
      readGroup(")");
      // `name() { …`: what comes next is what it runs.
      if (isName) endPipeline();
    } else {
      const words = readWord(reader, depth);
      const bare = words[0]?.isQuoted === false ? words[0].text : "";
      const [head] = command.words;
      if (bare === "{" && (head === undefined || head.text === "function")) {
        readGroup("}");
        continue;
      }
      if (head === undefined) {
        if (bare === "}" && close === "}") {
          endPipeline();
          return script;
        }
        if (bare === "case") cases++;
        if (bare === "esac" && cases > 0) cases--;
      }
      command.words.push(...words);
    }
  }
  if (close !== "") throw new Lost();
  endPipeline();
  return script;
}

const redirect = /\d{0,4}(?:<<<|<<-?|<>|<&|>>|>\||>&|<(?!\()|>(?!\())|&>>?/y;

function isRedirect(reader: Reader): boolean {
  redirect.lastIndex = reader.at;
  return redirect.test(reader.text);
}

function readRedirect(reader: Reader, depth: number): Redirect {
  redirect.lastIndex = reader.at;
  const op = (redirect.exec(reader.text)?.[0] ?? "").replace(/^\d+/, "");
  reader.at = redirect.lastIndex;
  while (/^[ \t]$/.test(reader.text.charAt(reader.at))) reader.at++;
  const [target] = readWord(reader, depth);
  if (!target) throw new Lost();
  if (!op.startsWith("<<") || op === "<<<") return { op, target, body: null };
  const inner: Script[] = [...target.inner];
  const found: { op: string; target: Word; body: string | null } = {
    op,
    target: { ...target, inner },
    body: null,
  };
  const take = (body: string) => {
    found.body = body;
    if (!target.isQuoted) readOpenText({ ...reader, text: body, at: 0, waiting: [] }, "", depth + 1, inner);
  };
  reader.waiting.push({ end: target.text, isIndented: op === "<<-", take });
  return found;
}

function readBodies(reader: Reader): void {
  const { waiting, text } = reader;
  reader.waiting = [];
  for (const { end, isIndented, take } of waiting) {
    const from = reader.at;
    let body: string | null = null;
    while (body === null) {
      if (reader.at >= text.length) throw new Lost();
      const start = reader.at;
      const stop = text.indexOf("\n", start);
      reader.at = stop === -1 ? text.length : stop + 1;
      const whole = text.slice(start, stop === -1 ? undefined : stop);
      const line = isIndented ? whole.replace(/^\t+/, "") : whole;
      if (line === end) body = text.slice(from, start);
      // Some shells end the document here, others do not.
      else if (line.startsWith(`${end})`)) throw new Lost();
    }
    take(body);
  }
}
