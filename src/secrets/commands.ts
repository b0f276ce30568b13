/** Passwords in the arguments of programs: `mysql -pVALUE`, `curl -u NAME:VALUE`, `echo VALUE | sudo -S`. */
import { maskCookieValues, replaceValues } from "./assignments.ts";
import type { SecretHint } from "./hints.ts";
import { isPlaceholder, isReference } from "./values.ts";

interface ProgramRule {
  /** Names of at least three characters. */
  readonly programs: readonly string[];
  /** The flag, as a regular expression. */
  readonly flag: string;
  /** What is between the flag and the secret, by default white space and quotes. */
  readonly between?: string;
  readonly secret?: string;
  /** A word that has to be between the program and the flag. */
  readonly verb?: string;
}

const quote = `["']?`;
const attached = quote;
const separate = `[\\s=]{1,4}${quote}`;
const either = `\\s{0,4}${quote}`;
/** `NAME:`. Numbers are a user and a group. */
const login = `${separate}[^\\s:"'•]{1,64}:(?!\\d+(?:["'\\s]|$))${quote}`;
const anyValue = String.raw`[^\s"'${"`"}•|;&<>-][^\s"'${"`"}•|;&<>]*`;

const programRules: readonly ProgramRule[] = [
  { programs: ["curl"], flag: "(?:-u|-U|--user|--proxy-user)", between: login },
  { programs: ["http", "https"], flag: "(?:-a|--auth)", between: login },
  {
    programs: ["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mycli"],
    flag: "-p",
    between: attached,
  },
  { programs: ["sshpass", "plink", "pscp", "psftp"], flag: "-pw?", between: either },
  {
    programs: ["docker", "podman", "nerdctl", "buildah", "skopeo"],
    verb: "login",
    flag: "-p",
    between: either,
  },
  { programs: ["redis-cli", "valkey-cli", "keydb-cli"], flag: "(?:-a|AUTH|auth|--requirepass)" },
  { programs: ["redis-server", "valkey-server"], flag: "--requirepass" },
  { programs: ["sqlplus"], flag: "[\\w$]{1,30}/", between: attached, secret: `[^\\s"'•@/]+(?=@)` },
  {
    programs: ["rabbitmqctl"],
    flag: "(?:add_user|change_password)",
    between: `\\s{1,4}\\S{1,64}\\s{1,4}${quote}`,
  },
  { programs: ["ConvertTo-SecureString"], flag: "(?:-String\\s{1,4})?", between: `["']` },
  { programs: ["poetry"], verb: "config", flag: "pypi-token\\.\\S{1,64}" },
  { programs: ["snyk"], flag: "auth" },
  { programs: ["influx", "codecov"], flag: "-t" },
  {
    programs: [
      "mongo",
      "mongosh",
      "mongodump",
      "mongorestore",
      "mongoexport",
      "mongoimport",
      "twine",
      "rabbitmqadmin",
      "cqlsh",
    ],
    flag: "-p",
    between: either,
  },
  { programs: ["xfreerdp", "xfreerdp3", "rdesktop"], flag: "(?:-p|/p:)", between: either },
  { programs: ["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldappasswd"], flag: "-w" },
  {
    programs: ["smbclient", "rpcclient", "smbget"],
    flag: "(?:-U|--user)",
    between: `${separate}[^\\s%"'•]{1,64}%`,
  },
  {
    programs: ["zip", "unzip", "sqlcmd", "ipmitool", "mosquitto_pub", "mosquitto_sub"],
    flag: "-P",
    between: either,
  },
  { programs: ["7z", "7za", "7zz", "rar", "unrar"], flag: "-h?p", between: attached },
  { programs: ["openssl"], flag: "(?:-pass|-passin|-passout)", between: `\\s{1,4}${quote}pass:` },
  { programs: ["openssl"], flag: "-[kK]" },
  {
    programs: ["htpasswd"],
    flag: "-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}",
    between: `\\s{1,4}(?:[^\\s"'•-]\\S{0,80}\\s{1,4}){1,2}?${quote}`,
    secret: `${anyValue}(?=["']?\\s*(?:$|[\\n;|&>]))`,
  },
  {
    programs: ["keytool", "jarsigner", "apksigner"],
    flag: "-[a-z-]{0,16}pass",
    between: `\\s{1,4}(?:pass:)?${quote}`,
  },
  { programs: ["ssh-keygen"], flag: "-[NP]" },
  { programs: ["lftp"], flag: "-u", between: `\\s{1,4}${quote}[^\\s,"'•]{1,64},` },
  { programs: ["snmpwalk", "snmpget", "snmpset", "snmpbulkwalk"], flag: "-[AX]" },
];

const between = String.raw`(?:[^\n•]|\\\n)`;
const maxDistance = 400;

/** A short name is four characters long only with what is around it. */
const isShort = (program: string): boolean => program.length < 4;
const programStarts = " \"'/\\\\;&|(`nt";

function patternOf(program: string): string {
  return isShort(program) ? `(?<![^${programStarts}])${program}(?= )` : program;
}

const programPatterns = programRules.map(
  ({ programs, verb, flag, between: gap = separate, secret = anyValue }) => {
    const toFlag =
      verb === undefined
        ? `(?:${between}{0,${maxDistance}}?\\s)??`
        : `(?:${between}{0,80}?\\s)??${verb}\\s(?:${between}{0,${maxDistance}}?\\s)??`;
    return new RegExp(
      `((?:^|[^\\w.-]|\\\\[nt])(?:${programs.map(patternOf).join("|")})(?:\\.exe)?\\s${toFlag}${flag}${gap})(${secret})`,
      "g",
    );
  },
);

/** In JSON text, white space can be `\n` or `\t`. */
const programHints = programRules.flatMap(({ programs, flag }) =>
  programs.map((program) => {
    const [word, start] = isShort(program)
      ? [`[${programStarts}]${program} `, `[${programStarts}]`]
      : [program, ""];
    return {
      word,
      near: new RegExp(
        `${start}${program}(?:\\.exe)?[\\s\\\\](?:[\\s\\S]{0,${maxDistance * 2}}?[\\s\\\\nrt])??${flag}`,
        "y",
      ),
    };
  }),
);

/** `curl -b 'sid=VALUE'` */
const curlCookie = new RegExp(
  `(curl\\s(?:${between}{0,${maxDistance}}?\\s)??(?:-b|--cookie)${separate})([^"'\\n•]{8,1024})`,
  "g",
);
/** `echo VALUE | sudo -S`, `echo NAME:VALUE | chpasswd` */
const piped =
  /(\b(?:echo|printf)\s{1,4}(?:-[neE]{1,3}\s{1,4})?(?:["']?%s(?:\\n)?["']?\s{1,4})?["']?(?:[\w.-]{1,32}:)?)([^\s"'`|•]{1,512})(?=["']?\s{0,4}\|[^\n|]{0,200}?(?:sudo\s[^\n|]{0,40}?-[a-zA-Z]*S|chpasswd|--password-stdin|--with-token))/g;

export const argumentHints: readonly SecretHint[] = [
  ...programHints,
  {
    word: "curl",
    near: new RegExp(`curl[\\s\\\\](?:[\\s\\S]{0,${maxDistance * 2}}?[\\s\\\\nrt])??(?:-b|--cookie)`, "y"),
  },
  { word: "sudo", near: /sudo[\s\\][\s\S]{0,40}?-[a-zA-Z]*S/y },
  { word: "chpasswd", near: /chpasswd/y },
  { word: "password-stdin", near: /password-stdin/y },
  { word: "--with-token", near: /--with-token/y },
];

export function maskArguments(text: string, mask: string): string {
  const replace = (before: string, pattern: RegExp) =>
    replaceValues(before, pattern, mask, (match) => {
      const [, start = "", value = ""] = match;
      if (isReference(value) || isPlaceholder(value)) return null;
      return [match.index + start.length, match.index + start.length + value.length];
    });
  let masked = text;
  for (const pattern of programPatterns) masked = replace(masked, pattern);
  masked = replace(masked, piped);
  return masked.replace(
    curlCookie,
    (_, start: string, value: string) => start + maskCookieValues(value, mask),
  );
}
