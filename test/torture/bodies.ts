/** Bodies that no agent should send, and among them those that agents do. Body n of a seed is always the same but for its time. */
import { textFields, valid, validText, withField } from "./payloads.ts";
import { createRandom, type Random } from "./random.ts";
import { spoil, wrongText, wrongValue } from "./spoil.ts";

export interface Body {
  readonly kind: Kind;
  readonly bytes: Uint8Array;
}

type Make = (random: Random, n: number) => string | Uint8Array;

const mb = 1024 * 1024;

function nested(depth: number, random: Random): string {
  if (random.chance(0.5)) return "[".repeat(depth) + "]".repeat(depth);
  return `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
}

/** What makes careless expressions slow. */
const slowPieces = [
  "password=",
  "-----BEGIN PRIVATE KEY-----",
  'token: \\"',
  "eyJhbGciOi.",
  "\\\\",
  "://a:b",
  "a ",
  "<",
];

function brokenJson(random: Random, n: number): string | Uint8Array {
  const text = validText(random, n);
  const at = random.between(1, text.length - 1);
  const bytes = Buffer.from(text);
  switch (random.between(0, 8)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return `${text}${random.pick(["}", ",", "\u0000", "x", text])}`;
    case 2:
      return random.pick([
        "",
        " ",
        "\n",
        "{",
        "[",
        '"',
        "nul",
        "undefined",
        "NaN",
        "Infinity",
        "'a'",
        "{a:1}",
        "\ufefff",
      ]);
    case 3:
      return text.replaceAll('"', "'");
    case 4:
      return `/* note */ ${text}`;
    case 5:
      return text.replace(/\}$/, ",}");
    case 6:
      return bytes.map((byte) => byte ^ 0x80);
    default:
      return Uint8Array.from({ length: random.between(1, 2_000) }, () => random.between(0, 256));
  }
}

const makers = {
  valid: validText,
  "broken JSON": brokenJson,
  "no object": (random) =>
    random.pick(["null", "true", "1", "-0", "1e999", '"text"', "[]", "[{}]", "[[[]]]"]),
  "wrong types": (random, n) => JSON.stringify(spoil(valid(random, n), random, random.between(1, 6))),
  "flipped bytes": (random, n) => {
    const bytes = Buffer.from(validText(random, n));
    for (let times = random.between(1, 4); times > 0; times--) {
      bytes[random.between(0, bytes.length)] = random.between(0, 256);
    }
    return bytes;
  },
  "strange characters": (random, n) => withField(random, n, random.pick(textFields), wrongText(random)),
  "raw control characters": (random, n) =>
    withField(random, n, "prompt", `"a${String.fromCharCode(random.between(0, 32))}b"`),
  "twice the same key": (random, n) => {
    const other = JSON.stringify(wrongValue(random));
    const key = random.pick(["session_id", "hook_event_name", "provider", "_meta", "payload", "prompt"]);
    const twice = `${JSON.stringify(key)}:${other}`;
    const text = validText(random, n);
    return random.chance(0.5) ? `{${twice},${text.slice(1)}` : `${text.slice(0, -1)},${twice}}`;
  },
  "names of the language": (random, n) => {
    const name = random.pick([
      "__proto__",
      "constructor",
      "prototype",
      "toString",
      "hasOwnProperty",
      "then",
      "length",
    ]);
    const inner = random.pick([
      '{"polluted":true}',
      '{"prototype":{"polluted":true}}',
      "null",
      '"x"',
      "[]",
      "1",
    ]);
    const text = validText(random, n);
    const place = random.between(0, 4);
    if (place === 0) return `{"${name}":${inner},${text.slice(1)}`;
    if (place === 1) return text.replace(/"(provider|hook_event_name|tool_name)":"[^"]*"/, `"$1":"${name}"`);
    return withField(
      random,
      n,
      place === 2 ? name : "tool_input",
      place === 2 ? inner : `{"${name}":${inner}}`,
    );
  },
  "unknown event": (random, n) =>
    withField(random, n, "hook_event_name", JSON.stringify(`Event${n % 1_000}`)),
  "unknown provider": (random, n) =>
    JSON.stringify({
      ...valid(random, n),
      provider: random.pick(["codex2", "", "Claude", "claude ", "__proto__"]),
    }),
  "many things": (random, n) => {
    const many = random.between(1_000, 5_000);
    const list = Array.from({ length: many }, (_, index) => (random.chance(0.5) ? index : `k${index}`));
    const object = Object.fromEntries(list.map((value) => [`key-${value}`, value]));
    const name = random.pick(["tool_input", "background_tasks", "permission_suggestions", "_meta"]);
    return withField(random, n, name, JSON.stringify(random.chance(0.5) ? list : object));
  },
  "deep nesting": (random, n) =>
    withField(random, n, "tool_input", nested(random.between(10, 3_000), random)),
  "very deep nesting": (random, n) => {
    const deep = nested(100_000, random);
    const place = random.between(0, 4);
    if (place === 0) return deep;
    if (place === 1) return deep.slice(0, deep.length / 2);
    return withField(random, n, place === 2 ? "tool_input" : "_meta", deep);
  },
  "long text": (random, n) =>
    withField(random, n, random.pick(textFields), JSON.stringify("x".repeat(random.between(1_000, 70_000)))),
  "slow text": (random, n) =>
    withField(random, n, "prompt", `"${random.pick(slowPieces).repeat(random.between(100, 5_000))}"`),
  "huge text": (random, n) => withField(random, n, random.pick(textFields), `"${"y".repeat(0.97 * mb)}"`),
  "huge slow text": (random, n) => {
    const piece = random.pick(slowPieces);
    return withField(random, n, "prompt", `"${piece.repeat((0.9 * mb) / piece.length)}"`);
  },
  "10 MB": (random, n) => withField(random, n, "prompt", `"${"z".repeat(10 * mb)}"`),
} as const satisfies Record<string, Make>;

export type Kind = keyof typeof makers;

/** How many of 10,000. The huge ones are few, or the disk is what is tested. */
const shares: Readonly<Record<Kind, number>> = {
  valid: 2_000,
  "broken JSON": 1_500,
  "no object": 200,
  "wrong types": 2_500,
  "flipped bytes": 600,
  "strange characters": 700,
  "raw control characters": 200,
  "twice the same key": 500,
  "names of the language": 600,
  "unknown event": 400,
  "unknown provider": 300,
  "many things": 20,
  "deep nesting": 254,
  "very deep nesting": 6,
  "long text": 155,
  "slow text": 60,
  "huge text": 2,
  "huge slow text": 1,
  "10 MB": 2,
};

const wheel: readonly Kind[] = (Object.keys(shares) as Kind[]).flatMap((kind) =>
  Array.from({ length: shares[kind] }, () => kind),
);

export function bodyOf(seed: number, n: number): Body {
  const random = createRandom(seed + Math.imul(n, 0x9e3779b1));
  const kind = random.pick(wheel);
  const made = (makers[kind] as Make)(random, n);
  return { kind, bytes: typeof made === "string" ? Buffer.from(made) : made };
}

/** What the answer has to be; null: 200 or 400, as its place in the event decides. */
export function expectedStatus(kind: Kind): number | null {
  if (kind === "valid") return 200;
  if (kind === "broken JSON" || kind === "no object" || kind === "unknown provider") return 400;
  return kind === "10 MB" ? 413 : null;
}
