/**
 * Request bodies that no agent should send, mixed with bodies that agents do send. Body n of a seed is always the same, except for
 * its time.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom, type Random } from "./random.ts";

type Fields = Record<string, unknown>;

const fixtures = join(import.meta.dir, "../fixtures/payloads.jsonl");
const payloads = readFileSync(fixtures, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.stringify((JSON.parse(line) as { payload: Fields }).payload));

const sessionsPerPayload = 4;

/** As the forwarder wraps it, as older ones do, or bare. */
function createValidBody(random: Random, n: number): Fields {
  const payload = JSON.parse(random.pick(payloads)) as Fields;
  payload.session_id = `${payload.session_id}-${random.between(0, sessionsPerPayload)}`;
  const meta: Fields = {
    id: random.chance(0.05) ? `again-${random.between(0, 50)}` : `body-${n}`,
    at: Date.now(),
    seq: random.between(0, 1e9),
    boot: "another-boot",
    host: "another-host",
    collected_at: new Date().toISOString(),
    forwarder_version: "0.1.0",
    workspace_id: "project",
    terminal_session_id: "w0t0p0",
    pid: 4242,
    procStart: "123456",
    tty: "/dev/pts/3",
    attended: true,
    env: { TERM: "xterm", TMUX_PANE: "%3", WINDOWID: "7" },
  };
  const form = random.next();
  if (form < 0.6) return { provider: "claude", _meta: meta, payload };
  return form < 0.8 ? { ...payload, _meta: meta } : payload;
}

const createValidText = (random: Random, n: number): string => JSON.stringify(createValidBody(random, n));

/** With one field of the payload put in as text, so that it may be what JSON.stringify would never write. */
function createTextWithField(random: Random, n: number, name: string, text: string): string {
  const session_id = `other-${random.between(0, 50)}`;
  const meta = { id: `body-${n}` };
  return `{"provider":"claude","_meta":${JSON.stringify(meta)},"payload":{"session_id":"${session_id}","hook_event_name":"${random.pick(eventsWithText)}",${JSON.stringify(name)}:${text}}}`;
}

const eventsWithText = [
  "UserPromptSubmit",
  "PermissionRequest",
  "PreToolUse",
  "Stop",
  "Notification",
  "Future",
];
const textFields = [
  "prompt",
  "last_assistant_message",
  "message",
  "cwd",
  "tool_name",
  "tool_input",
  "session_id",
];

const values: readonly unknown[] = [
  ...[null, true, false, 0, -1, 0.5, -0, 1e308, 2 ** 53, 2 ** 31, Number.MIN_VALUE],
  ...[
    "",
    " ",
    "0",
    "null",
    "__proto__",
    "constructor",
    "../../../etc/passwd",
    "/dev/zero",
    "<b>x</b>",
    "$(id)",
  ],
  ...[[], [null], [[]], ["a", 1, {}], {}, { a: null }, { length: -1 }, { toString: 1 }],
  ...["x".repeat(201), "x".repeat(5_000), "\u0000", "\ud800", "\u202e", "2026-13-45T99:99:99Z", "💥"],
  JSON.parse('{"then":{},"__proto__":{"x":1}}'),
];

const pickWrongValue = (random: Random): unknown => structuredClone(random.pick(values));

/** Escaped as JSON allows and JSON.stringify never writes. */
const texts: readonly string[] = [
  ...[
    "\\u0000",
    "a\\u0000b",
    "\\ud800",
    "\\udc00\\ud800",
    "\\ud83d",
    "x\\udfffy",
    "\\uFFFF",
    "\\u2028\\u2029",
  ],
  ...[
    "\\u001b[31m",
    "\\u001b]0;title\\u0007",
    "\\u202egnp.exe",
    "\\u200b",
    "\\r\\n\\r\\n",
    "\\t",
    "\\\\",
    '\\"',
  ],
  ...["\ud83d\ude00", "\u0301".repeat(500), "ﷺ", "\u0130", "%s%n%00", "../..", "`id`", "'; drop table"],
];

const pickStrangeText = (random: Random): string => `"${random.pick(texts)}"`;

interface Spot {
  readonly holder: Fields | unknown[];
  readonly key: string | number;
}

function spots(holder: unknown, found: Spot[] = []): Spot[] {
  if (typeof holder !== "object" || holder === null) return found;
  const keys = Array.isArray(holder) ? holder.keys() : Object.keys(holder);
  for (const key of keys) {
    found.push({ holder: holder as Fields, key });
    spots((holder as Fields)[key], found);
  }
  return found;
}

/** Changes some of its fields, at any depth, to what they should not be; some are left out or called otherwise. */
function damageFields(value: Fields, random: Random, times: number): unknown {
  for (let done = 0; done < times; done++) {
    const found = spots(value);
    if (found.length === 0) break;
    const { holder, key } = random.pick(found) as { holder: Fields; key: string };
    const how = random.next();
    if (how < 0.1) delete holder[key];
    else if (how < 0.15) {
      holder[random.pick(["_meta", "payload", "session_id", "agent_id"])] = structuredClone(holder[key]);
    } else holder[key] = pickWrongValue(random);
  }
  return value;
}

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
  const text = createValidText(random, n);
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
  valid: createValidText,
  "broken JSON": brokenJson,
  "no object": (random) =>
    random.pick(["null", "true", "1", "-0", "1e999", '"text"', "[]", "[{}]", "[[[]]]"]),
  "wrong types": (random, n) =>
    JSON.stringify(damageFields(createValidBody(random, n), random, random.between(1, 6))),
  "flipped bytes": (random, n) => {
    const bytes = Buffer.from(createValidText(random, n));
    for (let times = random.between(1, 4); times > 0; times--) {
      bytes[random.between(0, bytes.length)] = random.between(0, 256);
    }
    return bytes;
  },
  "strange characters": (random, n) =>
    createTextWithField(random, n, random.pick(textFields), pickStrangeText(random)),
  "raw control characters": (random, n) =>
    createTextWithField(random, n, "prompt", `"a${String.fromCharCode(random.between(0, 32))}b"`),
  "twice the same key": (random, n) => {
    const other = JSON.stringify(pickWrongValue(random));
    const key = random.pick(["session_id", "hook_event_name", "provider", "_meta", "payload", "prompt"]);
    const twice = `${JSON.stringify(key)}:${other}`;
    const text = createValidText(random, n);
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
    const text = createValidText(random, n);
    const place = random.between(0, 4);
    if (place === 0) return `{"${name}":${inner},${text.slice(1)}`;
    if (place === 1) return text.replace(/"(provider|hook_event_name|tool_name)":"[^"]*"/, `"$1":"${name}"`);
    return createTextWithField(
      random,
      n,
      place === 2 ? name : "tool_input",
      place === 2 ? inner : `{"${name}":${inner}}`,
    );
  },
  "unknown event": (random, n) =>
    createTextWithField(random, n, "hook_event_name", JSON.stringify(`Event${n % 1_000}`)),
  "unknown provider": (random, n) =>
    JSON.stringify({
      ...createValidBody(random, n),
      provider: random.pick(["codex2", "", "Claude", "claude ", "__proto__"]),
    }),
  "many things": (random, n) => {
    const many = random.between(1_000, 5_000);
    const list = Array.from({ length: many }, (_, index) => (random.chance(0.5) ? index : `k${index}`));
    const object = Object.fromEntries(list.map((value) => [`key-${value}`, value]));
    const name = random.pick(["tool_input", "background_tasks", "permission_suggestions", "_meta"]);
    return createTextWithField(random, n, name, JSON.stringify(random.chance(0.5) ? list : object));
  },
  "deep nesting": (random, n) =>
    createTextWithField(random, n, "tool_input", nested(random.between(10, 3_000), random)),
  "very deep nesting": (random, n) => {
    const deep = nested(100_000, random);
    const place = random.between(0, 4);
    if (place === 0) return deep;
    if (place === 1) return deep.slice(0, deep.length / 2);
    return createTextWithField(random, n, place === 2 ? "tool_input" : "_meta", deep);
  },
  "long text": (random, n) =>
    createTextWithField(
      random,
      n,
      random.pick(textFields),
      JSON.stringify("x".repeat(random.between(1_000, 70_000))),
    ),
  "slow text": (random, n) =>
    createTextWithField(
      random,
      n,
      "prompt",
      `"${random.pick(slowPieces).repeat(random.between(100, 5_000))}"`,
    ),
  "huge text": (random, n) =>
    createTextWithField(random, n, random.pick(textFields), `"${"y".repeat(0.97 * mb)}"`),
  "huge slow text": (random, n) => {
    const piece = random.pick(slowPieces);
    return createTextWithField(random, n, "prompt", `"${piece.repeat((0.9 * mb) / piece.length)}"`);
  },
  "10 MB": (random, n) => createTextWithField(random, n, "prompt", `"${"z".repeat(10 * mb)}"`),
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

export function createBody(seed: number, n: number): Body {
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
