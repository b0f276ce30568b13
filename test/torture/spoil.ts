/** Values where they do not belong. */
import type { Random } from "./random.ts";

type Fields = Record<string, unknown>;

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

export const wrongValue = (random: Random): unknown => structuredClone(random.pick(values));

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

export const wrongText = (random: Random): string => `"${random.pick(texts)}"`;

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
export function spoil(value: Fields, random: Random, times: number): unknown {
  for (let done = 0; done < times; done++) {
    const found = spots(value);
    if (found.length === 0) break;
    const { holder, key } = random.pick(found) as { holder: Fields; key: string };
    const how = random.next();
    if (how < 0.1) delete holder[key];
    else if (how < 0.15) {
      holder[random.pick(["_meta", "payload", "session_id", "agent_id"])] = structuredClone(holder[key]);
    } else holder[key] = wrongValue(random);
  }
  return value;
}
