/** Edits JSON in its text, where parsing and writing it again would cost more. */

/**
 * Equal for equal texts, and for no others: a text that an agent writes must not pass for another that was shown. Two texts with
 * one 32-bit hash are found in seconds. Not node:crypto, which would be loaded at every hook, and not Bun.CryptoHasher, which takes 4 µs
 * for what takes 1 µs here.
 */
export function hashText(text: string): string {
  return Bun.SHA256.hash(text, "base64url");
}

/** Equal for equal values. Empty for a value that is nested too deep to be written as JSON. */
export function hashJson(value: object): string {
  try {
    return hashText(JSON.stringify(value));
  } catch {
    return "";
  }
}

/** A character of one UTF-16 unit as JSON and JavaScript escape it: `\u001b`. */
export const escapeUnit = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns the index of the closing quote of the string that opens at `open`, -1 if there is none. */
export function findStringEnd(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); close >= 0; close = text.indexOf('"', close + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(close - 1 - backslashes) === 92) backslashes++;
    if (backslashes % 2 === 0) return close;
  }
  return -1;
}

/** Replaces the value of the only member of that name by null. Leaves the text as it is if the name occurs twice or is escaped. */
export function blankMember(text: string, name: string, from: number): string {
  // Inside a string the quotes would be escaped, so this can only be a member's name.
  const member = `"${name}":`;
  const at = text.indexOf(member, from);
  if (at < 0) return text;
  const start = at + member.length;
  const end = findValueEnd(text, start);
  if (end < 0 || text.includes(member, end)) return text;
  return `${text.slice(0, start)}null${text.slice(end)}`;
}

/** Returns the index just after the value, -1 if it does not end. */
function findValueEnd(text: string, start: number): number {
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
        // A number, true, false or null ends with the object or array that contains it.
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
