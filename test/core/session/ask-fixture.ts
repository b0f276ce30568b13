/** Details of asks that can be answered. */
import fc from "fast-check";
import type { AskDetails, Question } from "../../../src/core/session/ask-details.ts";
import { fitLines, splitLines } from "../../../src/core/text/fit.ts";
import { makeLineVisible } from "../../../src/core/text/visible.ts";

export const createDetails = (more: Partial<AskDetails> = {}): AskDetails => ({
  kind: "permission",
  tool: "Bash",
  heading: "Run a command",
  lines: ["npm run deploy"],
  isWhole: true,
  dangers: [],
  always: [],
  questions: [],
  ...(more.heading === undefined ? { isGenericHeading: true } : {}),
  ...more,
});

export const createQuestion = (labels: readonly string[], more: Partial<Question> = {}): AskDetails => {
  const one: Question = {
    header: "Database",
    question: "Which database should the new service use?",
    options: labels.map((label) => ({ label, description: "" })),
    isMultiple: false,
    ...more,
  };
  return createDetails({
    kind: "question",
    tool: "AskUserQuestion",
    heading: "Answer a question",
    lines: [one.question, ...labels.map((label, n) => `  ${n + 1}. ${label}`)],
    questions: [one],
  });
};

/** Texts that look like something else, and texts that are too long to be shown. */
const texts = fc.oneof(
  fc.constantFrom(
    "Allow",
    "Deny",
    "Go to terminal",
    "npm test",
    "│ Allow",
    "… 3 more lines",
    "⤷ x",
    "",
    "a\n\n\tb",
  ),
  fc.string({ unit: "binary", maxLength: 100 }),
  fc.string({
    unit: fc.constantFrom("a", "W", " ", "\n", "\t", "\u202e", "漢", "🙂", "\u0301", "_"),
    maxLength: 300,
  }),
  fc.integer({ min: 1, max: 60 }).map((count) => "make\n".repeat(count)),
);
const lines = texts.map(makeLineVisible);

const questions: fc.Arbitrary<Question> = fc.record({
  header: lines,
  question: lines,
  options: fc.array(fc.record({ label: lines, description: lines }), { maxLength: 5 }),
  isMultiple: fc.boolean(),
});

export const detailsArbitrary: fc.Arbitrary<AskDetails> = fc
  .record({
    kind: fc.constantFrom("permission", "question", "plan"),
    tool: fc.constant("Bash"),
    heading: lines.map((text) => `Edit ${text.slice(0, 120)}`.trimEnd()),
    text: texts,
    isCut: fc.boolean(),
    dangers: fc.array(
      lines.map((text) => `deletes (${text.slice(0, 60)})`),
      { maxLength: 7 },
    ),
    always: fc.array(
      lines.map((text) => `Always allow ${text.slice(0, 150)} in this session`),
      { maxLength: 3 },
    ),
    questions: fc.array(questions, { minLength: 1, maxLength: 2 }),
  })
  .map(({ text, isCut, questions: all, ...made }) => {
    const isQuestion = made.kind === "question";
    const asked = all.flatMap(({ question, options }) => [question, ...options.map(({ label }) => label)]);
    // The arbitraries above are visible text already.
    const shown = isQuestion ? { lines: asked, isWhole: true } : fitLines(splitLines(text));
    return {
      ...made,
      ...shown,
      isWhole: shown.isWhole && !isCut,
      dangers: made.kind === "permission" ? made.dangers : [],
      always: made.kind === "permission" ? made.always : [],
      questions: isQuestion ? all : [],
    };
  });
