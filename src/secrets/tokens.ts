/** Formats of the tokens that services give out. A token is recognised by its format, wherever it is. */
import type { SecretHint } from "./hints.ts";
import { isPlaceholder } from "./values.ts";

/** The pattern of a token, and four characters that each match contains: by default those that it starts with. */
type Token = readonly [pattern: string, hint?: string];

const word = String.raw`[\w-]`;

function withPrefixes(start: string, kinds: readonly string[], end: string): Token[] {
  return kinds.map((kind) => [start + kind + end]);
}

const tokens: readonly Token[] = [
  // AWS, Alibaba, Tencent, Google, Azure, DigitalOcean
  ["A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16,}", "A[KSBC][IC]A"],
  ["LTAI[A-Za-z0-9]{16,}"],
  ["AKID[A-Za-z0-9]{13,}"],
  [`AIza${word}{30,}`],
  [`ya29\\.${word}{20,}`],
  [`1//0${word}{30,}`],
  [`GOCSPX-${word}{20,}`],
  [String.raw`AAAA[\w-]{7}:[\w-]{100,}`],
  [String.raw`[\w~.]{3}\dQ~[\w~.-]{31,34}`, String.raw`[0-9]Q~[\w~.\-]`],
  ["do[opr]_v1_[a-f0-9]{40,}"],
  // Source code and packages
  ["gh[pousr]_[A-Za-z0-9]{20,}"],
  [String.raw`github_pat_\w{20,}`],
  ...withPrefixes(
    "gl",
    ["pat", "dt", "rt", "ft", "ptt", "soat", "imt", "oas", "agent", "ffct", "rtr", "wt"],
    `-${word}{16,}`,
  ),
  [`glcbt-\\w{1,5}_${word}{16,}`],
  [`GR1348941${word}{20,}`],
  ["npm_[A-Za-z0-9]{30,}"],
  [`pypi-${word}{40,}`],
  ["rubygems_[a-f0-9]{40,}"],
  ["CLOJARS_[a-z0-9]{60}"],
  [`dckr_(?:pat|oat)_${word}{20,}`],
  ["AKCp[A-Za-z0-9]{60,}"],
  ["NuGet-[A-Za-z0-9]{40,}"],
  ["oy2[a-z0-9]{43}"],
  // Models
  // Not every sk-: a folder can be called sk-learn-experiments.
  ...withPrefixes(
    "sk-",
    ["ant", "proj", "svcacct", "admin", "or", "lf", "None", "live", "test"],
    `-${word}{16,}`,
  ),
  ["sk-[A-Za-z0-9]{20,}"],
  ["hf_[A-Za-z0-9]{30,}"],
  ["api_org_[A-Za-z0-9]{30,}"],
  ["gsk_[A-Za-z0-9]{40,}"],
  ["xai-[A-Za-z0-9]{40,}"],
  ["pplx-[A-Za-z0-9]{40,}"],
  ["r8_[A-Za-z0-9]{37,}"],
  ["nvapi-[A-Za-z0-9_-]{40,}"],
  ["tvly-[A-Za-z0-9-]{20,}"],
  ["jina_[A-Za-z0-9]{40,}"],
  ["lsv2_(?:pt|sk)_[a-f0-9_]{30,}"],
  ["csk-[a-z0-9]{40,}"],
  ["e2b_[a-f0-9]{40,}"],
  // Chat, mail, payment
  [`xox[a-z](?:\\.xox[a-z])?-(?=[A-Za-z-]{0,40}[0-9])${word}{10,}`],
  [`xapp-${word}{10,}`],
  // Discord: a number in base64, a time and a signature.
  [`M[DTjz][AEIMQUYcgk][w-z0-5]${word}{18,24}\\.${word}{6}\\.${word}{27,}`],
  [`N[DTjz][AEIMQUYcgk][w-z0-5]${word}{18,24}\\.${word}{6}\\.${word}{27,}`],
  [`O[DT][AEIMQUYcgk][w-z0-5]${word}{18,24}\\.${word}{6}\\.${word}{27,}`],
  // Twitter
  [String.raw`A{20,24}[\w%]{10,60}%3D[\w%]{20,}`, "AAAA"],
  [String.raw`SG\.[\w-]{16,}\.[\w-]{16,}`],
  ["key-[a-f0-9]{32}"],
  ["[a-f0-9]{32}-us[0-9]{1,2}", "-us[0-9]"],
  ["xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"],
  ...withPrefixes("[sr]k_", ["live", "test", "prod"], "_[A-Za-z0-9]{10,}"),
  ["whsec_[A-Za-z0-9+/=]{20,}"],
  [`sq0[a-z]{3}-${word}{20,}`],
  [`EAAA${word}{55,}`],
  ["EAAC[A-Za-z0-9]{60,}"],
  ["EZ[AT]K[A-Za-z0-9]{54}"],
  ["shippo_(?:live|test)_[a-f0-9]{40}"],
  [String.raw`access_token\$production\$[a-z0-9]{16}\$[a-f0-9]{32}`, String.raw`ken\$`],
  [`sl\\.${word}{130,}`],
  ["rzp_(?:live|test)_[A-Za-z0-9]{14,}"],
  ["FLWSECK[_-][A-Za-z0-9-]{20,}"],
  // Applications and their infrastructure
  ...withPrefixes("shp", ["at", "ca", "pa", "ss"], "_[a-f0-9]{32,}"),
  ["lin_(?:api|oauth)_[A-Za-z0-9]{30,}"],
  ["ntn_[A-Za-z0-9]{40,}"],
  ["secret_[A-Za-z0-9]{43}"],
  [`fig[dour]_${word}{30,}`],
  // Not every letter: path and pattern are in nearly every event.
  [String.raw`pat[A-Z0-9][A-Za-z0-9]{13}\.[a-f0-9]{64}`],
  ["pat-(?:na1|eu1)-[a-f0-9-]{30,}"],
  [`sb[ps]_${word}{30,}`],
  [`sb_secret_${word}{20,}`],
  ["dapi[a-f0-9]{32}(?:-\\d)?"],
  ["PMAK-[A-Za-z0-9]{24}-[A-Za-z0-9]{34}"],
  ["NR(?:AK|AA|II|IK|JS|BR)-[A-Za-z0-9-]{19,}", "NR[AIJB][AIKSR]"],
  ["gl[sc][a_]_?[A-Za-z0-9+/]{20,}[\\w=]*"],
  ["sntry[su]_[A-Za-z0-9+/=_-]{40,}"],
  [`ATATT3${word}{50,}`],
  [`ATCTT3${word}{50,}`],
  [`ATBB${word}{28,}`],
  [`fo1_${word}{40,}`],
  [`fm[12][_ar][\\w+/=-]{60,}`],
  [`FlyV1 [\\w+/=,-]{40,}`],
  [`pscale_(?:tkn|pw|oauth)_${word}{30,}`],
  ["pul-[a-f0-9]{40}"],
  [`hv[sbr]\\.${word}{20,}`],
  [String.raw`dp\.(?:pt|ct|sa|scim|audit|st(?:\.[\w-]{2,35})?)\.[A-Za-z0-9]{40,}`, String.raw`dp\.[pcsa]`],
  [String.raw`[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}`, "tlas"],
  ["nf[pkcboua]_[A-Za-z0-9]{30,}"],
  ["vc[a-z]_[A-Za-z0-9]{24,}"],
  [`CCIP(?:AT|RJ)_${word}{20,}`],
  ...withPrefixes("bk", ["ua", "aj", "pi", "pt", "ct"], "_[a-f0-9]{40}"),
  ["rnd_[A-Za-z0-9]{24,}"],
  [`tskey-${word}{20,}`],
  ["ops_eyJ[A-Za-z0-9+/=]{100,}"],
  [`HRKU-${word}{36,}`],
  ["pnu_[A-Za-z0-9]{36}"],
  ["rdme_[a-z0-9]{70}"],
  ["waka_[a-f0-9-]{36}"],
  [`v1\\.0-[a-f0-9]{24}-[a-f0-9]{100,}`],
  ["tfp_[A-Za-z0-9_]{40,}"],
  ["phc_[A-Za-z0-9]{40,}"],
  ["phx_[A-Za-z0-9]{40,}"],
  ["phs_[A-Za-z0-9]{40,}"],
  ["cfut_[\\w-]{40,}"],
  ["xaat-[a-f0-9-]{36}"],
  ["hcaik_[a-z0-9]{50,}"],
  ["dt0c01\\.[A-Z0-9]{24}\\.[A-Z0-9]{60,}"],
  ["AGE-SECRET-KEY-1[A-Z0-9]{50,}"],
  ["[0-9]{8,10}:AA[\\w-]{30,}", ":AA[\\w\\-]"],
  // JSON Web Tokens, and PEM in base64 unless it is a certificate or a public key.
  [`eyJ${word}{5,}\\.${word}{5,}(?:\\.[\\w.-]*)?`],
  ["LS0tLS1CRUdJTi(?!BDRVJU|BQVUJMSUMg)[A-Za-z0-9+/]{30,}={0,2}"],
];

/** A token starts where no word continues. `\n` can be the two characters of a text inside a text, `%3A` a character in a URL. */
const before = String.raw`(^|[^\w-]|\\[nrt]|%[0-9A-F]{2}|bot(?=\d))`;
const token = new RegExp(`${before}((?:${tokens.map(([pattern]) => pattern).join("|")}))`, "g");

/** A hint that is the pattern itself is followed by the rest of its fixed part. In JSON, slashes can be escaped. */
export const tokenHints: readonly SecretHint[] = tokens.map(([pattern, hint]) =>
  hint !== undefined || pattern.includes("/")
    ? (hint ?? pattern)
    : { word: pattern, near: new RegExp(startOf(pattern), "y") },
);

/** Up to the first part of any length: the prefilter tests it at every place, so it must not read on and on. */
function startOf(pattern: string): string {
  const end = /\{(\d+),\}/.exec(pattern);
  return end ? `${pattern.slice(0, end.index)}{${end[1]}}` : pattern;
}

export function maskTokens(text: string, mask: string): string {
  return text.replace(token, (match: string, start: string, value: string) =>
    isPlaceholder(value) ? match : start + mask,
  );
}
