/**
 * Reads a command line as far as a rule may judge it: commands in a row or a pipe, each only a program and its arguments. Whatever else
 * a shell would do with the text (files, variables, patterns, jobs, another program's environment) is for the user to answer.
 */
import { makeVisible } from "../core/text/visible.ts";
import { interpreters, isWrapper, network, shells } from "../shell/dangers/programs.ts";
import { type Command, parsePipelines, type Word } from "../shell/index.ts";

/** Program and arguments, without quotes. */
export type PlainCommand = readonly [program: string, ...args: string[]];

/** Longer lines are never what a rule was made for. */
const maxLength = 2_000;
const maxCommands = 8;

/** Why no rule can judge a command line, for the user. */
export type Unreadable =
  | "too long"
  | "has unusual characters"
  | "more than commands"
  | "reads or writes a file"
  | "filled in by the shell"
  | "sets a variable"
  | "runs another program"
  | "reaches another machine";

/** Commands that are joined by `|`: each but the first gets what the one before it prints. */
export type PlainPipeline = readonly PlainCommand[];
export type ReadCommands = readonly PlainPipeline[] | Unreadable;

/** A rule is tried on thousands of earlier commands, and each of them with many rules. */
const known = new WeakMap<object, ReadCommands>();

export function readCommandsOf(subject: { readonly command: string }): ReadCommands {
  const read = known.get(subject) ?? readPlainCommands(subject.command);
  known.set(subject, read);
  return read;
}

export function readPlainCommands(text: string): ReadCommands {
  if (text.length > maxLength) return "too long";
  if (makeVisible(text) !== text) return "has unusual characters";
  const script = parsePipelines(text);
  if (script === null) return findRedirect(text) ? "reads or writes a file" : "more than commands";
  const pipelines: PlainPipeline[] = [];
  for (const pipeline of script) {
    const commands: PlainCommand[] = [];
    for (const command of pipeline) {
      const read = readCommand(command);
      if (typeof read === "string") return read;
      commands.push(read);
    }
    pipelines.push(commands);
  }
  const count = pipelines.flat().length;
  return count > 0 && count <= maxCommands ? pipelines : "more than commands";
}

/** Only for the words that explain it. */
const findRedirect = (text: string): boolean => /[^<>]>{1,2}\s*[^&>(\s]|<\s*\w/.test(text);

/** Letters that no shell gives a meaning: zsh reads `=ls`, `^x` and `a~b` in its own way. */
const plainWord = /^[\p{L}\p{N}_./,:@%+-][\p{L}\p{N}_./,:@%+=-]*$/u;
const programName = /^[A-Za-z0-9_][\w.+@-]*$|^\.{0,2}\/[\w.+@/-]+$|^[\w.+@-]+\/[\w.+@/-]+$/;
/** Words that begin something else than a program, or change what the commands after them mean. */
const shellWords: ReadonlySet<string> = new Set(
  `if then elif else fi for while until do done case esac select function time coproc in alias unalias bind builtin bg fg
   caller command compgen complete declare dirs disown enable eval exec exit export fc getopts hash history jobs kill let local
   logout mapfile popd pushd read readarray readonly return set shift shopt source suspend test times trap type typeset ulimit
   umask unset wait`.split(/\s+/),
);
/** They run the project's own scripts by name, which open-arguments.ts knows. */
const projectRunners: ReadonlySet<string> = new Set(["pnpm", "yarn"]);

function readCommand({ words, group }: Command): PlainCommand | Unreadable {
  const [program, ...args] = words;
  if (group !== null || !program) return "more than commands";
  for (const word of words) if (isFilledIn(word)) return "filled in by the shell";
  if (program.text.includes("=")) return "sets a variable";
  if (program.isQuoted || !programName.test(program.text)) return "more than commands";
  const name = program.text.replace(/^.*\//, "").toLowerCase();
  if (shellWords.has(name)) return "more than commands";
  if (shells.has(name) || (isWrapper(name) && !projectRunners.has(name))) return "runs another program";
  if (network.has(name) || (name === "git" && args.some(({ text }) => text === "push")))
    return "reaches another machine";
  if (interpreters.has(name) && args.some(({ text }) => isInlineCode(text))) return "runs another program";
  return [program.text, ...args.map(({ text }) => text)];
}

/** `-c CODE`, `--eval=CODE`, `-m MODULE`, `-`: code that is not a file of the project. */
const isInlineCode = (text: string): boolean =>
  /^-$|^-(?!-)\w*[cemprxEMRI]|^--(?:eval|print|command|require|import|loader|experimental)/.test(text);

/** Only the shell knows its value, or one of the shells reads it in another way. */
function isFilledIn({ text, isQuoted, isDynamic, substitutions }: Word): boolean {
  if (isDynamic || substitutions.length > 0 || /[\n\r!]/.test(text)) return true;
  return isQuoted ? /^[~=]/.test(text) : !plainWord.test(text);
}
