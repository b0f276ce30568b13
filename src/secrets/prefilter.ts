/**
 * A quick test whether a text can contain a secret, computed from the hints of the rules. Nearly always it cannot, and then
 * nothing else was read than the hashes of three characters each.
 */
import { hashTriple, packWord } from "./hash.ts";
import { computeTable } from "./prefilter-table.ts" with { type: "macro" };
import type { Confirmation, FilterTable } from "./prefilter-table.ts";

const { words, wordsToConfirm, triples, texts, expressionSources } = readTable(JSON.parse(computeTable()));
const expressions: RegExp[] = [];

/** What is kept of the table: the app and the history's thread have one each, all the time. */
function readTable(table: FilterTable) {
  const confirmations = new Map<number, readonly Confirmation[]>();
  for (const [list, group] of table.wordsToConfirm) for (const word of group) confirmations.set(word, list);
  return {
    words: new Set(table.words) as ReadonlySet<number>,
    wordsToConfirm: confirmations as ReadonlyMap<number, readonly Confirmation[]>,
    triples: new Uint8Array(Buffer.from(table.triples, "base64")),
    texts: table.texts,
    expressionSources: table.expressions,
  };
}

/** A text with more words to confirm counts as one with a secret: each can take as long as hundreds of characters. */
const maxConfirmed = 1_000;
let confirmedCount = 0;

/** For plain text and JSON text. */
export function mayContainSecret(text: string, from = 0): boolean {
  if (containsWord(text, from)) return true;
  for (const [part, expression] of texts) {
    if (text.includes(part, from) && readExpression(expression).test(text)) return true;
  }
  return false;
}

/** Most expressions are never needed. */
function readExpression(index: number): RegExp {
  const known = expressions[index];
  if (known) return known;
  const [source = "", flags = ""] = expressionSources[index] ?? [];
  const expression = new RegExp(source, flags);
  expressions[index] = expression;
  return expression;
}

/** One of a word's two triples starts at every second character. */
function containsWord(text: string, from: number): boolean {
  confirmedCount = 0;
  const last = text.length - 2;
  let first = text.charCodeAt(from);
  for (let at = from; at < last; at += 2) {
    const third = text.charCodeAt(at + 2);
    const triple = triples[hashTriple(first, text.charCodeAt(at + 1), third)] ?? 0;
    if (triple !== 0 && isPartOfWord(text, at, triple)) return true;
    first = third;
  }
  return false;
}

function tripleAt(text: string, at: number): number {
  return triples[hashTriple(text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2))] ?? 0;
}

function isPartOfWord(text: string, at: number, triple: number): boolean {
  return ((triple & 1) !== 0 && isWord(text, at)) || ((triple & 2) !== 0 && at >= 1 && isWord(text, at - 1));
}

function isWord(text: string, at: number): boolean {
  // Of 36 places in an event where one triple of a word is found, three have both.
  if ((tripleAt(text, at) & 1) === 0 || (tripleAt(text, at + 1) & 2) === 0) return false;
  const word = packWord(text, at);
  if (words.has(word)) return true;
  const confirmations = wordsToConfirm.get(word);
  if (confirmations === undefined) return false;
  if (++confirmedCount > maxConfirmed) return true;
  return confirmations.some(([expression, offset]) =>
    matchesAt(readExpression(expression), text, at - offset),
  );
}

function matchesAt(sticky: RegExp, text: string, at: number): boolean {
  sticky.lastIndex = Math.max(0, at);
  return at >= 0 && sticky.test(text);
}
