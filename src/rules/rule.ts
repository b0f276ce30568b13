/** A rule: what the user allows from now on, in one project. Its text is complete: what it does not say is asked. Pure. */
import { checkRuleFolder, parseAutoAllowRule } from "../core/config/auto-allow-rules.ts";
import { isRecord, readNumber, readText } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { hasDotSegments, isAbsolute } from "../core/text/paths.ts";
import { countFixedWords } from "./open-arguments.ts";
import { type PlainCommand, readPlainCommands } from "./plain-command.ts";

/** What a rule allows, as it is written: `Bash(npm run test [--changed] *)`, `Edit(guide/**)`. */
export type Allowed =
  | {
      readonly kind: "command";
      readonly words: PlainCommand;
      /** Options that may follow, each with its value: `[--changed]`, `[--reporter dot]`. */
      readonly options: readonly (readonly string[])[];
      /** `*`: files and names may follow. */
      readonly isOpen: boolean;
    }
  /** `folder` is relative to the project. */
  | { readonly kind: "edit"; readonly folder: string };

export type CommandAllowed = Extract<Allowed, { kind: "command" }>;

export interface Rule {
  /** Short, and unique: in the log, and to remove it. */
  readonly name: string;
  readonly agent: string;
  /** The project's folder: a full path without links. */
  readonly project: string;
  readonly text: string;
  readonly madeAt: number;
  readonly madeFrom: "suggestion" | "text";
}

/** A rule whose text was read. */
export interface ReadRule extends Rule {
  readonly allowed: Allowed;
}

const examples = 'Rules are like "Bash(npm test)", "Bash(npm run test [--changed] *)" and "Edit(docs/**)"';
const maxOptions = 20;

/** Returns a text that says why it is not a rule. */
export function parseAllowed(text: string): Allowed | string {
  if (text.length > limits.maxRuleLength) return `is too long. ${examples}`;
  const [, tool, inner = ""] = /^(Bash|Edit)\((.*)\)$/s.exec(text) ?? [];
  if (tool === "Bash") return parseCommand(inner);
  if (tool === "Edit") return parseEdit(inner);
  return typeof parseAutoAllowRule(text) === "string"
    ? `is not a rule. ${examples}`
    : "only reads: that is the setting answering.autoAllow";
}

function parseCommand(text: string): Allowed | string {
  const isOpen = text.endsWith(" *");
  const withoutStar = isOpen ? text.slice(0, -2) : text;
  const options: (readonly string[])[] = [];
  const fixed = withoutStar.replace(/ \[([^[\]]*)\]/g, (_, option: string) => {
    options.push(readWords(option));
    return "";
  });
  const read = readPlainCommands(fixed);
  if (typeof read === "string") return `cannot be a rule: ${read}. ${examples}`;
  const [words, ...others] = read.flat();
  if (!words || others.length > 0) return `must be one command. ${examples}`;
  if (words[0] === "cd") return "cannot be a rule: it changes where the next command runs";
  if (options.length > maxOptions || options.some(([name]) => !name?.startsWith("-")))
    return `has brackets around something else than an option. ${examples}`;
  if (isOpen && countFixedWords(words) !== words.length)
    return `cannot end with *: what follows ${words.join(" ")} could be another program. Name all of its words`;
  return { kind: "command", words, options, isOpen };
}

/** An option is written like a command's words, with quotes if it needs them. */
function readWords(text: string): readonly string[] {
  const read = readPlainCommands(`x ${text}`);
  const [words, ...others] = typeof read === "string" ? [] : read.flat();
  return words && others.length === 0 ? words.slice(1) : [];
}

function parseEdit(text: string): Allowed | string {
  const folder = /^(.+)\/\*\*$/.exec(text)?.[1];
  if (folder === undefined || isAbsolute(folder) || hasDotSegments(folder) || /[*?[\]{}~\\]/.test(folder))
    return `must name a folder of the project, with /** at its end. ${examples}`;
  return folder.split("/").some(isHidden)
    ? "cannot be a rule: files whose names start with a dot can change what programs do"
    : { kind: "edit", folder };
}

export const isHidden = (name: string): boolean => name.startsWith(".");

/** As it is written in a rule, with quotes where a shell needs them. */
const quote = (word: string): string =>
  /^[\p{L}\p{N}_./,:@%+-][\p{L}\p{N}_./,:@%+=-]*$/u.test(word) ? word : `'${word}'`;

export function formatAllowed(allowed: Allowed): string {
  if (allowed.kind === "edit") return `Edit(${allowed.folder}/**)`;
  const options = allowed.options.map((option) => ` [${option.map(quote).join(" ")}]`);
  return `Bash(${allowed.words.map(quote).join(" ")}${options.join("")}${allowed.isOpen ? " *" : ""})`;
}

/** Returns a text that says what is wrong. */
export function readRule(rule: Rule): ReadRule | string {
  const mistake = checkRuleFolder(rule.project);
  if (mistake !== null) return `the project ${JSON.stringify(rule.project)} ${mistake}`;
  const allowed = parseAllowed(rule.text);
  return typeof allowed === "string" ? `${JSON.stringify(rule.text)} ${allowed}` : { ...rule, allowed };
}

const ruleName = /^[a-z0-9][a-z0-9.-]{0,79}$/;

/** Reads a rule of the file. Returns a text that says what is wrong. */
export function readSavedRule(value: unknown): ReadRule | string {
  if (!isRecord(value)) return "an entry is not an object";
  const name = readText(value.name, 80);
  const agent = readText(value.agent, 40);
  const project = readText(value.project, limits.maxPathLength);
  const text = readText(value.text, limits.maxRuleLength);
  if (name === null || !ruleName.test(name)) return "a rule has no valid name";
  if (agent === null || project === null || text === null) return `${name} has no agent, project or text`;
  const madeFrom = value.madeFrom === "suggestion" ? "suggestion" : "text";
  return readRule({ name, agent, project, text, madeAt: readNumber(value.madeAt) ?? 0, madeFrom });
}

/** "npm-run-test-shop-web", "npm-run-test-shop-web-2" */
export function nameRule(allowed: Allowed, project: string, taken: ReadonlySet<string>): string {
  const what = allowed.kind === "edit" ? ["edit", allowed.folder] : allowed.words;
  const place = project.split("/").at(-1) ?? "";
  const slug = [...what, place]
    .join(" ")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  const base = slug === "" ? "rule" : slug.replace(/-+$/, "");
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`;
    if (!taken.has(name)) return name;
  }
}
