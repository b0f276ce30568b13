/**
 * Commands that only read, with the options that only read and follow no links. What is not listed is not allowed. Long options
 * must be complete, because many programs take `--outp` for `--output`.
 *
 * Every argument that starts with `-` must be a listed option, also after `--`: in `tree -P -- -o x` the `--` is the value of
 * `-P`, and `-o` is an option.
 *
 * A listed program must not be able to run or write anything, whatever the project contains and whatever settings it reads.
 */

interface ReadOnlyCommand {
  /** Short options, alone or combined. Numbers may follow. */
  readonly letters: string;
  readonly options: ReadonlySet<string>;
}

function command(letters: string, options = ""): ReadOnlyCommand {
  return { letters, options: new Set(options.split(/\s+/).filter((name) => name !== "")) };
}

/** Programs that look as if they only read, and why they are not listed. */
const refused: ReadonlyMap<string, string> = new Map([
  // Measured: core.fsmonitor, diff.external, textconv, filters and log.showSignature of a repository's config run programs
  // in `git status`, `git diff` and `git log`. A bare repository can also be plain files in any folder.
  ["git", "the settings of a repository can make git run any program"],
  ["rg", "its configuration file can name a program that rg runs"],
  ["less", "it can run programs and write files"],
  ["more", "it can run programs"],
  ["man", "it runs a pager and other programs"],
  ["sed", "its scripts can run programs and write files"],
  ["awk", "its scripts can run programs and write files"],
  ["env", "it runs the program that it is given"],
  ["xargs", "it runs the program that it is given"],
  ["tee", "it writes files"],
  ["date", "it can set the clock"],
  // CVE-2016-1238: it is a Perl script that may load modules from the current folder.
  ["shasum", "it can load code from the current folder"],
  ["strings", "it can load plugins"],
  ["fd", "it can run programs"],
  ["bat", "it runs a pager that its configuration file can name"],
]);

/** Why a program is not in the list, for the user who names it in a rule. null if there is no special reason. */
export function explainRefusal(program: string): string | null {
  return refused.get(program) ?? null;
}

const commands: Readonly<Record<string, ReadOnlyCommand>> = {
  ls: command(
    "aAbBcCdFghHiklmnopqrRsStuUvwxX1",
    "all almost-all human-readable recursive reverse size sort time color directory full-time",
  ),
  cat: command("AbeEnstTuv", "number number-nonblank show-all show-ends show-tabs squeeze-blank"),
  head: command("cnqv", "lines bytes quiet verbose"),
  tail: command("cnqv", "lines bytes quiet verbose"),
  wc: command("clmLw", "bytes chars lines words max-line-length"),
  nl: command("bvw"),
  tac: command(""),
  rev: command(""),
  cut: command("bcdfs", "delimiter fields characters bytes"),
  sort: command("bdfghinMruVkt", "numeric-sort reverse unique key human-numeric-sort version-sort"),
  pwd: command("LP"),
  stat: command("cfLt", "format terse dereference"),
  file: command("bhiL", "brief mime mime-type mime-encoding"),
  du: command("abchkmsxd", "human-readable summarize all max-depth total apparent-size"),
  df: command("ahHikPT", "human-readable total"),
  tree: command("adfipsuDLCIP", "dirsfirst noreport gitignore prune"),
  basename: command("as"),
  dirname: command(""),
  realpath: command("emsq"),
  readlink: command("efmn"),
  md5sum: command("b"),
  sha1sum: command("b"),
  sha256sum: command("b"),
  cksum: command(""),
  cmp: command("bils"),
  comm: command("123"),
  diff: command("abBcdiNpqstuUwy", "unified brief ignore-all-space color side-by-side new-file"),
  od: command("AjNtvcxd"),
  hexdump: command("Cnsv"),
  echo: command("neE"),
  uname: command("asnrvmpio"),
  whoami: command(""),
  id: command("ugnG"),
  nproc: command(""),
  which: command("a"),
  grep: command(
    "abcEFGHhiILlnoPqrsvwxABCem",
    "count ignore-case invert-match word-regexp line-number files-with-matches files-without-match only-matching fixed-strings after-context before-context context max-count color include exclude exclude-dir recursive extended-regexp perl-regexp with-filename no-filename no-messages",
  ),
  find: command(""),
};

const findTests = new Set(
  "-name -iname -path -ipath -type -maxdepth -mindepth -size -mtime -mmin -newer -empty -print -print0 -not -a -o -and -or -prune -perm -user -group -regex -iregex -ls -P -xdev -depth".split(
    " ",
  ),
);

export function isListedProgram(program: string): boolean {
  return Object.hasOwn(commands, program);
}

/** `words` must be the whole command. */
export function isReadOnlyCommand(words: readonly string[]): boolean {
  const [program = "", ...args] = words;
  const listed = isListedProgram(program) ? commands[program] : undefined;
  if (!listed) return false;
  if (program === "find")
    return args.every((arg) => !/^[-(!,]/.test(arg) || findTests.has(arg) || /^-\d+$/.test(arg));
  return args.every((arg) => !isOption(arg) || isReadOnlyOption(listed, arg));
}

/** `tail +5f` follows a file, `sort +1` has another grammar. */
function isOption(arg: string): boolean {
  return /^[-+]/.test(arg) && arg !== "-" && arg !== "--";
}

function isReadOnlyOption({ letters, options }: ReadOnlyCommand, option: string): boolean {
  const long = /^--([a-z][a-z0-9-]*)(?:=.*)?$/s.exec(option);
  if (long) return options.has(long[1] ?? "");
  return (
    /^-[A-Za-z0-9]+$/.test(option) &&
    [...option.slice(1)].every((letter) => /\d/.test(letter) || letters.includes(letter))
  );
}

/**
 * The arguments that the program reads through the links inside of them, if they are folders. "." stands for the current folder.
 *
 * Measured: `diff a b` reads links in both folders, `diff x a` reads `a/x`, and `grep -r` of BusyBox reads links to files.
 */
export function listFoldersReadThroughLinks([program, ...args]: readonly string[]): string[] {
  const others = args.filter((arg) => !isOption(arg));
  if (program === "diff") return others;
  if (program !== "grep" || !args.some((arg) => /^-(?:\w*r|-recursive$)/.test(arg))) return [];
  // One may be the pattern. With fewer than two that are surely not the values of options, grep may read the current folder.
  const operands = args.filter((arg, index) => !isOption(arg) && !mayTakeNext(args[index - 1] ?? ""));
  return operands.length > 1 ? others : [".", ...others];
}

/** Whether the argument after this one of grep may be its value. */
const mayTakeNext = (arg: string): boolean => /^-(?:-[^=]*|\w*[ABCem])$/.test(arg);
