import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Lane, Span } from "../../src/core/interfaces/wire.ts";
import type { AskDetails } from "../../src/core/session/ask-details.ts";
import { fitLines, joinRows, splitLines } from "../../src/core/text/fit.ts";
import {
  formatAge,
  formatCost,
  formatExactDuration,
  formatSpokenDuration,
  formatTokens,
} from "../../src/core/view/figures.ts";
import type { AskBeat } from "../../src/core/view/story.ts";
import {
  cleanLines,
  contextPercent,
  describeEnding,
  formatModel,
  formatWhen,
  splitMatches,
} from "../../src/dashboard/page/format.ts";
import { parseDiff } from "../../src/dashboard/page/lines.ts";
import { placeMoment } from "../../src/dashboard/page/place-moment.ts";
import {
  chooseDayRange,
  chooseLabels,
  choosePastRange,
  createBars,
  createTicks,
  joinLanes,
  markWaits,
  sumStates,
} from "../../src/dashboard/page/spans.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

test.each([
  [48 * second, "48s", "48s", "48 s"],
  [30_700, "30s", "30s", "30 s"],
  [6 * minute + 41 * second, "6m 41s", "6m", "6 min"],
  [102 * minute, "1h 42m", "1h 42m", "1 h 42 min"],
  [76 * hour, "3d 4h", "3d 4h", "76 h"],
  [-5, "0s", "0s", "0 s"],
])("a duration of %p ms is short in a row and readable in a sentence", (ms, exact, age, spoken) => {
  expect([formatExactDuration(ms), formatAge(ms), formatSpokenDuration(ms)]).toEqual([exact, age, spoken]);
});

test("figures are short", () => {
  expect([950, 88_400, 999_700, 1_900_000, 14_900_000].map(formatTokens)).toEqual([
    "950",
    "88k",
    "1.0M",
    "1.9M",
    "15M",
  ]);
  expect([0, 0.001, 4.18].map((usd) => formatCost(usd))).toEqual(["$0.00", "<$0.01", "$4.18"]);
  expect(contextPercent({ used: 124_000, window: 200_000 })).toBe(62);
  expect(contextPercent({ used: 5, window: null })).toBeNull();
});

test.each([
  ["claude-opus-4-5-20251101", "Opus 4.5"],
  ["claude-sonnet-4-5-20250929[1m]", "Sonnet 4.5"],
  ["gpt-5-codex", "gpt-5-codex"],
  ["o3", "o3"],
  [null, ""],
])("the model %p is called %p", (model, name) => {
  // Names in other forms stay as they are, as far as they can be read.
  expect(formatModel(model)).toBe(name);
});

test("a time names its day unless it is today", () => {
  const now = new Date(2026, 10, 17, 14, 32).getTime();
  expect(formatWhen(new Date(2026, 10, 17, 9, 5, 7).getTime(), now)).toBe("09:05:07");
  expect(formatWhen(new Date(2026, 10, 16, 17, 52).getTime(), now)).toBe("Yesterday 17:52");
  expect(formatWhen(new Date(2026, 10, 9, 17, 52).getTime(), now)).toBe("Mon 9 Nov 17:52");
});

test("the history says how and where an ask was answered", () => {
  expect(describeEnding({ kind: "permission", how: "always", where: "notification" })).toBe(
    "allowed, and from now on · notification",
  );
  expect(describeEnding({ kind: "plan", how: "approved", where: "page" })).toBe("approved · this page");
  expect(describeEnding({ kind: "permission", how: "rule", where: "rule" })).toBe("allowed by your rule");
  expect(describeEnding({ kind: "question", how: null, where: null })).toBe("open");
  expect(describeEnding({ kind: "tool", how: null, where: null })).toBe("");
});

test("text of an agent keeps its lines, and nothing in it turns other text round", () => {
  expect(cleanLines("one\ntwo\u202e three")).toBe("one\ntwo three");
  expect(cleanLines("x".repeat(10_000)).length).toBeLessThan(4_010);
});

test("a search marks every word that it looked for, and changes nothing else", () => {
  expect(splitMatches("run npm test (npm)", "NPM test").filter(({ isMatch }) => isMatch)).toHaveLength(3);
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, query) => {
      expect(
        splitMatches(text, query)
          .map((part) => part.text)
          .join(""),
      ).toBe(text);
    }),
  );
});

describe("the lines of an ask", () => {
  test("that were wrapped for narrow places are whole again", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 900, unit: fc.constantFrom("a", "b c", "-", "/") }), {
          minLength: 1,
          maxLength: 5,
        }),
        (lines) => {
          const { lines: rows, isWhole } = fitLines(splitLines(lines.join("\n")));
          fc.pre(isWhole && !rows.join("").includes("⟨"));
          expect(joinRows(rows)).toEqual(lines);
        },
      ),
    );
  });

  const edit = {
    kind: "permission",
    lines: ["  same", "- old", "+ new", "⤷ and longer", "⟨everywhere in the file⟩"],
  } as unknown as AskDetails;

  test("of an edit become a diff", () => {
    expect(parseDiff(edit)).toEqual([
      { kind: "same", text: "same" },
      { kind: "delete", text: "old" },
      { kind: "add", text: "newand longer" },
      { kind: "label", text: "⟨everywhere in the file⟩" },
    ]);
  });

  test("of a command or of JSON do not, whatever they start with", () => {
    expect(parseDiff({ ...edit, startsWithSubject: true })).toBeNull();
    expect(parseDiff({ ...edit, kind: "plan" })).toBeNull();
    expect(parseDiff({ ...edit, lines: ["{", '  "a": 1', "}"] })).toBeNull();
  });

  test("of an agent's own diff keep their first character", () => {
    expect(parseDiff({ ...edit, lines: ["+rm -rf x", "-ls"] })).toBeNull();
    expect(parseDiff({ ...edit, lines: ["+ a", "+", "-"] })).toHaveLength(3);
  });
});

describe("a day's lanes", () => {
  const from = new Date(2026, 10, 17).getTime();
  const now = from + 14.5 * hour;
  const range = { from: from + 8 * hour, to: from + 15 * hour };

  test("start when something happened, and are as short as the day is", () => {
    const choose = (first: number | null, to: number) => {
      const spans = first === null ? [] : [{ from: from + first * hour }];
      const chosen = chooseDayRange(spans, { from, to: from + to * hour });
      return [(chosen.from - from) / hour, (chosen.to - from) / hour];
    };
    expect(choose(8.7, 14.6)).toEqual([8.5, 14.75]);
    // Eight minutes of work are a quarter of the width, and now is in the last two fifths.
    expect(choose(6.7, 6.83)).toEqual([6.5, 7]);
    expect(choose(null, 14.6)).toEqual([14.25, 14.75]);
    expect(choose(9.6, 10.4)).toEqual([9.5, 10.5]);
    expect(choose(9.1, 10.9)).toEqual([9, 11]);
    expect(choose(9.1, 12.4)).toEqual([9, 13]);
    // The day starts at midnight, whatever began before it.
    expect(choose(-2, 5)).toEqual([0, 5]);
  });

  test("are the shortest that hold the day, from a minute that is not a round one if need be", () => {
    const chooseFrom = (first: number, to: number) => {
      const range = chooseDayRange([{ from: from + first * minute }], { from, to: from + to * minute });
      return [(range.from - from) / minute, (range.to - from) / minute];
    };
    expect(chooseFrom(199, 211)).toEqual([190, 220]);
    // 27 minutes fit in half an hour, and 53 in an hour.
    expect(chooseFrom(199, 226)).toEqual([199, 229]);
    expect(chooseFrom(199, 252)).toEqual([199, 259]);
  });

  test("hold the whole day, with now at three fifths or later", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1, max: 23, noNaN: true }),
        fc.double({ min: 0, max: 23, noNaN: true }),
        (first, length) => {
          const now = from + Math.min(24, first + length) * hour;
          const range = chooseDayRange([{ from: from + first * hour }], { from, to: now });
          expect(range.from).toBeLessThanOrEqual(from + first * hour);
          expect(range.to).toBeGreaterThanOrEqual(now);
          if (now - from > 2.4 * hour)
            expect((now - range.from) / (range.to - range.from)).toBeGreaterThanOrEqual(0.6);
        },
      ),
    );
  });

  test("have labels that do not touch, and none beside now", () => {
    const ticks = createTicks({ from, to: from + hour / 2 });
    const labels = chooseLabels(ticks, 10, 77).map(({ x }) => Math.round(x));
    expect(labels).toEqual([0, 17, 33, 50, 67]);
    // On a phone every second one.
    expect(chooseLabels(ticks, 20, 77).map(({ x }) => Math.round(x))).toEqual([0, 33]);
  });

  test("have waits that can be seen, and those that touch are one mark", () => {
    const wait = (minutes: number): Span => ({
      state: "waiting",
      from: from + minutes * minute,
      to: from + minutes * minute + 9_000,
    });
    const range = { from, to: from + hour };
    const bars = createBars([wait(1), wait(2), wait(30)], range, range.to);
    expect(markWaits(bars, 2).map(({ count, width }) => [count, Math.round(width * 10) / 10])).toEqual([
      [2, 3.7],
      [1, 2],
    ]);
    expect(markWaits(bars, 0.1)).toHaveLength(3);
  });

  test("of a day that is over end where its last session ended", () => {
    const spans: Span[] = [
      { state: "working", from: from + 8.7 * hour, to: from + 11.3 * hour },
      { state: "ready", from: from + 11.3 * hour, to: from + 17.9 * hour },
    ];
    const day = { from, to: from + 24 * hour };
    expect(choosePastRange(spans, day)).toEqual({ from: from + 8.5 * hour, to: from + 18 * hour });
    // A session that was open at midnight.
    const open: Span = { state: "ready", from: from + 20 * hour, to: null };
    expect(choosePastRange([...spans, open], day).to).toBe(day.to);
  });

  test("join the sessions that followed each other in one process", () => {
    const lane = (key: string, group: Lane["group"], hours: readonly [number, number]): Lane => ({
      key,
      project: "infra",
      branch: "main",
      title: null,
      group,
      fingerprint: "process 1",
      waitedMs: 1_000,
      spans: [{ state: "working", from: from + hours[0] * hour, to: from + hours[1] * hour }],
    });
    const cleared = lane("claude:a", "ended", [8, 9]);
    const current = lane("claude:b", "ready", [9, 10]);
    const other = { ...lane("claude:c", "ended", [8, 10]), fingerprint: null };
    const [joined, ...rest] = joinLanes([current, cleared, other]);
    expect(joined).toEqual({ ...current, waitedMs: 2_000, spans: [...cleared.spans, ...current.spans] });
    expect(rest).toEqual([other]);
    // Two that live at the same time are not one.
    const twins = [current, lane("claude:d", "working", [9, 10])];
    expect(joinLanes(twins)).toEqual(twins);
  });

  test("have a tick for each hour", () => {
    expect(createTicks(range)).toHaveLength(7);
  });

  test("a span that lasts reaches to now", () => {
    const [bar] = createBars([{ state: "waiting", from: now - hour, to: null }], range, now);
    expect(bar).toMatchObject({ state: "waiting", from: now - hour, to: now });
  });

  test("100,000 spans become some hundred bars, and no wait is lost", () => {
    const step = (now - range.from) / 100_000;
    const spans = Array.from({ length: 100_000 }, (_, index): Span => {
      const state = index % 1_000 === 500 ? "waiting" : index % 2 === 0 ? "working" : "ready";
      return { state, from: range.from + index * step, to: range.from + (index + 1) * step };
    });
    const bars = createBars(spans, range, now);
    expect(bars.length).toBeLessThan(400);
    expect(bars.filter(({ state }) => state === "waiting")).toHaveLength(100);
    const sums = sumStates(bars);
    expect([...sums.values()].reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(now - range.from, -3);
  });
});

test("a moment stands in the transcript in place of the line that says the same, or by its time", () => {
  const lines = [
    { at: 1_000, who: "you", text: "paint it" },
    { at: 2_000, who: "step", tool: "Bash", text: "npm  install" },
    { at: 60_000, who: "agent", text: "Painted." },
  ] as const;
  const ended = { how: null, where: null, detail: null, waitedMs: 0 };
  const ask: AskBeat = {
    kind: "ask",
    id: "a",
    at: 3_000,
    ask: "permission",
    text: "Bash: npm install",
    ...ended,
  };
  expect(placeMoment(lines, { at: 3_000, beat: ask })).toEqual([lines[0], null, lines[2]]);
  expect(placeMoment(lines, { at: 30_000, beat: ask })).toEqual([lines[0], lines[1], null, lines[2]]);
  expect(placeMoment(lines, { at: 90_000, beat: null })).toEqual([...lines, null]);
});
