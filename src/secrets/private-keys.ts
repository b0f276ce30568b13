/** Private keys: PEM, OpenSSH, PGP and PuTTY. Texts are cut, so the start or the end of a key can be missing. */
import type { SecretHint } from "./hints.ts";

export const privateKeyHints: readonly SecretHint[] = ["E KE", "e-Li"];

/** From the BEGIN line to the END line, or as far as the body goes if the text was cut. */
export function maskPrivateKeys(text: string, mask: string): string {
  return maskPuttyKeys(maskEnds(maskBlocks(text, mask), mask), mask);
}

function maskBlocks(text: string, mask: string): string {
  const begin = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{4,5}/g;
  let masked = "";
  let copied = 0;
  let hasEnd = true;
  for (let match = begin.exec(text); match; match = begin.exec(text)) {
    const end: number = hasEnd ? text.indexOf("---END", begin.lastIndex) : -1;
    hasEnd = end >= 0;
    masked += text.slice(copied, match.index) + mask;
    copied = end < 0 ? findEndOfBody(text, begin.lastIndex) : findEndOfEndLine(text, end);
    begin.lastIndex = copied;
  }
  return copied === 0 ? text : masked + text.slice(copied);
}

function findEndOfEndLine(text: string, from: number): number {
  const endLine = /---END [A-Z0-9 ]{0,60}-{3,5}/y;
  endLine.lastIndex = from;
  return endLine.test(text) ? endLine.lastIndex : from + "---END".length;
}

function findEndOfBody(text: string, from: number): number {
  const body = /[\w+/=\s\\:,.-]*/y;
  body.lastIndex = from;
  body.test(text);
  return body.lastIndex;
}

/** The last lines of a key whose BEGIN line is missing. */
function maskEnds(text: string, mask: string): string {
  const lines =
    /(?:[A-Za-z0-9+/]{16,}(?:\s|\\[nr]){1,4})+(?:[A-Za-z0-9+/]{1,80}={0,2}(?:\s|\\[nr]){0,4})?-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{4,5}/g;
  return text.includes("PRIVATE KEY") ? text.replace(lines, mask) : text;
}

function maskPuttyKeys(text: string, mask: string): string {
  return text.replace(
    /(Private-Lines: \d{1,3}(?:\s|\\[nr]){1,4})(?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|\\r?\\?n|$)){1,200}/g,
    `$1${mask}\n`,
  );
}
