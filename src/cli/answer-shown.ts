/** What is asked, in full, and what can be said to it. */
import type { AskDetails } from "../core/session/ask-details.ts";
import { stripControls } from "./output.ts";

interface Shown {
  /** The name of its project. */
  readonly where: string;
  /** What `beckon answer` takes: the session, and where it asks several things, which. */
  readonly call: string;
}

/** What must not be missed comes before what a stranger wrote. */
export function askedLines(asked: AskDetails, where: string): string[] {
  return [
    `${where} asks: ${asked.heading}`,
    ...asked.dangers.map((danger) => `⚠ ${danger}`),
    "",
    ...asked.lines.map((line) => `  ${line}`),
    "",
  ].map((line) => stripControls(line).trimEnd());
}

export function askInFull(asked: AskDetails, { where, call }: Shown): string[] {
  const rows = waysOf(asked).map(
    ([words, what]) => [`  beckon answer ${stripControls(call)} ${words}`, what] as const,
  );
  const width = Math.max(...rows.map(([words]) => Bun.stringWidth(words)));
  const ways = rows.map(([words, what]) =>
    what === "" ? words : `${words}${" ".repeat(width - Bun.stringWidth(words))}   ${stripControls(what)}`,
  );
  const isPart = !asked.isWhole && asked.kind !== "question";
  return [
    ...askedLines(asked, where),
    ...(isPart ? ["Not all of it can be shown here: it can only be allowed in its terminal."] : []),
    "Answer with:",
    ...ways,
  ];
}

type Way = readonly [words: string, what: string];

function waysOf(asked: AskDetails): Way[] {
  if (asked.kind === "question") return questionWays(asked);
  const { always, isWhole } = asked;
  const allow: Way[] = isWhole
    ? [
        ["allow", ""],
        ...always.map((what, n): Way => [always.length === 1 ? "always" : `always ${n + 1}`, what]),
      ]
    : [];
  const deny: Way = ["deny", 'or with a message: deny "use pnpm"'];
  return asked.kind === "plan"
    ? [...allow, ['"smaller steps"', "sends it back, with your words"]]
    : [...allow, deny];
}

function questionWays({ questions }: AskDetails): Way[] {
  const [first, ...others] = questions;
  const deny: Way = ["deny", "answers nothing"];
  if (!first) return [deny];
  const example = questions.map(({ isMultiple, options }) =>
    options.length === 0 ? '"…"' : isMultiple && options.length > 1 ? "1,2" : "1",
  );
  const what = others.length > 0 ? "a name or number for each question" : "an option's name or its number";
  const own = questions.map(() => '"your own words"').join(" ");
  return [[example.join(" "), first.options.length === 0 ? "" : what], [`-- ${own}`, ""], deny];
}
