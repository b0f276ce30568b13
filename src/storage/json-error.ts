/** Says where JSON that a user wrote is wrong, and how. */
import { type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";

/** `line 3, column 1: nothing follows after the last comma: remove the comma`. null if no error is found. */
export function describeJsonError(text: string): string | null {
  const errors: ParseError[] = [];
  try {
    parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return "nested too deeply to be read";
  }
  const [first] = errors.sort((a, b) => a.offset - b.offset);
  if (!first) return null;
  const { line, column } = locateOffset(text, first.offset);
  return `line ${line}, column ${column}: ${describeParseError(text, first)}`;
}

/** Counted from 1. */
export function locateOffset(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lines = before.match(/\r\n|\n|\r/g) ?? [];
  const start = Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r")) + 1;
  return { line: lines.length + 1, column: [...before.slice(start)].length + 1 };
}

const descriptions: Readonly<Record<string, string>> = {
  InvalidNumberFormat: "a number that JSON does not allow",
  PropertyNameExpected: 'a name in double quotes ("…") is missing here',
  ValueExpected: "a value is missing here",
  ColonExpected: "a colon (:) is missing here",
  CommaExpected: "a comma is missing before this",
  CloseBraceExpected: "a closing } is missing here",
  CloseBracketExpected: "a closing ] is missing here",
  EndOfFileExpected: "something follows after the end of the settings",
  InvalidCommentToken: "a comment, which JSON does not allow: remove it",
  UnexpectedEndOfComment: "a comment, which JSON does not allow: remove it",
  UnexpectedEndOfString: 'a string without its closing "',
  UnexpectedEndOfNumber: "a number that JSON does not allow",
  InvalidUnicode: "\\u needs four hexadecimal digits",
  InvalidEscapeCharacter: "an unknown escape sequence: write \\\\ for a backslash",
  InvalidCharacter: "a control character in a string",
};

export function describeParseError(body: string, { error, offset, length }: ParseError): string {
  const name = printParseErrorCode(error);
  const isMissing = name === "PropertyNameExpected" || name === "ValueExpected";
  if (isMissing && body.slice(0, offset).trimEnd().endsWith(","))
    return "nothing follows after the last comma: remove the comma";
  const excerpt = body.slice(offset, offset + Math.min(length, 20));
  if (/^(?:<{7}|={7}|>{7})/.test(body.slice(offset, offset + 7))) return "an unresolved merge conflict";
  if (excerpt.startsWith("'")) return 'strings need double quotes (")';
  return descriptions[name] ?? `${JSON.stringify(excerpt)} is not valid JSON`;
}
