/** JSON as it is written: found and cut in the text itself, where to write it anew would cost more. */

/** Equal for equal texts: 32 bits and the length tell those of one session in one moment apart. */
export function hashText(text: string): string {
  return `${text.length.toString(36)}.${Bun.hash.xxHash32(text).toString(36)}`;
}

/** From a string's opening quote to its closing one; -1: there is none. */
export function findStringEnd(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); close >= 0; close = text.indexOf('"', close + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(close - 1 - backslashes) === 92) backslashes++;
    if (backslashes % 2 === 0) return close;
  }
  return -1;
}

/** Valid JSON, with null for the value of the one member of that name. Named twice or spelled otherwise, it stays as it is. */
export function blankMember(text: string, name: string, from: number): string {
  // Within a string its quotes would be escaped: this can only be a member's name.
  const written = `"${name}":`;
  const at = text.indexOf(written, from);
  if (at < 0) return text;
  const start = at + written.length;
  const end = endOfValue(text, start);
  if (end < 0 || text.includes(written, end)) return text;
  return `${text.slice(0, start)}null${text.slice(end)}`;
}

/** Just after it; -1: it has none. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = findStringEnd(text, at);
        if (at < 0 || depth === 0) return at < 0 ? -1 : at + 1;
        break;
      case "[":
      case "{":
        depth++;
        break;
      case "]":
      case "}":
        // A number or a word ends where that ends in which it stands.
        if (depth === 0) return at;
        if (--depth === 0) return at + 1;
        break;
      case ",":
        if (depth === 0) return at;
        break;
    }
  }
  return -1;
}
