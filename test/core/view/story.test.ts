import { expect, test } from "bun:test";
import fc from "fast-check";
import { describeEnding } from "../../../src/core/answers/words.ts";
import { historyKinds } from "../../../src/core/interfaces/wire.ts";
import { describeAsk, describeMoment } from "../../../src/core/view/moment-words.ts";
import {
  type Beat,
  formatEarlier,
  formatHits,
  formatWork,
  type StoryMoment,
  tellStory,
} from "../../../src/core/view/story.ts";

const minute = 60_000;

/** One moment a minute. */
const createMoments = (
  ...lines: (readonly [kind: string, text: string, more?: Partial<StoryMoment>])[]
): StoryMoment[] =>
  lines.map(([kind, text, more], index) => ({
    id: `m${index}`,
    at: index * minute,
    kind,
    text,
    how: null,
    where: null,
    detail: null,
    waitedMs: null,
    isFailure: false,
    ...more,
  }));

const allowed = { how: "allowed", where: "terminal", waitedMs: 12_000 } as const;

const turn = [
  ["prompt", "move the orders"],
  ["tool", "Read: schema.ts"],
  ["tool", "Bash: npm test"],
  ["tool", "Edit: migrate.ts"],
  ["tool", "Bash: npm run migrate"],
  ["permission", "Bash: npm run migrate", allowed],
  ["tool", "Bash: git status"],
  ["answer", "All moved."],
] as const;

const summarize = (beats: readonly Beat[]): string[] =>
  beats.map((beat) => {
    if (beat.kind === "work")
      return `work: ${beat.hits === undefined ? formatWork(beat.counts) : formatHits(beat)}`;
    if (beat.kind === "earlier")
      return `earlier: ${formatEarlier(beat)}, ${formatWork(beat.counts)}, ${beat.asks}`;
    return `${beat.kind}: ${beat.text}`;
  });

test("a turn is the prompt, the work folded, the ask and the response; the ask is the command, which is not told twice", () => {
  const beats = tellStory(createMoments(...turn));
  expect(summarize(beats)).toEqual([
    "prompt: move the orders",
    "work: 1 command, 1 edit, 1 lookup",
    "ask: Bash: npm run migrate",
    "work: 1 command",
    "response: All moved.",
  ]);
  const [, work, ask, , response] = beats;
  expect(work).toMatchObject({
    tookMs: 4 * minute,
    steps: [{ tool: "Read" }, { tool: "Bash" }, { tool: "Edit" }],
  });
  expect(ask).toMatchObject({ how: "allowed", where: "terminal", waitedMs: 12_000 });
  expect(response).toMatchObject({ tookMs: 7 * minute });
});

test("a command that is reported after its ask is not told twice either, but the same command later is", () => {
  const beats = tellStory(
    createMoments(["permission", "Bash: make", allowed], ["tool", "Bash: make"], ["tool", "Bash: make"]),
  );
  expect(summarize(beats)).toEqual(["ask: Bash: make", "work: 1 command"]);
});

test("a step that failed says so, and is one step", () => {
  const beats = tellStory(
    createMoments(["tool", "Bash: make"], ["tool", "Bash failed: exit code 2", { isFailure: true }]),
  );
  expect(beats).toMatchObject([{ counts: { command: 1 }, steps: [{ text: "make", error: "exit code 2" }] }]);
});

test("starts, ends and notifications are not told; compacting is told once", () => {
  const beats = tellStory(
    createMoments(
      ["started", "startup"],
      ["notification", "Claude is waiting for your input"],
      ["compact", "compacting"],
      ["compact", "compacted"],
      ["ended", "prompt_input_exit"],
    ),
  );
  expect(summarize(beats)).toEqual(["note: Compacted the conversation"]);
});

test("the older turns of a long session are one line, and can be told whole", () => {
  const moments = createMoments(...Array.from({ length: 12 }, () => turn).flat());
  const beats = tellStory(moments);
  expect(summarize(beats)[0]).toBe("earlier: 10 earlier turns, 20 commands, 10 edits, 10 lookups, 10");
  expect(beats.filter(({ kind }) => kind === "prompt")).toHaveLength(2);
  expect(tellStory(moments, { isWhole: true }).filter(({ kind }) => kind === "prompt")).toHaveLength(12);
});

test("a short session shows all that was asked: one of a few turns, or of less than an hour", () => {
  const isFolded = (turns: number, minutes: number, lines: Parameters<typeof createMoments>) => {
    const moments = createMoments(...Array.from({ length: turns }, () => lines).flat());
    const spread = moments.map((moment, n) => ({ ...moment, at: (n * minutes * minute) / moments.length }));
    return tellStory(spread)[0]?.kind === "earlier";
  };
  const asking = [
    ["prompt", "go"],
    ["permission", "Bash: make", allowed],
    ["answer", "Done."],
  ] as const;
  const quiet = [
    ["prompt", "go"],
    ["answer", "Done."],
  ] as const;
  expect(isFolded(6, 300, [...asking])).toBe(false);
  expect(isFolded(10, 50, [...asking])).toBe(false);
  expect(isFolded(7, 300, [...asking])).toBe(true);
  expect(isFolded(6, 300, [...quiet])).toBe(true);
});

test("a turn with very many asks is folded within itself", () => {
  const asks = Array.from({ length: 60 }, (_, n) => ["permission", `Bash: make ${n}`, allowed] as const);
  const beats = tellStory(createMoments(["prompt", "go"], ...asks));
  expect(summarize(beats)[0]).toBe("earlier: 1 earlier turn, , 46");
  expect(beats).toHaveLength(15);
});

test("work shows its first steps, and all of them if it is told whole", () => {
  const moments = createMoments(
    ...Array.from({ length: 15 }, (_, n) => ["tool", `Bash: make ${n}`] as const),
  );
  const [folded] = tellStory(moments);
  const [whole] = tellStory(moments, { isWhole: true });
  expect(folded).toMatchObject({ counts: { command: 15 } });
  expect(folded?.kind === "work" && folded.steps).toHaveLength(4);
  expect(whole?.kind === "work" && whole.steps).toHaveLength(15);
});

test("a search tells only what matches, and opens the work to its hits", () => {
  const beats = tellStory(createMoments(...turn), { hits: new Set(["m2", "m5"]) });
  expect(summarize(beats)).toEqual(["work: 1 of 3 steps matches", "ask: Bash: npm run migrate"]);
  expect(beats[0]).toMatchObject({ hits: 1, steps: [{ text: "npm test" }] });
  expect(formatHits({ counts: { command: 12 }, hits: 2 })).toBe("2 of 12 commands match");
});

test("whatever happens, each moment is told at most once, in the order of time", () => {
  const moment = fc.record({
    kind: fc.constantFrom(...historyKinds),
    text: fc.constantFrom("Bash: make", "Edit: a.ts", "Bash failed: no", "what?", ""),
    isFailure: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(moment, { maxLength: 80 }), (drawn) => {
      const moments = createMoments(
        ...drawn.map(({ kind, text, isFailure }) => [kind, text, { isFailure }] as const),
      );
      const beats = tellStory(moments, { isWhole: true });
      const ids = beats.flatMap((beat) =>
        beat.kind === "work" ? beat.steps.map(({ id }) => id) : [beat.id],
      );
      expect(new Set(ids).size).toBe(ids.length);
      const times = beats.map(({ at }) => at);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(tellStory(moments).length).toBeLessThanOrEqual(Math.max(beats.length, 1));
    }),
  );
});

const asked = (kind: string, text: string, how: StoryMoment["how"] = "allowed") => {
  const { lead, subject } = describeAsk({ kind, text, how, isOpen: how === null });
  return `${lead} | ${subject}`;
};

test("an ask says what was asked in a sentence", () => {
  expect(asked("permission", "Bash: npm test")).toBe("Asked to run | npm test");
  expect(asked("permission", "Bash: npm test", null)).toBe("Asks to run | npm test");
  expect(asked("permission", "Bash: npm ls", "rule")).toBe("Ran | npm ls");
  expect(asked("permission", "Write: a.ts")).toBe("Asked to edit | a.ts");
  expect(asked("permission", "mcp__tracker__list_issues: 7")).toBe("Asked to use tracker: list issues | 7");
  expect(asked("question", "AskUserQuestion: npm or pnpm?")).toBe("Asked: | npm or pnpm?");
  expect(asked("question", "Colour: red or blue?")).toBe("Asked: | Colour: red or blue?");
  expect(asked("plan", "ExitPlanMode: # One page per task\n1. List")).toBe(
    "Asked to approve a plan: | One page per task",
  );
});

test("an ending says what, by whom, where, and what was said", () => {
  const tell = (...ending: Parameters<typeof describeEnding>) => {
    const { done, rest } = describeEnding(...ending);
    return `${done} ${rest}`.trim();
  };
  expect(tell("allowed", "permission", "terminal", null)).toBe("Allowed by you, in the terminal");
  expect(tell("denied", "permission", "this page", "use lib/retry")).toBe(
    "Denied by you, on this page: “use lib/retry”",
  );
  expect(tell("replied", "question", "menu", "pnpm")).toBe("Answered “pnpm” by you, from the menu");
  expect(tell("approved", "plan", "phone (@ana)", null)).toBe("Approved by phone (@ana)");
  expect(tell("rule", "permission", "rule", null)).toBe("Allowed at once by your rule");
  expect(tell("dismissed", "permission", null, null)).toBe("No longer waiting for you");
});

test("no moment is described in an agent's internal words", () => {
  const internal = /\b(Tool|Notification|Prompt|startup|prompt_input_exit|AskUserQuestion|ExitPlanMode)\b/;
  const texts = [
    "startup",
    "prompt_input_exit",
    "other",
    "AskUserQuestion: which?",
    "ExitPlanMode: # Plan",
    "Bash: ls",
  ];
  for (const kind of historyKinds) {
    const own = kind === "started" || kind === "ended" ? texts.slice(0, 3) : texts.slice(3);
    for (const text of own) {
      const { label, text: said } = describeMoment({ kind, text, how: null, isOpen: false });
      const isCall = kind === "tool" || kind === "permission" || kind === "question" || kind === "plan";
      expect(label).not.toMatch(internal);
      if (isCall || kind === "started" || kind === "ended") expect(said).not.toMatch(internal);
    }
  }
});

test.each(["constructor", "valueOf", "toString", "__proto__"])(
  "a tool or a reason called %s has words",
  (name) => {
    const asked = { how: null, isOpen: false } as const;
    expect(describeAsk({ kind: "permission", text: `${name}: x`, ...asked })).toEqual({
      lead: `Asked to use ${name}`,
      subject: "x",
      isCode: true,
    });
    expect(describeMoment({ kind: "ended", text: name, ...asked })).toEqual({ label: "Ended", text: "" });
  },
);
