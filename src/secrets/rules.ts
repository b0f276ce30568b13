/** What a secret looks like in plain text. Every rule runs in linear time: nothing here looks back over what it has read. */
import { mayContainSecret } from "./prefilter.ts";

export const mask = "•••";

/** A secret starts where no word goes on; `\n` may be the two characters of a text within a text. */
const before = String.raw`(^|[^\w-]|\\[nrt])`;

const tokens = [
  "A[KS]IA[A-Z0-9]{16,}",
  "gh[pousr]_[A-Za-z0-9]{20,}",
  String.raw`github_pat_\w{20,}`,
  String.raw`glpat-[\w-]{16,}`,
  String.raw`xox[a-z]-[\w-]{10,}`,
  String.raw`xapp-[\w-]{10,}`,
  "npm_[A-Za-z0-9]{30,}",
  // OpenAI's and Anthropic's. Not any sk-: folders are called sk-learn-experiments.
  String.raw`sk-(?:ant|proj|svcacct|admin|or)-[\w-]{16,}`,
  "sk-[A-Za-z0-9]{20,}",
  String.raw`hvs\.[\w-]{20,}`,
  String.raw`SG\.[\w-]{16,}\.[\w-]{16,}`,
  "hf_[A-Za-z0-9]{30,}",
  String.raw`pypi-[\w-]{40,}`,
  "dop_v1_[a-f0-9]{40,}",
  String.raw`dckr_pat_[\w-]{20,}`,
  "[sr]k_(?:live|test)_[A-Za-z0-9]{10,}",
  String.raw`AIza[\w-]{30,}`,
  String.raw`eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?`,
].join("|");

const passwords = "passw(?:or)?d|_pass|_pwd";
const keys =
  "(?:api|access|secret|private|signing|encryption|account|master|auth|service|client|app)[_-]?key";
const others = `${keys}|secret(?:[_-]?key[_-]?base)?|token`;
const schemes = "bearer|basic|token|digest|apikey";
/** Between a name and its value, where quotes may be escaped once or more. */
const loosely = String.raw`\\{0,4}["']?\s{0,4}[:=]\s{0,4}\\{0,4}`;
const plain = String.raw`[^\s"'${"`"}•,;&|<>(){}]`;
/** In loose text (`token: string`) only what has a digit is taken for a value. */
const withDigit = String.raw`(?=[^\s"'•]{0,64}\d)${plain}`;

interface Rule {
  readonly find: RegExp;
  readonly keep: (...match: string[]) => string;
}

const head = (_: string, kept = "") => kept + mask;
const quoted = (_: string, kept = "", value = "") => kept + value.charAt(0) + mask;

const rules: readonly Rule[] = [
  { find: new RegExp(`${before}(?:${tokens})`, "g"), keep: head },
  {
    find: new RegExp(
      `(authorization${loosely}["']?(?:(?:${schemes})\\s{1,4})?)(?!(?:${schemes})\\b)[^\\s"'\\\\•,;]+`,
      "gi",
    ),
    keep: head,
  },
  { find: /(\bbearer\s{1,4})[\w.~+/=-]{16,}/gi, keep: head },
  { find: /(:\/\/[^\s/:@"'<>\\?#]*:)[^\s/"'<>\\?#•]+@/g, keep: (_, kept = "") => `${kept}${mask}@` },
  { find: new RegExp(`((?:${passwords})\\d{0,2}=)[^\\s"'\`•&;|<>]+`, "gi"), keep: head },
  { find: new RegExp(`((?:${others})\\d{0,2}=)[^\\s"'\`•&;|<>]{8,}`, "gi"), keep: head },
  { find: /(_KEY=["']?)[\w+/=.~-]{16,}/g, keep: head },
  {
    find: new RegExp(`((?:${passwords})${loosely})("[^"\\r\\n•]{1,512}|'[^'\\r\\n•]{1,512})`, "gi"),
    keep: quoted,
  },
  {
    find: new RegExp(`((?:${others})${loosely})("[^"\\r\\n•]{8,512}|'[^'\\r\\n•]{8,512})`, "gi"),
    keep: quoted,
  },
  { find: new RegExp(`((?:${passwords})${loosely})${withDigit}{4,}`, "gi"), keep: head },
  { find: new RegExp(`((?:${others})${loosely})${withDigit}{12,}`, "gi"), keep: head },
  { find: /(\s(?:-u|--user)[\s=]{1,4}["']?[^\s:"'•]{1,64}:)(?!\d+(?:["'\s]|$))[^\s"'•]+/g, keep: head },
];

const flag = new RegExp(
  `(?:${passwords}|${others})\\s{1,4}(?:"[^"•]{1,512}|'[^'•]{1,512}|[^\\s"'•-][^\\s"'•]*)`,
  "gi",
);
const flagStart = /(?:^|\s)--[\w-]*$/;

export function maskText(text: string): string {
  if (!mayContainSecret(text)) return text;
  let masked = maskOnce(text);
  // What was covered may have hidden the start of the next one.
  for (let passes = 0, last = text; masked !== last && passes < 4; passes++) {
    last = masked;
    masked = maskOnce(last);
  }
  return masked;
}

function maskOnce(text: string): string {
  let masked = maskPrivateKeys(text);
  for (const { find, keep } of rules) masked = masked.replace(find, keep);
  return masked.replace(flag, (match, at: number) => {
    if (!flagStart.test(masked.slice(Math.max(0, at - 40), at))) return match;
    const name = /^\S+\s+["']?/.exec(match)?.[0] ?? "";
    return name + mask;
  });
}

/** To the END line, or as far as a key cut short goes. */
function maskPrivateKeys(text: string): string {
  const begin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/g;
  let out = "";
  let copied = 0;
  let noEnd = false;
  for (let found = begin.exec(text); found; found = begin.exec(text)) {
    const end: number = noEnd ? -1 : text.indexOf("-----END", begin.lastIndex);
    noEnd ||= end < 0;
    out += text.slice(copied, found.index) + mask;
    copied = end < 0 ? endOfBody(text, begin.lastIndex) : endOfLine(text, end);
    begin.lastIndex = copied;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

function endOfLine(text: string, end: number): number {
  const closing = /-----END [A-Z0-9 ]{0,60}-----/y;
  closing.lastIndex = end;
  return closing.test(text) ? closing.lastIndex : end + "-----END".length;
}

function endOfBody(text: string, from: number): number {
  const body = /[\w+/=\s\\:,.-]*/y;
  body.lastIndex = from;
  body.test(text);
  return body.lastIndex;
}

const wholePassword = new RegExp(`(?:${passwords}|authorization)$`, "i");
const wholeOther = new RegExp(`(?:${others})$`, "i");

/** `"api_key": "…"`: the value is the secret, whatever it looks like. */
export function isSecretByName(name: string, value: string): boolean {
  if (value === "" || value === mask) return false;
  if (wholePassword.test(name)) return true;
  return value.length >= 8 && (wholeOther.test(name) || (value.length >= 16 && /_KEY$/.test(name)));
}
