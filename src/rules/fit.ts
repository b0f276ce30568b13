/** Whether a rule allows a request: the words of a command, or the files of an edit. Nothing is read from the disk. Pure. */
import type { RuleSubject } from "../core/answers/subject.ts";
import {
  isListedProgram,
  isReadOnlyCommand,
  listFoldersReadThroughLinks,
} from "../core/config/read-only-commands.ts";
import { findRelativePath, isAbsolute, resolvePath } from "../core/text/paths.ts";
import { makeVisible } from "../core/text/visible.ts";
import { findSecretPath } from "../shell/dangers/paths.ts";
import { isSwitch, takesText } from "./open-arguments.ts";
import {
  type PlainCommand,
  type PlainPipeline,
  type ReadCommands,
  readCommandsOf,
  type Unreadable,
} from "./plain-command.ts";
import { type CommandAllowed, isHidden, type ReadRule } from "./rule.ts";

export interface Fit {
  /** The rules that allow it: one for each command of the line. */
  readonly rules: readonly ReadRule[];
  /** Every path that it names. The caller checks on the disk that no link leads out of the project. */
  readonly paths: readonly string[];
  /** Folders that it also reads through the links in them. */
  readonly readThroughLinks: readonly string[];
}

/** Why no rule allows it, for the user. */
export type NoFit =
  | Unreadable
  | "no rule"
  | "another folder"
  | "gets another command's output"
  | "outside the project"
  | "an option you have not allowed"
  | "hidden files"
  | "other words";

/** `rules` are of the request's agent and project. */
export function findFit(rules: readonly ReadRule[], subject: RuleSubject, project: string): Fit | NoFit {
  if (rules.length === 0 || subject.cwd === null) return "no rule";
  return subject.kind === "edit"
    ? fitEdit(rules, subject.paths, subject.cwd, project)
    : fitLine(rules, readCommandsOf(subject), subject.cwd, project);
}

function fitLine(
  rules: readonly ReadRule[],
  pipelines: ReadCommands,
  cwd: string,
  project: string,
): Fit | NoFit {
  if (typeof pipelines === "string") return pipelines;
  const [first = []] = pipelines;
  const isEntered = entersFolder(first, project);
  // Elsewhere the same words run another project's scripts.
  if (!isEntered && cwd !== project) return "another folder";
  const used: ReadRule[] = [];
  const paths = [project, cwd];
  const readThroughLinks: string[] = [];
  for (const { command, isFed } of listCommands(isEntered ? pipelines.slice(1) : pipelines)) {
    if (command[0] === "cd") return "another folder";
    if (isReading(command)) {
      if (command.slice(1).some((word) => !isInside(word, project))) return "outside the project";
      readThroughLinks.push(
        ...listFoldersReadThroughLinks([...command]).map((path) => resolvePath(project, path)),
      );
    } else {
      // What it is given can be its program: `cat x.sql | psql shop`.
      if (isFed) return "gets another command's output";
      const fit = fitCommand(rules, command, project);
      if (typeof fit === "string") return fit;
      used.push(fit);
    }
    paths.push(...listPaths(command, project));
  }
  return used.length === 0 ? "no rule" : { rules: used, paths, readThroughLinks };
}

/** `cd FOLDER`. In a pipe it changes nothing for the others, and a relative folder depends on the links that led here. */
function entersFolder([command, ...others]: PlainPipeline, folder: string): boolean {
  const [program, path, ...more] = command ?? [];
  return (
    program === "cd" &&
    path !== undefined &&
    isAbsolute(path) &&
    resolvePath(folder, path) === folder &&
    more.length + others.length === 0
  );
}

const listCommands = (pipelines: readonly PlainPipeline[]) =>
  pipelines.flatMap((commands) => commands.map((command, n) => ({ command, isFed: n > 0 })));

/** `| tail -20`: it only reads, whatever it is given. A rule is needed for the command that it belongs to. */
const isReading = (command: PlainCommand): boolean =>
  isListedProgram(command[0]) && isReadOnlyCommand([...command]);

function fitCommand(rules: readonly ReadRule[], command: PlainCommand, project: string): ReadRule | NoFit {
  let nearest: NoFit = "no rule";
  for (const rule of rules) {
    const misfit = rule.allowed.kind === "command" ? findMisfit(rule.allowed, command, project) : "no rule";
    if (misfit === null) return rule;
    if (misfit !== "no rule") nearest = misfit;
  }
  return nearest;
}

function findMisfit(
  { words, options, isOpen }: CommandAllowed,
  command: PlainCommand,
  project: string,
): NoFit | null {
  if (!words.every((word, n) => word === command[n])) return "no rule";
  const rest = command.slice(words.length);
  for (let n = 0; n < rest.length; ) {
    const word = rest[n] ?? "";
    if (word.startsWith("-") && word !== "--") {
      const length = countOptionWords(rest.slice(n), options, words);
      if (length === 0) return "an option you have not allowed";
      n += length;
    } else {
      if (!isOpen) return "other words";
      // Many programs read options from such a file.
      if (word.startsWith("@")) return "an option you have not allowed";
      if (word !== "--" && !isInside(word, project)) return "outside the project";
      n++;
    }
  }
  return null;
}

/** How many words belong to the option that comes first, with its value. 0 if it is not allowed. */
function countOptionWords(
  rest: readonly string[],
  options: readonly (readonly string[])[],
  words: readonly string[],
): number {
  const [name = "", value] = rest;
  if (value !== undefined && takesText(words, name)) return value.startsWith("-") ? 0 : 2;
  const matching = options.filter((option) => option.every((word, n) => word === rest[n]));
  const length = Math.max(0, ...matching.map((option) => option.length));
  // What follows may be its value, which was another one when it was allowed.
  const next = rest[length];
  const isValueOpen = length === 1 && next !== undefined && !next.startsWith("-") && !isSwitch(name);
  return isValueOpen ? 0 : length;
}

/** A path can also come after the "=" of an option, or after the ":" of a commit. */
const splitWord = (word: string): readonly string[] => [word, ...word.split(/[=:]/)];

/** Programs and files of another machine, and programs as words. `:(top)` and `:/` are git's names for the whole repository. */
const address = /:\/\/|^(?:blob|data|file|jsr|node|npm):|^:/i;

function isInside(word: string, project: string): boolean {
  if (address.test(word) || makeVisible(word) !== word || /\n/.test(word)) return false;
  return splitWord(word).every(
    (part) =>
      !part.startsWith("~") &&
      !/(?:^|[\\/])\.\.(?:[\\/]|$)/.test(part) &&
      findSecretPath(part) === null &&
      findRelativePath(project, isAbsolute(part) ? part : `${project}/${part}`) !== null,
  );
}

const listPaths = (command: PlainCommand, project: string): readonly string[] =>
  command.flatMap((word, n) => {
    // A program is found in PATH unless it is named as a file.
    const parts = n === 0 ? (word.includes("/") ? [word] : []) : splitWord(word);
    return parts.filter((part) => part !== "").map((part) => resolvePath(project, part));
  });

function fitEdit(
  rules: readonly ReadRule[],
  files: readonly string[],
  cwd: string,
  project: string,
): Fit | NoFit {
  if (files.length === 0) return "no rule";
  const used: ReadRule[] = [];
  const paths = files.map((file) => resolvePath(cwd, file));
  for (const [n, path] of paths.entries()) {
    const file = files[n] ?? "";
    // The agent would open another file than it shows.
    if (makeVisible(file) !== file || file !== file.trim() || file.startsWith("~"))
      return "has unusual characters";
    const relative = findRelativePath(project, path);
    if (relative === null || relative === ".") return "outside the project";
    if (relative.split("/").some(isHidden) || findSecretPath(path) !== null) return "hidden files";
    const rule = rules.find(
      ({ allowed }) => allowed.kind === "edit" && relative.startsWith(`${allowed.folder}/`),
    );
    if (!rule) return "no rule";
    used.push(rule);
  }
  return { rules: used, paths: [project, ...paths], readThroughLinks: [] };
}
