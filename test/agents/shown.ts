/** The law of every agent that takes answers: requests that do different things, and can be allowed, do not look the same. */
import { expect } from "bun:test";
import fc from "fast-check";
import type { JsonRecord } from "../../src/core/json.ts";
import type { AskDetails } from "../../src/core/session/ask-details.ts";

/** Text with what could be taken for a part of what beckon itself shows. */
export const trickyText = fc.string({
  unit: fc.constantFrom(
    ...["a", "b", " ", "\n", "\t", "\r", "+", "-", "/", "'", '"', "⟨", "⤷ ", "\u0085", "\u202e", "\u200b"],
    ...[
      "⟨in⟩ ",
      "⟨write⟩ /a",
      "⟨U+202E⟩",
      "*** Add File: a\n",
      "… 2 more lines",
      " ".repeat(41),
      "x".repeat(99),
    ],
  ),
  maxLength: 6,
});

const trickyValue: fc.Arbitrary<unknown> = fc.oneof(
  trickyText,
  fc.boolean(),
  fc.integer(),
  fc.array(trickyText, { maxLength: 2 }),
  fc.dictionary(trickyText, trickyText, { maxKeys: 2 }),
);

/** A field more than the agent sends today. */
export const unknownField = fc.dictionary(
  trickyText.map((name) => `x${name}`),
  trickyValue,
  { maxKeys: 1 },
);

/**
 * `requests` makes a request of fields, so that two of them can differ in one field only. `effectOf` says what a request does, as
 * the agent reads it.
 */
export function checkShown(
  requests: fc.Arbitrary<JsonRecord>,
  describe: (request: JsonRecord) => AskDetails | null,
  effectOf: (request: JsonRecord) => unknown,
  numRuns = 500,
): void {
  const sent = requests.map((request): JsonRecord => JSON.parse(JSON.stringify(request)));
  const pairs = fc.tuple(sent, sent, fc.nat()).map(([one, other, pick]) => {
    const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    const name = names[pick % names.length] ?? "";
    const { [name]: _, ...rest } = one;
    const two = Object.hasOwn(other, name) ? { ...rest, [name]: other[name] } : rest;
    return [one, two] as const;
  });
  let compared = 0;
  fc.assert(
    fc.property(pairs, ([one, two]) => {
      const [a, b] = [describe(one), describe(two)];
      if (!a?.isWhole || !b?.isWhole) return;
      if (Bun.deepEquals(effectOf(one), effectOf(two))) return;
      compared++;
      expect(shownOf(a)).not.toEqual(shownOf(b));
    }),
    { numRuns },
  );
  // The law says nothing about requests that cannot be allowed: most must be.
  expect(compared).toBeGreaterThan(numRuns / 10);
}

const shownOf = ({ tool, heading, lines }: AskDetails) => [tool, heading, lines];
