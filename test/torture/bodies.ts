/**
 * Request bodies that no agent should send, mixed with bodies that agents do send. Body n of a seed is always the same, except for
 * its time.
 */
import { recordedPayloads } from "../agents/claude/recorded-payloads.ts";
import { createRandom, type Random } from "../random.ts";

type Fields = Record<string, unknown>;

const payloads = recordedPayloads.map(({ payload }) => JSON.stringify(payload));

const sessionsPerPayload = 4;

/** A payload in the envelope of the forwarder, in that of older ones, or without one. */
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

/** One field of the payload is inserted as text, so that it can be what JSON.stringify never writes. */
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

const wrongValues: readonly unknown[] = [
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

const pickWrongValue = (random: Random): unknown => structuredClone(random.pick(wrongValues));

/** With escapes that JSON allows and JSON.stringify never writes. */
const strangeTexts: readonly string[] = [
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

const pickStrangeText = (random: Random): string => `"${random.pick(strangeTexts)}"`;

interface Field {
  readonly holder: Fields | unknown[];
  readonly key: string | number;
}

function listFields(holder: unknown, fields: Field[] = []): Field[] {
  if (typeof holder !== "object" || holder === null) return fields;
  const keys = Array.isArray(holder) ? holder.keys() : Object.keys(holder);
  for (const key of keys) {
    fields.push({ holder: holder as Fields, key });
    listFields((holder as Fields)[key], fields);
  }
  return fields;
}

/** Changes some fields at any depth to wrong values. Some are removed or renamed. */
function damageFields(value: Fields, random: Random, times: number): unknown {
  for (let done = 0; done < times; done++) {
    const fields = listFields(value);
    if (fields.length === 0) break;
    const { holder, key } = random.pick(fields) as { holder: Fields; key: string };
    const how = random.next();
    if (how < 0.1) delete holder[key];
    else if (how < 0.15) {
      holder[random.pick(["_meta", "payload", "session_id", "agent_id"])] = structuredClone(holder[key]);
    } else holder[key] = pickWrongValue(random);
  }
  return value;
}

export interface GeneratedBody {
  readonly kind: Kind;
  readonly bytes: Uint8Array;
}

type CreateText = (random: Random, n: number) => string | Uint8Array;

const mb = 1024 * 1024;

function createNested(depth: number, random: Random): string {
  if (random.chance(0.5)) return "[".repeat(depth) + "]".repeat(depth);
  return `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
}

/** These make careless regular expressions slow. */
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

function createBrokenJson(random: Random, n: number): string | Uint8Array {
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

const generators = {
  valid: createValidText,
  "broken JSON": createBrokenJson,
  "not an object": (random) =>
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
  "duplicate key": (random, n) => {
    const other = JSON.stringify(pickWrongValue(random));
    const key = random.pick(["session_id", "hook_event_name", "provider", "_meta", "payload", "prompt"]);
    const twice = `${JSON.stringify(key)}:${other}`;
    const text = createValidText(random, n);
    return random.chance(0.5) ? `{${twice},${text.slice(1)}` : `${text.slice(0, -1)},${twice}}`;
  },
  "names of JavaScript": (random, n) => {
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
    createTextWithField(random, n, "tool_input", createNested(random.between(10, 3_000), random)),
  "very deep nesting": (random, n) => {
    const deep = createNested(100_000, random);
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
} as const satisfies Record<string, CreateText>;

export type Kind = keyof typeof generators;

/** How many of 10,000. Huge ones are rare, because they would only test the disk. */
const shares: Readonly<Record<Kind, number>> = {
  valid: 2_000,
  "broken JSON": 1_500,
  "not an object": 200,
  "wrong types": 2_500,
  "flipped bytes": 600,
  "strange characters": 700,
  "raw control characters": 200,
  "duplicate key": 500,
  "names of JavaScript": 600,
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

export function createBody(seed: number, n: number): GeneratedBody {
  const random = createRandom(seed + Math.imul(n, 0x9e3779b1));
  const kind = random.pick(wheel);
  const text = (generators[kind] as CreateText)(random, n);
  return { kind, bytes: typeof text === "string" ? Buffer.from(text) : text };
}

/** null if 200 and 400 are both right: it depends on which field is wrong. */
export function expectedStatus(kind: Kind): number | null {
  if (kind === "valid") return 200;
  if (kind === "broken JSON" || kind === "not an object" || kind === "unknown provider") return 400;
  return kind === "10 MB" ? 413 : null;
}
