/** What a rule tells the prefilter: a text in which no hint of a rule occurs has no match of that rule. */

/**
 * A text that each match contains, as a regular expression. What counts of it is the start made of characters, `[…]`, `\w`
 * and `{n}`, of four characters or more. With `near`, a sticky expression that also has to match where that text starts. Or, for a rule without
 * four fixed characters, a text to look for and an expression to confirm it. All of them hold for plain text and for JSON text.
 */
export type SecretHint =
  | string
  | { readonly word: string; readonly near: RegExp }
  | { readonly includes: string; readonly confirm: RegExp };

/** `word` in any case, followed by what `rest` matches, which does not start with a letter. */
export function nameHint(word: string, rest: string): SecretHint {
  return { word: inAnyCase(word), near: new RegExp(`${word}(?![a-z])${rest}`, "iy") };
}

export function inAnyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
