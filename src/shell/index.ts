/**
 * Shell commands: what they would run (this file), and what that could destroy (dangers/). Nothing is run or expanded.
 *
 * One parser reads commands in two ways. Cautious, for dangers: every form of a shell, but null if a text could be read in
 * two ways, because a quote taken for another could hide a whole command. Exact, to recognize beckon's own commands: null for
 * everything but simple commands in a row.
 */

export interface Word {
  /** Without its quotes. What the shell would fill in stays as it is written: `$HOME/x`; `$(…)` becomes "$()". */
  readonly text: string;
  readonly isQuoted: boolean;
  /** How many characters come before the first quote or `$`. */
  readonly plainLength: number;
  /** True if only the shell knows its value: variables, substitutions, and patterns outside of quotes. */
  readonly isDynamic: boolean;
  /** The scripts of `$(…)`, backticks and `<(…)` in it. */
  readonly substitutions: readonly Script[];
}

export interface Redirect {
  readonly operator: string;
  readonly target: Word;
  /** The body of a here-document. null for other redirects. */
  readonly body: string | null;
}

export interface Command {
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
  /** The script of `( … )` or `{ …; }`. null if it is a simple command. */
  readonly group: Script | null;
}

export type Pipeline = readonly Command[];
export type Script = readonly Pipeline[];

export interface SimpleCommand {
  /** The NAME=value pairs before the program. */
  readonly assignments: ReadonlyMap<string, string>;
  /** Program and arguments, without their quotes. `$HOME` and `~` stay as they are written. */
  readonly words: readonly string[];
}

/** null if the text is not closed, is nested deeper than anybody would write it, or is ambiguous. */
export function parseShell(text: string): Script | null {
  return parse(text, false);
}

const maxExactLength = 65_536;

/** The commands that are joined by && || ; or newlines, also in { }. null if the text has anything else. */
export function parseSimpleCommands(text: string): readonly SimpleCommand[] | null {
  if (text.length > maxExactLength || text.includes("\0")) return null;
  const script = parse(text, true);
  return script && listSimpleCommands(script);
}

function listSimpleCommands(script: Script): readonly SimpleCommand[] {
  return script
    .flat()
    .flatMap(({ words, group }) =>
      group ? listSimpleCommands(group) : words.length > 0 ? [createSimpleCommand(words)] : [],
    );
}

function createSimpleCommand(words: readonly Word[]): SimpleCommand {
  const assignments = new Map<string, string>();
  for (const { text, plainLength } of words) {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined || plainLength <= name.length) break;
    assignments.set(name, value);
  }
  return { assignments, words: words.slice(assignments.size).map(({ text }) => text) };
}

class UnreadableError extends Error {}

interface Reader {
  readonly text: string;
  readonly isExact: boolean;
  /** `|` joins commands. Otherwise it is refused. */
  readonly mayPipe: boolean;
  position: number;
  /** Here-documents whose bodies begin on the next line. */
  hereDocuments: {
    readonly end: string;
    readonly isIndented: boolean;
    readonly onBody: (body: string) => void;
  }[];
}

/** The same, also joined by `|`, with all that is known of each word. */
export function parsePipelines(text: string): Script | null {
  return text.length > maxExactLength || text.includes("\0") ? null : parse(text, true, true);
}

function parse(text: string, isExact: boolean, mayPipe = !isExact): Script | null {
  try {
    const reader: Reader = { text, isExact, mayPipe, position: 0, hereDocuments: [] };
    const script = readScript(reader, "", 0);
    return reader.hereDocuments.length === 0 ? script : null;
  } catch (error) {
    if (error instanceof UnreadableError) return null;
    throw error;
  }
}

/** Forms that are more than a simple command. */
function refuseIfExact({ isExact }: Reader): void {
  if (isExact) throw new UnreadableError();
}

const maxDepth = 24;

interface OpenCommand {
  words: Word[];
  redirects: Redirect[];
  group: Script | null;
}

/** Reads commands up to `close` and steps over it. */
function readScript(reader: Reader, close: string, depth: number): Script {
  if (depth > maxDepth) throw new UnreadableError();
  const script: Command[][] = [];
  let pipeline: Command[] = [];
  let command: OpenCommand = { words: [], redirects: [], group: null };
  let openCases = 0;
  const isEmpty = () => command.words.length + command.redirects.length === 0 && command.group === null;
  const endCommand = () => {
    if (!isEmpty()) pipeline.push(command);
    command = { words: [], redirects: [], group: null };
  };
  const endPipeline = () => {
    endCommand();
    if (pipeline.length > 0) script.push(pipeline);
    pipeline = [];
  };
  const readGroup = (end: string) => {
    const group = readScript(reader, end, depth + 1);
    command.group = command.group ? [...command.group, ...group] : group;
  };
  while (reader.position < reader.text.length) {
    const { text, position } = reader;
    const char = text.charAt(position);
    const nextChar = text.charAt(position + 1);
    if (char === ")" && close === ")" && openCases === 0) {
      reader.position++;
      endPipeline();
      return script;
    }
    if (char === " " || char === "\t" || char === "\r" || text.startsWith("\\\n", position)) {
      if (char === "\r") refuseIfExact(reader);
      reader.position += char === "\\" ? 2 : 1;
    } else if (char === "\n") {
      reader.position++;
      endPipeline();
      readHereDocuments(reader);
    } else if (char === "#") {
      const end = text.indexOf("\n", position);
      reader.position = end === -1 ? text.length : end;
    } else if (isRedirect(reader)) {
      command.redirects.push(readRedirect(reader, depth));
    } else if (char === "|" && nextChar !== "|") {
      if (!reader.mayPipe || nextChar === "&" || isEmpty()) refuseIfExact(reader);
      reader.position += nextChar === "&" ? 2 : 1;
      endCommand();
    } else if (";&|)".includes(char) || (char === "(" && openCases > 0)) {
      if (reader.isExact) reader.position += readSeparator(char, nextChar, isEmpty());
      else reader.position++;
      // `*)` of a `case` is a pattern, not a program.
      if (char === ")" && openCases > 0 && isPattern(command)) command.words = [];
      endPipeline();
    } else if (char === "(") {
      refuseIfExact(reader);
      reader.position++;
      const isFunction = command.words.length > 0 && /^\(\s*\)/.test(text.slice(position, position + 16));
      readGroup(")");
      // `name() { …`: the body is what it runs.
      if (isFunction) endPipeline();
    } else {
      const words = readWord(reader, depth);
      const bare = words[0]?.isQuoted === false ? words[0].text : "";
      const [first] = command.words;
      const opensGroup = bare === "{" && (first === undefined || first.text === "function");
      const closesGroup = bare === "}" && close === "}" && first === undefined;
      // A word after `}` makes no sense, and `}` needs a `{`.
      const isMisplaced = command.group !== null || (bare === "}" && first === undefined && !closesGroup);
      if (isMisplaced && !(closesGroup && command.group === null)) refuseIfExact(reader);
      if (opensGroup) {
        readGroup("}");
        continue;
      }
      if (closesGroup) {
        endPipeline();
        return script;
      }
      if (first === undefined && bare === "case") openCases++;
      if (first === undefined && bare === "esac" && openCases > 0) openCases--;
      command.words.push(...words);
    }
  }
  if (close !== "") throw new UnreadableError();
  endPipeline();
  return script;
}

/** One word with `*`, `?` or `[ ]`, without a folder and without anything that the shell runs or fills in. */
function isPattern({ words, redirects, group }: Command): boolean {
  const [word, ...others] = words;
  if (!word || others.length + redirects.length > 0 || group) return false;
  return word.isDynamic && word.substitutions.length === 0 && !/[/$`{]/.test(word.text);
}

/** The length of `;`, `&&` or `||` in exact mode. Jobs, `;;` and an operator without a command before it are refused. */
function readSeparator(char: string, nextChar: string, isEmpty: boolean): number {
  if (char === ";" && nextChar !== ";") return 1;
  if ((char === "&" || char === "|") && nextChar === char && !isEmpty) return 2;
  throw new UnreadableError();
}

const redirectPattern = /\d{0,4}(?:<<<|<<-?|<>|<&|>>|>\||>&|<(?!\()|>(?!\())|&>>?/y;

function isRedirect(reader: Reader): boolean {
  redirectPattern.lastIndex = reader.position;
  return redirectPattern.test(reader.text);
}

function readRedirect(reader: Reader, depth: number): Redirect {
  redirectPattern.lastIndex = reader.position;
  const operator = (redirectPattern.exec(reader.text)?.[0] ?? "").replace(/^\d+/, "");
  reader.position = redirectPattern.lastIndex;
  while (/^[ \t]$/.test(reader.text.charAt(reader.position))) reader.position++;
  const [target] = readWord(reader, depth);
  if (!target) throw new UnreadableError();
  if (!discardsOutput(operator, target)) refuseIfExact(reader);
  if (!operator.startsWith("<<") || operator === "<<<") return { operator, target, body: null };
  const substitutions: Script[] = [...target.substitutions];
  const redirect: { operator: string; target: Word; body: string | null } = {
    operator,
    target: { ...target, substitutions },
    body: null,
  };
  const onBody = (body: string) => {
    redirect.body = body;
    if (target.isQuoted) return;
    readQuotedText({ ...reader, text: body, position: 0, hereDocuments: [] }, "", depth + 1, substitutions);
  };
  reader.hereDocuments.push({ end: target.text, isIndented: operator === "<<-", onBody });
  return redirect;
}

/** `2>/dev/null`, `>&2`. Any other file is one that the user wants to have. */
function discardsOutput(operator: string, target: Word): boolean {
  if (operator === ">&") return /^\d$/.test(target.text);
  return /^>[>|]?$/.test(operator) && target.text === "/dev/null";
}

function readHereDocuments(reader: Reader): void {
  const { hereDocuments, text } = reader;
  reader.hereDocuments = [];
  for (const { end, isIndented, onBody } of hereDocuments) {
    const from = reader.position;
    let body: string | null = null;
    while (body === null) {
      if (reader.position >= text.length) throw new UnreadableError();
      const start = reader.position;
      const stop = text.indexOf("\n", start);
      reader.position = stop === -1 ? text.length : stop + 1;
      const whole = text.slice(start, stop === -1 ? undefined : stop);
      const line = isIndented ? whole.replace(/^\t+/, "") : whole;
      if (line === end) body = text.slice(from, start);
      // Some shells end the document here, others do not.
      else if (line.startsWith(`${end})`)) throw new UnreadableError();
    }
    onBody(body);
  }
}

/** Usually one word. `rm${IFS}-rf` is two, because the shell splits it as well. */
function readWord(reader: Reader, depth: number): Word[] {
  const substitutions: Script[] = [];
  let text = "";
  let isQuoted = false;
  let isDynamic = false;
  let plainLength: number | null = null;
  const from = reader.position;
  while (reader.position < reader.text.length) {
    const char = reader.text.charAt(reader.position);
    const nextChar = reader.text.charAt(reader.position + 1);
    if (/['"\\$`]/.test(char)) plainLength ??= text.length;
    if ((char === "<" || char === ">") && nextChar === "(") {
      refuseIfExact(reader);
      reader.position += 2;
      substitutions.push(readScript(reader, ")", depth + 1));
      text += `${char}()`;
      isDynamic = true;
    } else if (" \t\r\n;&|()<>".includes(char)) {
      break;
    } else if (char === "\\") {
      if (nextChar === "") refuseIfExact(reader);
      reader.position += 2;
      if (nextChar !== "\n") text += nextChar;
      isQuoted ||= nextChar !== "\n";
    } else if (char === "'") {
      text += readUntil(reader, reader.position + 1, "'", false);
      isQuoted = true;
    } else if (char === "$" && nextChar === "'") {
      refuseIfExact(reader);
      text += decodeEscapes(readUntil(reader, reader.position + 2, "'", true));
      isQuoted = true;
    } else if (char === '"' || (char === "$" && nextChar === '"')) {
      if (char === "$") refuseIfExact(reader);
      reader.position += char === '"' ? 1 : 2;
      const quoted = readQuotedText(reader, '"', depth, substitutions);
      text += quoted.text;
      isDynamic ||= quoted.isDynamic;
      isQuoted = true;
    } else if (char === "$" || char === "`") {
      const expansion = readExpansion(reader, depth, substitutions, false);
      text += expansion;
      isDynamic ||= expansion !== "$";
    } else {
      // zsh has more patterns: `^x`, `a~b` and `x#`.
      if ("*?[{".includes(char) || (reader.isExact && "~^#".includes(char))) isDynamic = true;
      text += char;
      reader.position++;
    }
  }
  if (reader.position === from) throw new UnreadableError();
  const word = { text, isQuoted, plainLength: plainLength ?? text.length, isDynamic, substitutions };
  return isDynamic && !reader.isExact ? splitAtIfs(word) : [word];
}

function splitAtIfs(word: Word): Word[] {
  const parts = word.text.split(/\$(?:IFS\b|\{IFS[^}]*\})(?:\$\d)?/).filter((part) => part !== "");
  if (parts.length < 2) return [word];
  return parts.map((text, index) => ({
    ...word,
    text,
    isDynamic: /[$*?[{]/.test(text),
    substitutions: index === 0 ? word.substitutions : [],
  }));
}

/** Reads up to `close` and over it, as in double quotes: only `$`, backticks and some backslashes are special. */
function readQuotedText(
  reader: Reader,
  close: string,
  depth: number,
  substitutions: Script[],
): { text: string; isDynamic: boolean } {
  if (depth > maxDepth) throw new UnreadableError();
  let text = "";
  let isDynamic = false;
  while (reader.position < reader.text.length) {
    const char = reader.text.charAt(reader.position);
    if (char === close) {
      reader.position++;
      return { text, isDynamic };
    }
    if (char === "\\") {
      const nextChar = reader.text.charAt(reader.position + 1);
      if (nextChar !== "\n") text += '$`"\\'.includes(nextChar) ? nextChar : `\\${nextChar}`;
      reader.position += 2;
    } else if (char === "$" || char === "`") {
      const expansion = readExpansion(reader, depth, substitutions, close === '"');
      isDynamic ||= expansion !== "$";
      text += expansion;
    } else {
      text += char;
      reader.position++;
    }
  }
  if (close !== "") throw new UnreadableError();
  return { text, isDynamic };
}

function readExpansion(reader: Reader, depth: number, substitutions: Script[], isInQuotes: boolean): string {
  const { text, position } = reader;
  if (reader.isExact) return readVariable(reader);
  if (text.charAt(position) === "`") {
    const code = readUntil(reader, position + 1, "`", true).replace(/\\([\\`$])/g, "$1");
    // Inside double quotes, shells disagree on a backslash before a quote.
    if (isInQuotes && code.includes('\\"')) throw new UnreadableError();
    const inner: Reader = { ...reader, text: code, position: 0, hereDocuments: [] };
    substitutions.push(readScript(inner, "", depth + 1));
    if (inner.hereDocuments.length > 0) throw new UnreadableError();
    return "$()";
  }
  const arithmetic = readArithmetic(reader);
  if (arithmetic !== null) return arithmetic;
  if (text.startsWith("$(", position)) {
    reader.position += 2;
    substitutions.push(readScript(reader, ")", depth + 1));
    return "$()";
  }
  if (text.startsWith("${", position)) {
    reader.position += 2;
    skipBraces(reader, depth + 1, substitutions, isInQuotes);
    return text.slice(position, reader.position);
  }
  const name = /\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])?/y;
  name.lastIndex = position;
  const expansion = name.exec(text)?.[0] ?? "$";
  reader.position += expansion.length;
  return expansion;
}

/**
 * `$((1 << 3))`, where `<<` and `#` are operators. null if it has quotes or substitutions, or may be a subshell in a substitution:
 * `$((a) | (b))`.
 */
function readArithmetic(reader: Reader): string | null {
  if (!reader.text.startsWith("$((", reader.position)) return null;
  const pattern = /\$\(\([\w \t+\-*/%<>=!&|^~?:,#.()]{0,200}\)\)/y;
  pattern.lastIndex = reader.position;
  const text = pattern.exec(reader.text)?.[0];
  if (text === undefined) return null;
  let open = 0;
  for (const [n, char] of [...text].entries()) {
    if (char === "(") open++;
    if (char === ")") open--;
    const isEnd = n === text.length - 1;
    if (open < (n > text.length - 3 ? 0 : n > 1 ? 2 : 0) || (isEnd && open !== 0)) return null;
  }
  reader.position += text.length;
  return text;
}

/** `$HOME` and `${HOME}`, as they are written. Everything else runs a program or computes something. */
function readVariable(reader: Reader): string {
  const variable = /\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})/y;
  variable.lastIndex = reader.position;
  const text = variable.exec(reader.text)?.[0];
  if (text === undefined) throw new UnreadableError();
  reader.position += text.length;
  return text;
}

function skipBraces(reader: Reader, depth: number, substitutions: Script[], isInQuotes: boolean): void {
  if (depth > maxDepth) throw new UnreadableError();
  while (reader.position < reader.text.length) {
    const char = reader.text.charAt(reader.position);
    if (char === "}") {
      reader.position++;
      return;
    }
    if (char === "\\") reader.position += 2;
    else if (char === "$" || char === "`") readExpansion(reader, depth, substitutions, isInQuotes);
    else if (char === '"') {
      reader.position++;
      readQuotedText(reader, '"', depth, substitutions);
    } else if (char === "'") {
      // Inside double quotes it is a quote in some of these forms, and not in others.
      if (isInQuotes) throw new UnreadableError();
      readUntil(reader, reader.position + 1, "'", false);
    } else reader.position++;
  }
  throw new UnreadableError();
}

/** The text from `from` up to `close`. The reader steps over it. */
function readUntil(reader: Reader, from: number, close: string, hasEscapes: boolean): string {
  let end = from;
  while (end < reader.text.length && reader.text.charAt(end) !== close) {
    end += hasEscapes && reader.text.charAt(end) === "\\" ? 2 : 1;
  }
  if (end >= reader.text.length) throw new UnreadableError();
  reader.position = end + 1;
  return reader.text.slice(from, end);
}

const escapeNames: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", e: "\x1b", E: "\x1b" };
const escapePattern = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))/gs;

/** Decodes the escapes of `$'\x72m'`. */
function decodeEscapes(text: string): string {
  return text.replace(escapePattern, (_, x, u, long, octal, char) => {
    const hex = x ?? u ?? long;
    const code = hex === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(hex, 16);
    if (Number.isNaN(code)) return escapeNames[char] ?? char;
    return code <= 0x10ffff ? String.fromCodePoint(code) : "";
  });
}
