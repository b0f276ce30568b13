/** Turns what a terminal sends into keys. */

/** A character, or the name of a key: "up", "enter", "ctrl-c". */
export type Input =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "paste"; readonly text: string };

export interface KeyReader {
  read(chunk: string): Input[];
  /** Whether the start of a sequence is kept. If nothing follows it soon, it was the Escape key. */
  isWaiting(): boolean;
  /** Nothing followed. */
  flush(): Input[];
}

const controls: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x03": "ctrl-c",
  "\x04": "ctrl-d",
  "\x0c": "ctrl-l",
  "\x0e": "down",
  "\x10": "up",
  "\x15": "ctrl-u",
  "\x1a": "ctrl-z",
};

/** The end of a sequence after ESC [ or ESC O. */
const sequences: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  M: "enter",
  "1~": "home",
  "4~": "end",
  "5~": "pageup",
  "6~": "pagedown",
  "7~": "home",
  "8~": "end",
};

const esc = "\x1b";
const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";
const maxPaste = 10_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send them
const sequence = /\x1b(?:\[([\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e])|O([\x40-\x7e]))/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send them
const incomplete = /^\x1b(?:\[[\x30-\x3f]*[\x20-\x2f]*|O)?$/;

export function createKeyReader(): KeyReader {
  /** What was not understood yet. */
  let rest = "";
  let pasted: string | null = null;

  function read(chunk: string): Input[] {
    const text = rest + chunk;
    const inputs: Input[] = [];
    let at = 0;
    rest = "";
    while (at < text.length) {
      if (pasted !== null) {
        const end = text.indexOf(pasteEnd, at);
        // The end marker itself may be cut in two.
        const until = end < 0 ? Math.max(at, text.length - pasteEnd.length + 1) : end;
        pasted = (pasted + text.slice(at, until)).slice(0, maxPaste);
        if (end < 0) {
          rest = text.slice(until);
          return inputs;
        }
        inputs.push({ kind: "paste", text: pasted });
        pasted = null;
        at = end + pasteEnd.length;
        continue;
      }
      const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
      if (char !== esc) {
        const key = controls[char] ?? (/\p{Cc}/u.test(char) ? null : char);
        if (key !== null) inputs.push({ kind: "key", key });
        at += char.length;
        continue;
      }
      if (text.startsWith(pasteStart, at)) {
        pasted = "";
        at += pasteStart.length;
        continue;
      }
      sequence.lastIndex = at;
      const match = sequence.exec(text);
      if (match) {
        const key = sequences[match[1] ?? match[2] ?? ""];
        if (key !== undefined) inputs.push({ kind: "key", key });
        at = sequence.lastIndex;
      } else if (incomplete.test(text.slice(at))) {
        rest = text.slice(at);
        return inputs;
      } else {
        // Alt and a key: not the key alone.
        at += 1 + String.fromCodePoint(text.codePointAt(at + 1) ?? 0).length;
      }
    }
    return inputs;
  }

  return {
    read,
    isWaiting: () => rest !== "" && pasted === null,
    flush() {
      const isEscape = rest === esc;
      rest = "";
      return isEscape ? [{ kind: "key", key: "escape" }] : [];
    },
  };
}
