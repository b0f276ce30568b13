/**
 * Covers what looks like a secret in an event's JSON text, before it is kept anywhere. Only the insides of string values
 * change, so the text stays the same JSON with the same keys.
 */
import { findStringEnd } from "../core/text/json-text.ts";
import { mayContainSecret } from "./prefilter.ts";
import { isSecretByName, mask, maskText } from "./rules.ts";

/**
 * A closer look at a text that may hold a secret (a private key begins with `PRIVATE KEY-` or `PRIVATE KEY BLOCK-`). Many
 * small expressions and not one big one: measured per KB, these take 1.3 µs in all, as one expression they took 3.6.
 */
const hints: readonly RegExp[] = [
  /AIza|A[KS]IA|eyJ/,
  /gh[pousr]_[A-Za-z0-9]/,
  /npm_[A-Za-z0-9]/,
  /x[oa][xp][a-z]-/,
  /[^ai]sk-\w/,
  /k_(?:live|test)_/,
  /glpat-|_pat_/,
  /hvs\.|dop_v1_/,
  /SG\.|pypi-/,
  /hf_/,
  /[sS][sS][wW]/,
  /_[pP][aAwW][sSdD]/,
  /[kK][eE][yYnN](?: [=:B]|[\d\\"'=:_-])/,
  /[kK][eE][yY]\s|[tT][oO][kK][eE][nN]\s/,
  /ecret|ECRET/,
  /[aA][uU][tT][hH][oO][rR][iI][zZ][aA]/,
  /[eE][aA][rR][eE][rR](?: |\\)/,
];

/** `password=x` */
const shortest = 10;
const credentials = /:\\?\/\\?\/[^\s/]*@/;
const login = /(?:\s|\\[nrt])(?:-u|--user)(?:[\s=]|\\)/;

function mayHoldSecrets(text: string): boolean {
  for (const hint of hints) if (hint.test(text)) return true;
  return (text.includes("@") && credentials.test(text)) || (text.includes("curl") && login.test(text));
}

/** What comes before `from` holds no secrets. */
export function maskJson(text: string, from = 0): string {
  // Nearly always this is all.
  if (!mayContainSecret(text, from)) return text;
  if (from === 0) return maskValues(text);
  const rest = text.slice(from);
  const masked = maskValues(rest);
  return masked === rest ? text : text.slice(0, from) + masked;
}

function maskValues(text: string): string {
  if (!mayHoldSecrets(text)) return text;
  let out = "";
  let copied = 0;
  let name: string | null = null;
  for (let open = text.indexOf('"'); open >= 0; ) {
    const close = findStringEnd(text, open);
    if (close < 0) break;
    const literal = text.slice(open, close + 1);
    const next = skipSpace(text, close + 1);
    if (text[next] === ":") {
      name = text[skipSpace(text, next + 1)] === '"' ? literal.slice(1, -1) : null;
    } else {
      const masked = maskString(literal, name);
      name = null;
      if (masked !== null) {
        out += text.slice(copied, open + 1) + masked;
        copied = close;
      }
    }
    open = text.indexOf('"', next);
  }
  return copied === 0 ? text : out + text.slice(copied);
}

/** What tells events, sessions and files apart: two that were masked alike would become one. */
const identifiers: ReadonlySet<string> = new Set([
  ...["id", "session_id", "sessionId", "prompt_id", "tool_use_id", "agent_id", "agent_transcript_path"],
  ...["cwd", "transcript_path", "workspace_id", "hook_event_name"],
]);

/** On what the string says, not on how it is escaped. null: leave it. */
function maskString(literal: string, name: string | null): string | null {
  const raw = literal.slice(1, -1);
  if (name !== null && identifiers.has(name)) return null;
  if (name !== null && isSecretByName(name, raw)) return mask;
  if (raw.length < shortest || !mayHoldSecrets(literal)) return null;
  const text = raw.includes("\\") ? decode(literal) : raw;
  if (text === null) return null;
  const masked = maskText(text);
  return masked === text ? null : JSON.stringify(masked).slice(1, -1);
}

function decode(literal: string): string | null {
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
