import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createKeyReader, type Input } from "../../../src/cli/watch/keys.ts";

const read = (...chunks: string[]): readonly string[] => {
  const reader = createKeyReader();
  const inputs = [...chunks.flatMap((chunk) => reader.read(chunk)), ...reader.flush()];
  return inputs.map((input: Input) => (input.kind === "key" ? input.key : `paste ${input.text}`));
};

describe("what a terminal sends becomes keys", () => {
  test.each([
    ["j", ["j"]],
    ["jk/é", ["j", "k", "/", "é"]],
    ["\u{1f600}", ["\u{1f600}"]],
    ["\x1b[A\x1b[B", ["up", "down"]],
    ["\x1bOA", ["up"]],
    ["\x1b[5~\x1b[6~", ["pageup", "pagedown"]],
    ["\x1b[H\x1b[F\x1b[1~\x1b[4~", ["home", "end", "home", "end"]],
    ["\r\n\t\x7f", ["enter", "enter", "tab", "backspace"]],
    ["\x03\x04\x1a", ["ctrl-c", "ctrl-d", "ctrl-z"]],
    ["\x1b", ["escape"]],
    // A mouse, a function key, an answer of the terminal: not keys that mean anything here.
    ["\x1b[<0;1;1M\x1b[15~\x1b[?62;c\x01\x9b", []],
  ])("%j", (text, keys) => {
    expect(read(text)).toEqual(keys);
  });

  test("Alt and a key is not the key alone", () => {
    expect(read("\x1ba\x1by")).toEqual([]);
  });

  test("a sequence may come in pieces", () => {
    expect(read("\x1b", "[", "A", "j")).toEqual(["up", "j"]);
    expect(read("\x1b[5", "~")).toEqual(["pageup"]);
  });

  test("pasted text is not typed, whatever it contains", () => {
    expect(read("\x1b[200~ay\ry\x1b[201~j")).toEqual(["paste ay\ry", "j"]);
    expect(read("\x1b[200~a\x1b[2", "01", "~a")).toEqual(["paste a", "a"]);
    expect(read("\x1b[200~aaa", "yyy")).toEqual([]);
  });

  test("whatever comes, in whatever pieces, is read to the end", () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom("\x1b", "[", "200~", "\x1b[200~", "\x1b[201~", "O", "A"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        expect(() => read(...pieces)).not.toThrow();
        const keys = read(...pieces, "\x1b[201~", "\x1b[201~");
        for (const key of keys.filter((known) => !known.startsWith("paste "))) {
          expect(key).not.toMatch(/\p{Cc}/u);
        }
      }),
    );
  });
});
