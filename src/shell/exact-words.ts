/**
 * A shell command taken apart, as far as it is nothing but simple commands in a row. What a person built with pipes,
 * substitutions, jobs, conditions or files is not: the answer is then null, and the command is left alone.
 */

export interface SimpleCommand {
  /** NAME=value before the program. */
  readonly assignments: ReadonlyMap<string, string>;
  /** Program and arguments, without their quotes. `$HOME` and `~` stay as they are written. */
  readonly words: readonly string[];
}

const maxLength = 65_536;

interface Word {
  readonly value: string;
  /** How much of it comes before any quotes: only that can be a `{` or the name in an assignment. */
  readonly plain: number;
  readonly end: number;
}

/** Joined by && || ; and newlines, also within { }. */
export function simpleCommands(text: string): SimpleCommand[] | null {
  if (text.length > maxLength || text.includes("\0")) return null;
  const commands: SimpleCommand[] = [];
  let words: Word[] = [];
  let depth = 0;
  let isGroupClosed = false;
  let at = 0;
  const endCommand = (): void => {
    if (words.length > 0) commands.push(simple(words));
    words = [];
    isGroupClosed = false;
  };
  while (at < text.length) {
    const rest = text.slice(at, at + 2);
    if (/^[ \t]/.test(rest)) at++;
    else if (rest === "\\\n") at += 2;
    else if (rest === "&&" || rest === "||") {
      if (words.length === 0 && !isGroupClosed) return null;
      endCommand();
      at += 2;
    } else if (rest[0] === "\n" || (rest[0] === ";" && rest !== ";;")) {
      endCommand();
      at++;
    } else if (rest[0] === "#") {
      const line = text.indexOf("\n", at);
      at = line < 0 ? text.length : line;
    } else if (/^\d?>/.test(rest)) {
      const end = outputToNowhere(text, at);
      if (end === null) return null;
      at = end;
    } else {
      const word = readWord(text, at);
      if (word === null || isGroupClosed) return null;
      at = word.end;
      const startsCommand = words.length === 0 && isPlain(word);
      if (startsCommand && word.value === "{") depth++;
      else if (startsCommand && word.value === "}") {
        if (--depth < 0) return null;
        isGroupClosed = true;
      } else words.push(word);
    }
  }
  endCommand();
  return depth === 0 ? commands : null;
}

function simple(words: readonly Word[]): SimpleCommand {
  const assignments = new Map<string, string>();
  let first = 0;
  for (const { value, plain } of words) {
    const [, name, set] = /^([A-Za-z_]\w*)=(.*)$/s.exec(value) ?? [];
    if (name === undefined || set === undefined || plain <= name.length) break;
    assignments.set(name, set);
    first++;
  }
  return { assignments, words: words.slice(first).map(({ value }) => value) };
}

const isPlain = ({ value, plain }: Word): boolean => plain === value.length;

/** `2>/dev/null`, `>&2`: where it ends. Any other file is something that a person wants to have. */
function outputToNowhere(text: string, at: number): number | null {
  const [operator = ""] = /^\d?>[>|&]?/.exec(text.slice(at, at + 3)) ?? [];
  const isCopy = operator.endsWith("&");
  let start = at + operator.length;
  while (text[start] === " " || text[start] === "\t") start++;
  const target = readWord(text, start);
  if (target === null) return null;
  const isFine = isCopy ? /^\d$/.test(target.value) : target.value === "/dev/null";
  return isFine ? target.end : null;
}

/** Characters that mean more than themselves in a word without quotes. */
const special = /[\s;&|<>()'"\\$`]/;

function readWord(text: string, start: number): Word | null {
  let value = "";
  let plain = -1;
  let at = start;
  while (at < text.length) {
    const char = text[at] ?? "";
    if (plain < 0 && /['"\\$]/.test(char)) plain = value.length;
    if (!special.test(char)) {
      value += char;
      at++;
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end < 0) return null;
      value += text.slice(at + 1, end);
      at = end + 1;
    } else if (char === '"') {
      const quoted = readQuoted(text, at + 1);
      if (quoted === null) return null;
      value += quoted.value;
      at = quoted.end;
    } else if (char === "\\") {
      if (at + 1 >= text.length) return null;
      if (text[at + 1] !== "\n") value += text[at + 1];
      at += 2;
    } else if (char === "$") {
      const variable = readVariable(text, at);
      if (variable === null) return null;
      value += variable;
      at += variable.length;
    } else break;
  }
  return at === start ? null : { value, plain: plain < 0 ? value.length : plain, end: at };
}

function readQuoted(text: string, start: number): { value: string; end: number } | null {
  let value = "";
  let at = start;
  while (at < text.length) {
    const char = text[at] ?? "";
    if (char === '"') return { value, end: at + 1 };
    if (char === "`") return null;
    if (char === "$") {
      const variable = readVariable(text, at);
      if (variable === null) return null;
      value += variable;
      at += variable.length;
    } else if (char === "\\" && /^[$`"\\\n]/.test(text.slice(at + 1, at + 2))) {
      if (text[at + 1] !== "\n") value += text[at + 1];
      at += 2;
    } else {
      value += char;
      at++;
    }
  }
  return null;
}

/** `$HOME` and `${HOME}`, as written; null for what runs a program or computes something. */
function readVariable(text: string, at: number): string | null {
  const [found] = /^\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})/.exec(text.slice(at, at + 256)) ?? [];
  return found ?? null;
}
