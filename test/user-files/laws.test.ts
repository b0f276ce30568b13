import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatAsShell } from "../../src/user-files/hook-command.ts";
import {
  addHooks,
  type HooksChange,
  isEmptySettings,
  listOwnHooks,
  removeHooks,
  SettingsError,
} from "../../src/user-files/hooks.ts";
import { rest, settingsWithOurs, untouchedSettings, wanted } from "./generate-settings.ts";

const runs = { numRuns: 500 };
const timeoutMs = 60_000;
const asOwn = wanted.map(({ event, matcher = null, timeout, async, ...hook }) => ({
  event,
  matcher,
  command: formatAsShell(hook),
  timeout,
  async,
}));
const byEvent = (a: { event: string }, b: { event: string }): number => a.event.localeCompare(b.event);
const parse = (text: string): unknown => JSON.parse(text.replace("\uFEFF", ""));

describe("whatever the settings look like", () => {
  test(
    "an install adds each hook once, and changes no other value",
    () => {
      fc.assert(
        fc.property(settingsWithOurs, ({ text }) => {
          const after = addHooks(text, wanted).text;
          expect([...listOwnHooks(after)].sort(byEvent)).toEqual([...asOwn].sort(byEvent));
          expect(rest(after)).toEqual(rest(text));
          expect(() => parse(after)).not.toThrow();
        }),
        runs,
      );
    },
    timeoutMs,
  );

  test(
    "a second install changes nothing",
    () => {
      fc.assert(
        fc.property(settingsWithOurs, ({ text }) => {
          const once = addHooks(text, wanted).text;
          expect(addHooks(once, wanted)).toEqual({ text: once, added: [], removed: [] });
        }),
        runs,
      );
    },
    timeoutMs,
  );

  test(
    "an uninstall restores the file byte for byte",
    () => {
      fc.assert(
        fc.property(untouchedSettings, ({ text }) => {
          const { text: after, added, removed } = addHooks(text, wanted);
          expect({ added, removed }).toEqual({ added: wanted.map(({ event }) => event), removed: [] });
          expect(removeHooks(after).text).toBe(text);
        }),
        runs,
      );
    },
    timeoutMs,
  );

  test(
    "an uninstall removes all of beckon's hooks and no others; a second one changes nothing",
    () => {
      fc.assert(
        fc.property(settingsWithOurs, ({ text }) => {
          const { text: after, removed } = removeHooks(text);
          expect(listOwnHooks(after)).toEqual([]);
          expect(rest(after)).toEqual(rest(text));
          expect(removed).toEqual([...new Set(listOwnHooks(text).map(({ event }) => event))]);
          expect(removeHooks(after)).toEqual({ text: after, added: [], removed: [] });
        }),
        runs,
      );
    },
    timeoutMs,
  );

  test(
    "updates to another path and other events leave one entry per event, and restore the file at the end",
    () => {
      const other = wanted
        .slice(1)
        .map(({ args: _, ...hook }) => ({ ...hook, command: "/opt/beckon hook claude" }));
      fc.assert(
        fc.property(untouchedSettings, ({ text }) => {
          const updated = addHooks(addHooks(text, wanted).text, other).text;
          expect(listOwnHooks(updated)).toHaveLength(other.length);
          expect(removeHooks(addHooks(updated, wanted).text).text).toBe(text);
        }),
        runs,
      );
    },
    timeoutMs,
  );

  test(
    "added text has the line ends and indentation of the file",
    () => {
      fc.assert(
        fc.property(untouchedSettings, ({ text, style }) => {
          fc.pre(style.wild === null && !style.inside.includes("\n") && !isEmptySettings(text));
          const body = addHooks(text, wanted).text.trimEnd();
          if (style.unit === null) return expect(body).not.toContain("\n");
          const lines = body.split("\n").slice(1, -1);
          const ends = new Set<string>(lines.map((line) => (line.endsWith("\r") ? "\r\n" : "\n")));
          expect(ends).toEqual(new Set([style.eol]));
          for (const line of lines) expect(line).toMatch(new RegExp(`^(${style.unit})*[^ \\t]`));
        }),
        runs,
      );
    },
    timeoutMs,
  );
});

test(
  "for any text, the only error is a SettingsError with line and column",
  () => {
    const broken = fc
      .tuple(settingsWithOurs, fc.nat(), fc.constantFrom("", ",", "}", "//", '"', "\\", "\0", "1", "[", "'"))
      .map(([{ text }, at, put]) => {
        const offset = at % (text.length + 1);
        return text.slice(0, offset) + put + text.slice(offset + 1);
      });
    fc.assert(
      fc.property(fc.oneof(broken, fc.string(), fc.json()), (text) => {
        for (const change of [() => addHooks(text, wanted), () => removeHooks(text)]) {
          const result = outcome(change);
          if (typeof result === "string") expect(() => parse(result.trim() || "{}")).not.toThrow();
          else {
            expect(result).toBeInstanceOf(SettingsError);
            expect(result.message).toStartWith(`line ${result.line}, column ${result.column}: `);
            expect(result.line).toBeLessThanOrEqual(text.split(/\r\n|\n|\r/).length);
          }
        }
      }),
      runs,
    );
  },
  timeoutMs,
);

function outcome(change: () => HooksChange): string | SettingsError {
  try {
    return change().text;
  } catch (error) {
    return error as SettingsError;
  }
}
