/**
 * What a secret looks like in plain text. Every rule runs in linear time, whatever the text. Each has hints: the prefilter is
 * computed from them.
 */
import {
  assignmentHints,
  maskAssignments,
  maskCookies,
  maskElements,
  maskQueries,
  maskSpacedValues,
  replaceValues,
} from "./assignments.ts";
import { argumentHints, maskArguments } from "./commands.ts";
import { nameHint, type SecretHint } from "./hints.ts";
import { maskPrivateKeys, privateKeyHints } from "./private-keys.ts";
import { maskTokens, tokenHints } from "./tokens.ts";
import { isExpression, isPlaceholder, isRandom, isReference } from "./values.ts";

export const mask = "•••";

interface Rule {
  /** Each match contains one of these. */
  readonly hints: readonly SecretHint[];
  readonly apply: (text: string, mask: string) => string;
}

/** Between a name and its value. Quotes can be escaped once or more. */
const assignment = String.raw`\\{0,4}["'${"`"}]?\]?\s{0,4}(?:=>|[:=,])\s{0,4}\\{0,4}["'${"`"}]?`;

const authorization = new RegExp(
  `(authorization${assignment}(?:[A-Za-z][\\w-]{1,30}\\s{1,4})?)([^\\s"'\`\\\\•,;]{3,})`,
  "gi",
);

/** `Authorization: Basic VALUE` */
function maskAuthorization(text: string): string {
  return replaceValues(text, authorization, mask, (match) => {
    const [, start = "", value = ""] = match;
    if (isReference(value) || isPlaceholder(value) || isExpression(value)) return null;
    // A header of several fields: `Digest username="…"`, `AWS4-HMAC-SHA256 Credential=…`
    const end = match.index + match[0].length;
    if (/^[A-Za-z]\w{2,20}=/.test(value) && (!value.endsWith("=") || /["'\\]/.test(text[end] ?? "")))
      return null;
    if (!/\d|[a-z][A-Z]/.test(value) && !/(?:bearer|basic|token|digest|apikey)\s+$/i.test(start)) return null;
    return [match.index + start.length, match.index + start.length + value.length];
  });
}

const digest = /(digest\s[^\r\n•]{0,1000}?\bresponse=\\{0,4}["']?)([0-9a-f]{16,})/gi;
const scheme = /(\b(?:bearer|basic)\s{1,4})([\w.~+/=-]{16,})/gi;

/** `Bearer VALUE`, without the name of the header before it. */
function maskSchemes(text: string): string {
  const masked = replaceValues(text, scheme, mask, (match) => {
    const [, start = "", value = ""] = match;
    if (isPlaceholder(value) || !(isRandom(value, 16) || (/\d/.test(value) && value.length >= 24)))
      return null;
    return [match.index + start.length, match.index + start.length + value.length];
  });
  return masked.replace(digest, `$1${mask}`);
}

const userInfo = /(:\/\/[^\s/:@"'`<>\\?#]{0,256}:)([^\s/"'`<>\\?#•]{1,512})(?=@)/g;
const longUser = /(:\/\/)([^\s/:@"'`<>\\?#•]{20,256})(?=@)/g;

/** `https://NAME:VALUE@host`, `https://VALUE@host` */
function maskUserInfo(text: string): string {
  const masked = replaceValues(text, userInfo, mask, (match) => {
    const [, start = "", value = ""] = match;
    if (isReference(value) || isPlaceholder(value) || /^[$%{]/.test(value)) return null;
    return [match.index + start.length, match.index + start.length + value.length];
  });
  return replaceValues(masked, longUser, mask, (match) => {
    const [, start = "", value = ""] = match;
    return isRandom(value, 20)
      ? [match.index + start.length, match.index + start.length + value.length]
      : null;
  });
}

/** Addresses whose path is the secret. */
const webhooks =
  /(hooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/]{3,40}\/|discord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/\d{5,25}\/|webhook\.office\.com\/webhookb2\/[\w@-]{10,100}\/IncomingWebhook\/|hooks\.zapier\.com\/hooks\/catch\/\d{3,12}\/|maker\.ifttt\.com\/trigger\/\w{1,60}\/(?:json\/)?with\/key\/|api\.telegram\.org\/bot\d{5,12}:)([\w-]{6,128}(?:\/[\w-]{8,64})?)/g;
/** A line of .pgpass */
const pgpass = /((?:^|[\s"'])[\w.*-]{1,100}:543\d:[\w*-]{1,63}:[\w*-]{1,63}:)([^\s"'•]{4,})/g;

/** A requirepass line of redis.conf, and a user in SQL. */
const keywords =
  /((?:\brequirepass\s{1,4}|\bidentified\s{1,4}(?:with\s{1,4}\S{1,64}\s{1,4})?by\s{1,4})["']?)([^\s"'•]{4,})/gi;
/** A data source name of Go: `NAME:VALUE@tcp(host)` */
const dataSource = /([\w.-]{1,64}:)([^\s"'`•@]{1,128})(?=@(?:tcp|unix)\()/g;
/** `auth=("NAME", "VALUE")` */
const authPair =
  /(\bauth\s{0,2}=\s{0,2}\(\s{0,2}["'][^"'\n•]{1,64}["']\s{0,2},\s{0,2}["'])([^"'\n•]{1,128})/g;
/** The private parts of a JSON Web Key. */
const jsonWebKey = /(["'](?:d|p|q|dp|dq|qi|k)\\{0,4}["']\s{0,4}:\s{0,4}\\{0,4}["'])([\w-]{20,})/g;

function maskForms(text: string): string {
  let masked = text;
  for (const pattern of [keywords, dataSource, authPair]) {
    masked = replaceValues(masked, pattern, mask, (match) => {
      const [, start = "", value = ""] = match;
      if (isReference(value) || isPlaceholder(value)) return null;
      return [match.index + start.length, match.index + start.length + value.length];
    });
  }
  return /kty\\{0,4}["']/.test(masked) ? masked.replace(jsonWebKey, `$1${mask}`) : masked;
}

/** In this order. */
export const rules: readonly Rule[] = [
  { hints: privateKeyHints, apply: maskPrivateKeys },
  { hints: tokenHints, apply: maskTokens },
  { hints: [nameHint("authorization", String.raw`[\s\\"'${"`"}\]:=,]`)], apply: maskAuthorization },
  {
    hints: [
      nameHint("bearer", String.raw`[\s\\]`),
      nameHint("basic", String.raw`[\s\\]{1,4}[\w.~+/=\\-]{16}`),
      nameHint("digest", String.raw`[\s\\][\s\S]{0,1200}?response=`),
    ],
    apply: maskSchemes,
  },
  // In JSON the slashes can be escaped.
  { hints: [{ includes: "@", confirm: /:\\?\/\\?\/[^\s/]*@/ }], apply: maskUserInfo },
  {
    hints: ["ks\\.s", "ebho", "ks\\.z", "r\\.if", "ram\\.org"],
    apply: (text) => text.replace(webhooks, `$1${mask}`),
  },
  {
    hints: [{ word: ":543", near: /:543\d:[\w*-]{1,63}:[\w*-]{1,63}:/y }],
    apply: (text) => text.replace(pgpass, `$1${mask}`),
  },
  {
    hints: [
      nameHint("requirepass", String.raw`[\s\\]`),
      nameHint("identified", String.raw`[\s\\]`),
      "@tcp\\(",
      "@unix\\(",
      { word: "auth", near: /auth\s{0,2}=\s{0,2}\(/y },
      `kty["'\\\\]`,
    ],
    apply: maskForms,
  },
  {
    hints: [nameHint("cookie", String.raw`[\s\\"':=]`), nameHint("cookies", String.raw`[\s\\"':=]`)],
    apply: maskCookies,
  },
  { hints: assignmentHints, apply: maskQueries },
  { hints: assignmentHints, apply: maskElements },
  { hints: assignmentHints, apply: maskAssignments },
  { hints: argumentHints, apply: maskArguments },
  { hints: assignmentHints, apply: maskSpacedValues },
];

export { isSecretByName } from "./assignments.ts";
