/**
 * Whether a value next to a secret's name is a secret itself, or stands for one: `$TOKEN`, `<your-key>`, `process.env.KEY`,
 * `string`, a path.
 */

/** Variables and commands of a shell, templates, and format strings. */
const reference =
  /^(?:\$(?:\w*[A-Za-z_]\w*|\d+|[({@*])|\$?\{\{|\$?\{[A-Za-z_][\w.:?[\]"'-]{0,40}\}|`|<|%[A-Za-z_]\w*%|%\(?[a-z]|@[A-Za-z_]\w*@|@[\w~-]*[./][\w./~-]*$|!(?:vault|secret|Ref|Sub|GetAtt|ImportValue)\b|\[[^\]]*\]$|op:\/\/|vault:|arn:|secretref:|keyvault:|file:)/;
/** `getToken(`, `headers["x"]` */
const callOrIndex = /^(?:new |await )?[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)*(?:[([]|\?\.)/;
/** `process.env.KEY`, `config?.password!` */
const memberAccess = /^(?:[A-Za-z_$][\w$]*(?:\?\.|\.|::|->))+[A-Za-z_$][\w$]*[!?]?$/;
const url = /^[a-z][a-z0-9+.-]{1,20}:\/\//i;
const path = /^(?:~|\.{1,2}|[A-Za-z]:)?[/\\]/;
const masked = /^[x*.•#_?-]{3,}$|\*{3}|\.{3}$|…|x{6}/i;
const placeholderWords = new Set(
  (
    "your my the a an some this that new old user users db app api access auth client service secret secrets key keys token tokens " +
    "password passwd passwort pass pwd passphrase credential credentials here value name placeholder example sample dummy todo tbd " +
    "redacted hidden masked removed insert replace change changeme change-me fill with in me it is not set unset empty none null nil " +
    "undefined true false yes no on off string str text number int integer boolean bool bytes object array list map dict any unknown " +
    "never void optional required default type uuid varchar char error invalid missing expired incorrect wrong field input prompt ask " +
    "stdin file path env environment variable var param arg args bearer basic digest oauth jwt x-api-key"
  ).split(" "),
);

const maxPlaceholder = 64;

/** Nothing that could be used: `xxxx`, `***`, `your-api-key`, `string`. */
export function isPlaceholder(value: string): boolean {
  if (masked.test(value) || (value.length > 12 && new Set(value.slice(4, 36)).size <= 2)) return true;
  if (value.length > maxPlaceholder) return false;
  const words = value
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z]+/)
    .filter(Boolean);
  return (
    !/\d{2}/.test(value) &&
    words.length > 0 &&
    words.every((word) => placeholderWords.has(word.toLowerCase()))
  );
}

/** Not the secret itself, but where it comes from. */
export function isReference(value: string): boolean {
  // `$2b$10$…` is a hash.
  if (/^\$\w{1,8}\$/.test(value)) return false;
  if (reference.test(value)) return !(value.startsWith("{") && isRandom(value.slice(1, -1), 24));
  if (url.test(value)) return true;
  return path.test(value) && !value.split(/[/\\]/).some((part) => isRandom(part, 16));
}

/** An expression of a programming language, which is read there and not written out. */
export function isExpression(value: string): boolean {
  return (callOrIndex.test(value) || memberAccess.test(value)) && !isRandom(value, 20);
}

/** Words that are joined: `prod-db-2024`, `created_at_desc`, `sha256`, `v1.2.3`. */
export function isSlug(value: string): boolean {
  return value
    .split(/[-_./:@,+#]/)
    .every((part) => /^(?:[A-Za-z]?[a-z]*\d{0,4}|[A-Z]*\d{0,4}|\d*|[A-Z][a-z]+[A-Z][a-z]+)$/.test(part));
}

/** A quick test: without digits, the case of letters has to change. */
export function mayBeRandom(value: string): boolean {
  return /\d|[a-z][A-Z]|[A-Z2-7]{16}/.test(value);
}

/** Letters, digits and their case change so often that no words are in it. */
export function isRandom(value: string, minLength: number): boolean {
  if (value.length < minLength) return false;
  const changes = countChanges(value);
  if (changes < 2 && !/^[A-Z2-7]{16,}$/.test(value)) return false;
  if (/\s/.test(value) || isSlug(value)) return false;
  if (/\d/.test(value) && /[A-Za-z]/.test(value)) return changes >= 3 || changes >= value.length / 5;
  if (/^[A-Z2-7]{16,}$/.test(value)) return true;
  return !/\d/.test(value) && changes >= value.length / 3;
}

/** Between lower case, upper case and digits. A capital before small letters starts a word: one change. */
function countChanges(value: string): number {
  let changes = 0;
  let last = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    const kind =
      code >= 97 && code <= 122 ? 1 : code >= 65 && code <= 90 ? 2 : code >= 48 && code <= 57 ? 3 : 0;
    if (kind === 0) continue;
    if (last !== 0 && kind !== last) changes++;
    last = kind;
  }
  return changes;
}
