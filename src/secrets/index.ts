/**
 * Replaces what looks like a secret by `•••`, before anything is stored or shown. rules.ts has the table of what a secret looks
 * like; prefilter.ts skips the texts in which no rule can match.
 */
import { limits } from "../core/limits.ts";
import { findStringEnd } from "../core/text/json-text.ts";
import { mayContainSecret } from "./prefilter.ts";
import { isSecretByName, mask, rules } from "./rules.ts";

export interface Masker {
  maskText(text: string): string;
  /**
   * Masks JSON text. Only the insides of string values change. The caller knows that there is no secret before `from`.
   * `identifiers` names fields to leave as they are, beside the common ones.
   */
  maskJson(json: string, from?: number, identifiers?: ReadonlySet<string>): string;
}

/** `password=x` */
const minSecretLength = 10;
/**
 * The rules take up to a second for a million characters, and nothing else runs meanwhile. beckon shows no more than this of
 * a text; the rest is masked as a whole.
 */
const maxTextLength = limits.maxHookTextLength;
/** The same for all texts of one JSON text together. */
const maxTotalLength = 2 * maxTextLength;
/** What a mask covers can have hidden the start of the next secret. */
const maxPasses = 5;

/** Masking one of these could make two events, sessions or files look like one. */
const commonIdentifiers: ReadonlySet<string> = new Set(["id", "cwd", "workspace_id"]);

interface Budget {
  remainingLength: number;
}

/** With another filter, for tests. */
export function createMasker(filter: typeof mayContainSecret): Masker {
  function maskText(text: string): string {
    // Quotes around it, as in JSON: some hints include the character before a word.
    return filter(`"${text}"`) ? maskStart(text, maxTextLength) : text;
  }

  function maskJson(json: string, from = 0, identifiers: ReadonlySet<string> = commonIdentifiers): string {
    if (!filter(json, from)) return json;
    let masked = "";
    let copied = 0;
    let name: string | null = null;
    const budget = { remainingLength: maxTotalLength };
    for (let open = json.indexOf('"', from); open >= 0; ) {
      const close = findStringEnd(json, open);
      if (close < 0) break;
      const literal = json.slice(open, close + 1);
      const next = skipSpace(json, close + 1);
      if (json[next] === ":") {
        name = json[skipSpace(json, next + 1)] === '"' ? literal.slice(1, -1) : null;
      } else {
        const isIdentifier = name !== null && (commonIdentifiers.has(name) || identifiers.has(name));
        const value = isIdentifier && hasIdentifierShape(literal) ? null : maskLiteral(literal, name, budget);
        name = null;
        if (value !== null) {
          masked += json.slice(copied, open + 1) + value;
          copied = close;
        }
      }
      open = json.indexOf('"', next);
    }
    return copied === 0 ? json : masked + json.slice(copied);
  }

  /** The masked inside of a string literal. null if it stays as it is. */
  function maskLiteral(literal: string, name: string | null, budget: Budget): string | null {
    const inside = literal.slice(1, -1);
    if (name !== null && isSecretByName(name, inside)) return mask;
    if (inside.length < minSecretLength || !filter(literal)) return null;
    // The rules apply to what the string means, not to how it is escaped.
    const text = inside.includes("\\") ? decodeLiteral(literal) : inside;
    if (text === null) return null;
    const masked = maskStart(text, Math.min(maxTextLength, budget.remainingLength));
    budget.remainingLength = Math.max(0, budget.remainingLength - text.length);
    return masked === text ? null : JSON.stringify(masked).slice(1, -1);
  }

  return { maskText, maskJson };
}

export const { maskText, maskJson } = createMasker(mayContainSecret);

/** Applies the rules to that many characters at most, and masks what follows. */
function maskStart(text: string, maxLength: number): string {
  if (text.length <= maxLength) return applyRules(text);
  // A secret that is cut in two would not be recognized any more.
  let end = maxLength;
  while (end > 0 && /[^\s"']/.test(text[end - 1] ?? "")) end--;
  return applyRules(text.slice(0, end)) + mask;
}

const id = /^[\w.-]{1,200}$/;
const fullPath = /^(?:\/|[A-Za-z]:[\\/]|\\\\)(?:(?!:\/\/)\P{Cc})*$/u;

/** A field that should be an id or a path can be any text. */
function hasIdentifierShape(literal: string): boolean {
  const text = literal.includes("\\") ? decodeLiteral(literal) : literal.slice(1, -1);
  return text !== null && (id.test(text) || fullPath.test(text));
}

function applyRules(text: string): string {
  let masked = text;
  for (let pass = 0; pass < maxPasses; pass++) {
    const before = masked;
    for (const { apply } of rules) masked = apply(masked, mask);
    if (masked === before) break;
  }
  return masked;
}

function decodeLiteral(literal: string): string | null {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return null;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code === 32 || code === 10 || code === 13 || code === 9; ) {
    code = text.charCodeAt(++at);
  }
  return at;
}
