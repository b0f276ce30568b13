/**
 * What a secret looks like in plain text. Every rule runs in linear time, whatever the text. Each has hints: the prefilter is
 * computed from them.
 */
export const mask = "•••";

/**
 * Four characters that each match of a rule contains: the first four of a simple regular expression made of characters,
 * `[…]`, `\w` and `{n,}`. Or, for a rule without four fixed characters, a text to look for and an expression to confirm it.
 */
export type SecretHint = string | { readonly includes: string; readonly confirm: RegExp };

export interface Rule {
  /** Each match contains one of these. */
  readonly hints: readonly SecretHint[];
  readonly apply: (text: string) => string;
}

/** The pattern of a token, and the four characters to look for: by default those that it starts with. */
type Token = readonly [pattern: string, hint?: string];

const tokens: readonly Token[] = [
  ["A[KS]IA[A-Z0-9]{16,}"],
  ["gh[pousr]_[A-Za-z0-9]{20,}"],
  [String.raw`github_pat_\w{20,}`, "pat_"],
  [String.raw`glpat-[\w-]{16,}`],
  [String.raw`gl[dr]t-[\w-]{16,}`],
  [String.raw`xox[a-z]-[\w-]{10,}`],
  [String.raw`xapp-[\w-]{10,}`],
  ["npm_[A-Za-z0-9]{30,}"],
  // OpenAI's and Anthropic's. Not every sk-: a folder can be called sk-learn-experiments.
  [String.raw`sk-(?:ant|proj|svcacct|admin|or)-[\w-]{16,}`, "sk-[apso]"],
  ["sk-[A-Za-z0-9]{20,}"],
  [String.raw`hvs\.[\w-]{20,}`],
  [String.raw`SG\.[\w-]{16,}\.[\w-]{16,}`],
  ["hf_[A-Za-z0-9]{30,}"],
  ["gsk_[A-Za-z0-9]{40,}"],
  ["shp(?:at|ca|pa|ss)_[a-f0-9]{32,}", "shp[acps]"],
  ["rubygems_[a-f0-9]{40,}", "ygem"],
  [String.raw`dp\.pt\.[A-Za-z0-9]{40,}`],
  ["AGE-SECRET-KEY-1[A-Z0-9]{50,}"],
  [String.raw`pypi-[\w-]{40,}`],
  ["dop_v1_[a-f0-9]{40,}"],
  [String.raw`dckr_pat_[\w-]{20,}`, "pat_"],
  ["[sr]k_live_[A-Za-z0-9]{10,}", "k_li"],
  ["[sr]k_test_[A-Za-z0-9]{10,}", "k_te"],
  [String.raw`AIza[\w-]{30,}`],
  [String.raw`eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?`],
];

/** `\s`, and what can follow a name in plain text or in JSON: a quote, an escape, a digit, a sign. */
const separators =
  " \f\n\r\t\v\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff" +
  String.raw`=:"'\\0-9`;

const passwords = { pattern: "passw(?:or)?d|_pass|_pwd", hints: ["assw", "_pas", "_pwd"].map(inAnyCase) };
const authorization = { pattern: "authorization", hints: [inAnyCase("riza")] };
const keys = {
  pattern: "(?:api|access|secret|private|signing|encryption|account|master|auth|service|client|app)[_-]?key",
  hints: [`${inAnyCase("key")}[${separators}]`],
};
const names = {
  pattern: `${keys.pattern}|secret(?:[_-]?key[_-]?base)?|token`,
  hints: [...keys.hints, inAnyCase("ecre"), `${inAnyCase("ken")}[${separators}]`],
};
const bearer = { hints: [inAnyCase("eare")] };

function inAnyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** A token starts where no word continues. `\n` can be the two characters of a text inside a text. */
const before = String.raw`(^|[^\w-]|\\[nrt])`;
const schemes = "bearer|basic|token|digest|apikey";
/** Between a name and its value. Quotes can be escaped once or more. */
const assignment = String.raw`\\{0,4}["']?\s{0,4}[:=]\s{0,4}\\{0,4}`;
const unquoted = String.raw`[^\s"'${"`"}•,;&|<>(){}]`;
/** In prose and code (`token: string`) only a text with a digit counts as a value. */
const withDigit = String.raw`(?=[^\s"'•]{0,64}\d)${unquoted}`;
/** The quote is kept: group 2 or 3. */
const quoted = (minLength: number): string =>
  `(?:(")[^"\\r\\n•]{${minLength},512}|(')[^'\\r\\n•]{${minLength},512})`;

function replaceAll(find: RegExp, replacement = `$1${mask}`): Rule["apply"] {
  return (text) => text.replace(find, replacement);
}

const passwordsAndNames = `${passwords.pattern}|${names.pattern}`;
const flagWithValue = new RegExp(
  `(?:${passwordsAndNames})\\s{1,4}(?:"[^"•]{1,512}|'[^'•]{1,512}|[^\\s"'•-][^\\s"'•]*)`,
  "gi",
);
const flagStart = /(?:^|\s)--[\w-]*$/;

/** `--password hunter2` */
function maskFlags(text: string): string {
  return text.replace(flagWithValue, (match, at: number) => {
    if (!flagStart.test(text.slice(Math.max(0, at - 40), at))) return match;
    const name = /^\S+\s+["']?/.exec(match)?.[0] ?? "";
    return name + mask;
  });
}

const curlLogin = /(\s(?:-u|--user)[\s=]{1,4}["']?[^\s:"'•]{1,64}:)(?!\d+(?:["'\s]|$))[^\s"'•]+/g;

/** `-u user:password`. Only for curl: `docker run -u user:group` is not a secret. */
function maskCurlLogin(text: string): string {
  return text.includes("curl") ? text.replace(curlLogin, `$1${mask}`) : text;
}

/** From the BEGIN line to the END line, or as far as the body goes if the text was cut. */
function maskPrivateKeys(text: string): string {
  const begin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/g;
  let masked = "";
  let copied = 0;
  let hasEnd = true;
  for (let match = begin.exec(text); match; match = begin.exec(text)) {
    const end: number = hasEnd ? text.indexOf("-----END", begin.lastIndex) : -1;
    hasEnd = end >= 0;
    masked += text.slice(copied, match.index) + mask;
    copied = end < 0 ? findEndOfBody(text, begin.lastIndex) : findEndOfEndLine(text, end);
    begin.lastIndex = copied;
  }
  return copied === 0 ? text : masked + text.slice(copied);
}

function findEndOfEndLine(text: string, from: number): number {
  const endLine = /-----END [A-Z0-9 ]{0,60}-----/y;
  endLine.lastIndex = from;
  return endLine.test(text) ? endLine.lastIndex : from + "-----END".length;
}

function findEndOfBody(text: string, from: number): number {
  const body = /[\w+/=\s\\:,.-]*/y;
  body.lastIndex = from;
  body.test(text);
  return body.lastIndex;
}

/** In this order. */
export const rules: readonly Rule[] = [
  { hints: ["E KE"], apply: maskPrivateKeys },
  {
    hints: tokens.map(([pattern, hint = pattern]) => hint),
    apply: replaceAll(new RegExp(`${before}(?:${tokens.map(([pattern]) => pattern).join("|")})`, "g")),
  },
  {
    hints: authorization.hints,
    apply: replaceAll(
      new RegExp(
        `(${authorization.pattern}${assignment}["']?(?:(?:${schemes})\\s{1,4})?)(?!(?:${schemes})\\b)[^\\s"'\\\\•,;]+`,
        "gi",
      ),
    ),
  },
  { hints: bearer.hints, apply: replaceAll(/(\bbearer\s{1,4})[\w.~+/=-]{16,}/gi) },
  {
    // In JSON the slashes can be escaped.
    hints: [{ includes: "@", confirm: /:\\?\/\\?\/[^\s/]*@/ }],
    apply: replaceAll(/(:\/\/[^\s/:@"'<>\\?#]*:)[^\s/"'<>\\?#•]+@/g, `$1${mask}@`),
  },
  {
    hints: passwords.hints,
    apply: replaceAll(new RegExp(`((?:${passwords.pattern})\\d{0,2}=)[^\\s"'\`•&;|<>]+`, "gi")),
  },
  {
    hints: names.hints,
    apply: replaceAll(new RegExp(`((?:${names.pattern})\\d{0,2}=)[^\\s"'\`•&;|<>]{8,}`, "gi")),
  },
  { hints: keys.hints, apply: replaceAll(/(_KEY=["']?)[\w+/=.~-]{16,}/g) },
  {
    hints: passwords.hints,
    apply: replaceAll(
      new RegExp(`((?:${passwords.pattern})${assignment})${quoted(1)}`, "gi"),
      `$1$2$3${mask}`,
    ),
  },
  {
    hints: names.hints,
    apply: replaceAll(new RegExp(`((?:${names.pattern})${assignment})${quoted(8)}`, "gi"), `$1$2$3${mask}`),
  },
  {
    hints: passwords.hints,
    apply: replaceAll(new RegExp(`((?:${passwords.pattern})${assignment})${withDigit}{4,}`, "gi")),
  },
  {
    hints: names.hints,
    apply: replaceAll(new RegExp(`((?:${names.pattern})${assignment})${withDigit}{12,}`, "gi")),
  },
  { hints: ["curl"], apply: maskCurlLogin },
  { hints: [...passwords.hints, ...names.hints], apply: maskFlags },
];

/** Fields of JSON: `"api_key": "…"`. The value is a secret because of its name, whatever it looks like. */
export function isSecretByName(name: string, value: string): boolean {
  if (value === "" || value === mask) return false;
  if (passwordName.test(name)) return true;
  return value.length >= 8 && (otherName.test(name) || (value.length >= 16 && /_KEY$/.test(name)));
}

const passwordName = new RegExp(`(?:${passwords.pattern}|${authorization.pattern})$`, "i");
const otherName = new RegExp(`(?:${names.pattern})$`, "i");
export const nameHints: readonly SecretHint[] = [...passwords.hints, ...authorization.hints, ...names.hints];
