/**
 * Secrets next to a name that announces one: `DB_PASSWORD=…`, `"apiKey": "…"`, `X-Auth-Token: …`, `--password …`, and "the
 * password is …". The name tells how much the value may look like something else.
 */
import { inAnyCase, nameHint, type SecretHint } from "./hints.ts";
import { isExpression, isPlaceholder, isRandom, isReference, isSlug, mayBeRandom } from "./values.ts";

/** Any value counts that is not a reference or a placeholder. */
const passwordName =
  /(?:passw(?:or)?d|passwort|pass[_-]?phrase|passcode|(?<![a-z])pass|(?:^|[_.-])pwd|[a-z]P(?:ass|wd))$/i;
/** A value of eight characters counts if it is not made of words. */
const secretName =
  /(?:(?:api|access|secret|private|priv|signing|encryption|account|master|auth|service|client|app|license|subscription|admin|webhook)[ _-]?key|secret(?:[ _-]?key[ _-]?base)?|token|credentials?|(?:^|[_.-])psk)$/i;
/** Other keys, as `STRIPE_KEY` and `X-Custom-Key`: only random values of 16 characters and more. */
const otherName = /(?:[_-]key|[a-z0-9]Key|KEY|(?:^|[_.-])auth|signature|key-data)$/;
const publicName =
  /(?:cache|public|primary|foreign|partition|sort|row|hot|idempotency|dedupe|lookup|object|bucket|group|route|query|map|index|composite|translation|message|host|known)[_. -]?key$|(?:next|page|continuation|cancellation|cancel|stop|start|end|eos|bos|pad|unk|mask|sync)[_. -]?token$/i;

type NameKind = "password" | "secret" | "other" | null;

function kindOfName(name: string): NameKind {
  if (passwordName.test(name)) return "password";
  if (publicName.test(name)) return null;
  if (secretName.test(name)) return "secret";
  return otherName.test(name) ? "other" : null;
}

/** "API key" */
function kindOfWords(before: string, name: string): NameKind {
  return /^key$/i.test(name) && /(?:^|[^\w-])(?:api|access|secret|private|license) $/i.test(before.slice(-10))
    ? "secret"
    : null;
}

/** Fields of JSON: `"api_key": "…"`. The value is a secret because of its name, whatever it looks like. */
export function isSecretByName(name: string, value: string): boolean {
  if (value === "" || value.includes("•••") || isReference(value) || isPlaceholder(value)) return false;
  if (/authorization$/i.test(name)) return true;
  if (/cookies?$/i.test(name)) return maskCookieValues(value, "") !== value;
  switch (kindOfName(name)) {
    case "password":
      return true;
    case "secret":
      return value.length >= 8;
    case "other":
      return value.length >= 16 && (/_KEY$/.test(name) || isRandom(value, 16));
    case null:
      return false;
  }
}

const names =
  "passw(?:or)?d|passwort|pass[_-]?phrase|passcode|pass|pwd|psk|token|secret|credentials?|key(?:[_-]data|[_-]base)?|auth|signature";
/** `DB_PASSWORD_STAGING`, `API_KEY_2`, `SECRET_B64` */
const suffix =
  "(?:[_-](?:b64|base64|hex|prod|production|staging|stage|dev|development|test|live|local|old|new))?[_-]?\\d{0,2}";
/** A shell joins the lines. */
const lineContinuation = String.raw`(?:\\\r?\n)`;
/** Between a name and its value. Quotes can be escaped once or more. */
const assignment = String.raw`\\{0,4}["'${"`"}]?\]?\s{0,4}(?::=|=>|\?\?=|[:=])\s{0,4}${lineContinuation}?\\{0,4}`;
const unquotedCharacter = String.raw`[^\s"'${"`"}•&;|<>]`;
/** Enough to judge a value; it can be longer. */
const maxJudged = 128;
/** A value in a sentence starts with a digit among these characters after its name. */
const maxWordDistance = 120;

/** Between two arguments: `define("DB_PASSWORD", "…")` */
const nextArgument = String.raw`\\{0,4}["']\s{0,4},\s{0,4}\\{0,4}(?=["'])`;

/** Groups: the name, the assignment, the quote, the value. */
const assigned = new RegExp(
  `(${names})(${suffix}(?:${assignment}|${nextArgument}))(?:(["'\`])([^"'\`\\r\\n•]{1,${maxJudged}})|(${unquotedCharacter}{1,${maxJudged}}))`,
  "gi",
);
/** Short names count only as words of their own. */
const shortNameStarts = String.raw`_"'.;&?,\-`;
const shortNameStart = new RegExp(`(?:^|[${shortNameStarts}])$`);
const isShortName = (name: string): boolean => /^(?:auth|pwd|psk)$/i.test(name);
const restOfUnquoted = new RegExp(`(?:${lineContinuation}|${unquotedCharacter})*`, "y");
const restOfQuoted: Readonly<Record<string, RegExp>> = {
  '"': /[^"\r\n•]*/y,
  "'": /[^'\r\n•]*/y,
  "`": /[^`\r\n•]*/y,
};
const maxIdentifier = 48;

const continuation = new RegExp(lineContinuation);

/** `NAME=value`, `name: "value"` */
export function maskAssignments(text: string, mask: string): string {
  return replaceValues(text, assigned, mask, (match) => {
    const [, name = "", between = "", quote, quoted, plain = ""] = match;
    const start = match.index + name.length + between.length;
    const operator = between.replace(continuation, "");
    const before = text.slice(Math.max(0, match.index - maxIdentifier), match.index);
    const identifier = text.slice(findIdentifier(text, match.index), match.index + name.length);
    const kind = kindOfName(identifier) ?? kindOfWords(before, name);
    if (kind === null || (isShortName(name) && !shortNameStart.test(before))) return null;
    if (quote !== undefined && quoted !== undefined) {
      // A variable of psql: `PASSWORD :'pw'`
      if (/\s:$/.test(operator) || !isQuotedSecret(kind, quoted)) return null;
      if (operator.includes(",") && !isRandom(quoted, 12)) return null;
      return [start + 1, findEnd(text, start + 1, restOfQuoted[quote] ?? restOfUnquoted)];
    }
    const isTight = operator.endsWith("=") && !/\s/.test(operator);
    // arn:aws:secretsmanager:…:secret:NAME
    if (before.endsWith(":") && operator === ":") return null;
    const value = isTight ? plain.replace(/[)\]},]+$/, "") : (/^[^,(){}]*/.exec(plain)?.[0] ?? "");
    const isCall = !isTight && /^[([]/.test(plain.slice(value.length));
    const isArgument = /[(,]\s*$/.test(before.slice(0, before.length - identifier.length + name.length));
    if (
      isCall ||
      !isPlainSecret(kind, value, { isTight, isCode: isArgument || !/^[A-Z0-9_]+$/.test(identifier) })
    )
      return null;
    const length =
      value.length === plain.length ? findEnd(text, start, restOfUnquoted) - start : value.length;
    return [start, start + length];
  });
}

function isQuotedSecret(kind: Exclude<NameKind, null>, value: string): boolean {
  if (!/[A-Za-z0-9]/.test(value) || isReference(value) || isPlaceholder(value) || /\$\{[^}]*\}$/.test(value))
    return false;
  switch (kind) {
    case "password":
      return !isSentence(value);
    case "secret":
      return (
        value.length >= 8 && !/^(?:\S+\s){2,9}\S+$/.test(value) && !isSlug(value) && !isExpression(value)
      );
    case "other":
      return isRandom(value, 16);
  }
}

/** A text for users, as in `{ password: "Enter your password" }`. */
function isSentence(value: string): boolean {
  return /^\p{Lu}[\p{L}'’]+(?: [\p{L}\d'’,-]+)+[.:!?…]?$/u.test(value);
}

interface PlainForm {
  /** `name=value` without spaces, as in a shell or a URL. */
  readonly isTight: boolean;
  readonly isCode: boolean;
}

function isPlainSecret(
  kind: Exclude<NameKind, null>,
  value: string,
  { isTight, isCode }: PlainForm,
): boolean {
  // The quick tests first: a name can be in a text many times.
  const minLength = kind === "password" ? (isTight ? 1 : 4) : kind === "other" ? 16 : isTight ? 8 : 12;
  if (
    value.length < minLength ||
    (!isTight && !mayBeRandom(value)) ||
    (kind !== "password" && !mayBeRandom(value))
  )
    return false;
  if (isReference(value) || isPlaceholder(value) || (isCode && isExpression(value))) return false;
  switch (kind) {
    case "password":
      if (isTight) return !isCode || !/^[a-z_]*_[a-z_]*$/i.test(value);
      return /\d/.test(value) ? !/^\d{1,3}$/.test(value) : isRandom(value, 8);
    case "secret":
      return !isSlug(value) && (/\d/.test(value) || isRandom(value, 12));
    case "other":
      return isRandom(value, 16);
  }
}

/** For `--password VALUE` any value counts, for a name in a sentence only one that cannot be a word. */
const spaced = new RegExp(
  `(${names})(${suffix}["'\`]?(?:\\s{1,4}(?:is|are|was|ist|lautet|to|set to|=|:|of|for [\\w.-]{1,24} is))?\\s{1,8}(?:${lineContinuation}\\s{0,8})?)(["'\`]?)([^\\s"'\`•]{1,${maxJudged}})`,
  "gi",
);
const isWhiteSpace = (gap: string): boolean => /^\d{0,2}\s+$/.test(gap.replace(continuation, ""));

/** `--db-password`, with its last part at `at`. */
function isFlagName(text: string, at: number): boolean {
  const start = findIdentifier(text, at);
  return text[start] === "-" && (start === 0 || /[\s"'`(]/.test(text[start - 1] ?? ""));
}

/** `--password VALUE`, `ENV DB_PASSWORD VALUE`, "the password is VALUE" */
export function maskSpacedValues(text: string, mask: string): string {
  return replaceValues(text, spaced, mask, (match) => {
    const [, name = "", gap = "", quote = "", value = ""] = match;
    const start = match.index + name.length + gap.length + quote.length;
    const isFlag = isWhiteSpace(gap) && isFlagName(text, match.index);
    if (!isFlag && (value.length < 8 || !/\d/.test(value))) return null;
    const before = text.slice(Math.max(0, match.index - maxIdentifier), match.index);
    const identifier = text.slice(findIdentifier(text, match.index), match.index + name.length);
    const kind = kindOfName(identifier) ?? kindOfWords(before, name);
    if (!isFlag && /^(?:auth|signature|psk)$/i.test(name)) return null;
    const isKey = /^key/i.test(name) && !isFlag;
    if (isKey && !/(?:[_-]|api)key/i.test(identifier) && kindOfWords(before, name) === null) return null;
    if (kind === null || (isShortName(name) && !shortNameStart.test(before))) return null;
    const rest = quote === "" ? restOfUnquoted : (restOfQuoted[quote] ?? restOfUnquoted);
    const end = findEnd(text, start, rest);
    if (isFlag)
      return isFlagSecret(kind, text.slice(start, Math.min(end, start + maxJudged))) ? [start, end] : null;
    const word = value.replace(/[.,;:!?)\]}]+$/, "");
    return isWordSecret(kind, word, identifier) ? [start, start + word.length] : null;
  });
}

function isFlagSecret(kind: Exclude<NameKind, null>, value: string): boolean {
  if (value === "" || value.startsWith("-") || isReference(value) || isPlaceholder(value)) return false;
  if (kind === "password") return true;
  return kind === "secret"
    ? value.length >= 6 && !isSlug(value) && !/^\w+=/.test(value)
    : isRandom(value, 16);
}

function isWordSecret(kind: Exclude<NameKind, null>, word: string, identifier: string): boolean {
  if (word.length < 8 || !/\d/.test(word.slice(0, 32))) return false;
  if (/(?:^|[^a-z])pass$/i.test(identifier)) return isRandom(word, 12) && !isReference(word);
  if (
    isReference(word) ||
    isPlaceholder(word) ||
    isExpression(word) ||
    /[(){}<>=]/.test(word.replace(/=+$/, ""))
  )
    return false;
  if (kind === "password")
    return (
      isRandom(word, 8) ||
      (word.length >= 8 && /\d/.test(word) && /[A-Za-z]/.test(word) && /[!@#$%^*?+]/.test(word))
    );
  return isRandom(word, kind === "secret" || identifier.includes("_") ? 16 : 20);
}

/** `<password>value</password>` */
const element = /<(?:[\w-]+:)?([\w.-]{1,64})>([^<>\s•]{1,512})<\//g;

export function maskElements(text: string, mask: string): string {
  return replaceValues(text, element, mask, (match) => {
    const [, name = "", value = ""] = match;
    const kind = kindOfName(name);
    const start = match.index + match[0].length - value.length - 2;
    return kind !== null && isQuotedSecret(kind, value) ? [start, start + value.length] : null;
  });
}

/** `?sig=…`, `&key=…`: names that are too short to count anywhere else. */
const query =
  /([?&;](?:[\w.-]{0,40}[_.-])?(?:key|sig|signature|code|[a-z]{0,20}(?:token|key))=)([^\s"'`•&#;<>?]{8,128})/gi;
const restOfQuery = /[^\s"'`•&#;<>]*/y;

export function maskQueries(text: string, mask: string): string {
  return replaceValues(text, query, mask, (match) => {
    const [, name = "", value = ""] = match;
    const start = match.index + name.length;
    if (publicName.test(name.slice(1, -1)) || isReference(value) || isPlaceholder(value)) return null;
    return isRandom(value, 16) ? [start, findEnd(text, start, restOfQuery)] : null;
  });
}

/** Each cookie of a header, but not its attributes. */
const cookieHeader = /((?:set-)?cookies?\\{0,4}["']?\s{0,4}[:=]\s{0,4}\\{0,4}["']?)([^"'\r\n•\\]{0,1024})/gi;
const cookie = /([\w.%-]{1,64}=)([^\s;,"'•]{8,})/g;

export function maskCookies(text: string, mask: string): string {
  return text.replace(cookieHeader, (_, name: string, value: string) => name + maskCookieValues(value, mask));
}

export function maskCookieValues(text: string, mask: string): string {
  return text.replace(cookie, (match: string, name: string, value: string) =>
    isReference(value) || isPlaceholder(value) || isSlug(value) || !isRandom(value, 12) ? match : name + mask,
  );
}

/**
 * Replaces what `find` returns of each match: the start and end of the secret, or null if there is none. Then the search goes
 * on behind the name, because another name can be in the value.
 */
export function replaceValues(
  text: string,
  pattern: RegExp,
  mask: string,
  find: (match: RegExpExecArray) => readonly [number, number] | null,
): string {
  let masked = "";
  let copied = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const range = find(match);
    if (range === null) {
      pattern.lastIndex = match.index + Math.max(1, match[1]?.length ?? 1);
      continue;
    }
    masked += text.slice(copied, range[0]) + mask;
    copied = range[1];
    pattern.lastIndex = copied;
  }
  return copied === 0 ? text : masked + text.slice(copied);
}

/** Where the identifier starts that has its last part at `at`. */
function findIdentifier(text: string, at: number): number {
  let start = at;
  while (start > 0 && at - start < maxIdentifier && isIdentifierCharacter(text.charCodeAt(start - 1)))
    start--;
  return start;
}

function isIdentifierCharacter(code: number): boolean {
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  return isLetter || (code >= 48 && code <= 57) || code === 95 || code === 45 || code === 46;
}

function findEnd(text: string, from: number, characters: RegExp): number {
  characters.lastIndex = from;
  characters.test(text);
  return characters.lastIndex;
}

/** Also \u00a0 and its like. */
const whiteSpace =
  " \f\n\r\t\v\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";
/** What follows a name, in plain text or JSON text. In a sentence a value has a digit; after a flag it can be anything. */
const sign = String.raw`[=:"'${"`"}\\>\]]`;
const afterName = String.raw`${suffix}(?:${sign}|\s(?:\s{0,7}[:=?]|(?=[\s\S]{0,${maxWordDistance}}\d)|(?<=-[\w.-]{0,48}\s)))`;
const afterShortName = String.raw`${suffix}(?:${sign}|\s(?:\s{0,7}[:=?]|(?<=-[\w.-]{0,48}\s)))`;
/** A key has four characters only with what follows it. */
const keyEnds = `[${whiteSpace}=:"'\`\\\\>\\]0-9_\\-]`;

export const assignmentHints: readonly SecretHint[] = [
  ...[
    "password",
    "passwd",
    "passwort",
    "passphrase",
    "pass_phrase",
    "pass-phrase",
    "passcode",
    "pass",
    "token",
    "secret",
  ].map((name) => nameHint(name, afterName)),
  nameHint("credential", afterName),
  nameHint("credentials", afterName),
  nameHint("signature", afterShortName),
  { word: `[${shortNameStarts}]${inAnyCase("auth")}`, near: new RegExp(`.auth${afterShortName}`, "iy") },
  { word: `[${shortNameStarts}]${inAnyCase("pwd")}`, near: new RegExp(`.pwd${afterName}`, "iy") },
  { word: `${inAnyCase("psk")}[=:"'\\\\]`, near: new RegExp(`psk${afterShortName}`, "iy") },
  {
    word: inAnyCase("key") + keyEnds,
    near: new RegExp(
      `key(?:${afterShortName}|[_-](?:data|base)${afterShortName}|\\s(?<=(?:[_-]|api|(?:api|access|secret|private|license) )key\\s))`,
      "iy",
    ),
  },
  { word: `[?&;]${inAnyCase("sig")}`, near: /.sig(?:nature)?=/iy },
  { word: `[?&;]${inAnyCase("code")}`, near: /.code=/iy },
];
