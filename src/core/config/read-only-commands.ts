/**
 * Commands that only read, with the options that only read (and follow no links): what is not listed is not allowed.
 * Options must be written out: `--outp` would be taken for `--output` by many programs.
 */

interface Known {
  /** Of short options, alone or together. Numbers may follow. */
  readonly letters: string;
  readonly options: ReadonlySet<string>;
  /** Names that are no options would be made anew, unless one of these is there. */
  readonly onlyWith?: readonly string[];
}

function known(letters: string, options = "", onlyWith?: string): Known {
  const set = new Set(options.split(/\s+/).filter((name) => name !== ""));
  return onlyWith === undefined
    ? { letters, options: set }
    : { letters, options: set, onlyWith: onlyWith.split(" ") };
}

const context = "after-context before-context context max-count max-depth color";
const matching =
  "count ignore-case invert-match word-regexp line-number files-with-matches files-without-match only-matching fixed-strings";
const history =
  "oneline graph decorate all author committer since until after before grep max-count skip reverse follow first-parent merges no-merges branches tags remotes abbrev-commit abbrev pretty format date topo-order date-order left-right";
const changes =
  "stat numstat shortstat name-only name-status patch no-patch summary word-diff color no-color color-words unified cached staged merge-base diff-filter find-renames find-copies no-renames minimal patience histogram diff-algorithm ignore-all-space ignore-space-change ignore-blank-lines no-ext-diff no-textconv exit-code quiet check full-index relative raw text no-prefix";
const refs = "contains no-contains merged no-merged points-at sort format";

const commands: Readonly<Record<string, Known>> = {
  ls: known(
    "aAbBcCdFghHiklmnopqrRsStuUvwxX1",
    "all almost-all human-readable recursive reverse size sort time color directory full-time",
  ),
  cat: known("AbeEnstTuv", "number number-nonblank show-all show-ends show-tabs squeeze-blank"),
  head: known("cnqv", "lines bytes quiet verbose"),
  tail: known("cnqv", "lines bytes quiet verbose"),
  wc: known("clmLw", "bytes chars lines words max-line-length"),
  nl: known("bvw"),
  tac: known(""),
  rev: known(""),
  cut: known("bcdfs", "delimiter fields characters bytes"),
  sort: known("bdfghinMruVkt", "numeric-sort reverse unique key human-numeric-sort version-sort"),
  pwd: known("LP"),
  stat: known("cfLt", "format terse dereference"),
  file: known("bhiL", "brief mime mime-type mime-encoding"),
  du: known("abchkmsxd", "human-readable summarize all max-depth total apparent-size"),
  df: known("ahHikPT", "human-readable total"),
  tree: known("adfipsuDLCIP", "dirsfirst noreport gitignore prune"),
  basename: known("as"),
  dirname: known(""),
  realpath: known("emsq"),
  readlink: known("efmn"),
  md5sum: known("b"),
  sha1sum: known("b"),
  sha256sum: known("b"),
  shasum: known("ab"),
  cksum: known(""),
  cmp: known("bils"),
  comm: known("123"),
  // With -r it would follow links.
  diff: known("abBcdiNpqstuUwy", "unified brief ignore-all-space color side-by-side new-file"),
  od: known("AjNtvcxd"),
  hexdump: known("Cnsv"),
  strings: known("ant"),
  echo: known("neE"),
  uname: known("asnrvmpio"),
  whoami: known(""),
  id: known("ugnG"),
  nproc: known(""),
  which: known("a"),
  grep: known(
    "abcEFGHhiILlnoPqrsvwxABCem",
    `${matching} ${context} include exclude exclude-dir recursive extended-regexp perl-regexp with-filename no-filename no-messages`,
  ),
  rg: known(
    "aABCcFHiIlmnNoPsSuUvwxegtT",
    `${matching} ${context} files type type-not glob iglob hidden no-ignore json multiline sort heading no-heading smart-case stats type-list column trim`,
  ),
  find: known(""),
  "git status": known("sbuvz", "short branch porcelain long untracked-files ignored ahead-behind show-stash"),
  "git log": known("pusnzabwiEFPcmMCSGL", `${history} ${changes}`),
  "git show": known("puszabwMC", `${history} ${changes}`),
  "git diff": known("puszabwRMCSG", changes),
  "git branch": known(
    "arvl",
    `${refs} list all remotes verbose show-current color no-color`,
    "--list --contains --no-contains --merged --no-merged --points-at",
  ),
  "git tag": known(
    "ln",
    `${refs} list`,
    "-l --list --contains --no-contains --merged --no-merged --points-at",
  ),
  "git remote": known("v", "verbose", "nothing"),
  "git rev-parse": known(
    "",
    "abbrev-ref show-toplevel short verify is-inside-work-tree git-dir show-prefix show-cdup symbolic-full-name",
  ),
  "git ls-files": known(
    "cdmoistz",
    "cached deleted modified others ignored stage exclude-standard exclude directory full-name",
  ),
  "git ls-tree": known("rdtlz", "name-only full-tree long name-status"),
  "git describe": known("", "tags always long all abbrev match exact-match contains"),
  "git blame": known("LwMCepsltnf", "line-porcelain porcelain since date"),
  "git shortlog": known("snec", "numbered summary email all since until"),
  "git cat-file": known("ptse"),
  "git rev-list": known("n", `${history} count`),
  "git merge-base": known("", "all is-ancestor fork-point"),
  "git show-ref": known("s", "heads tags verify"),
  "git for-each-ref": known("", `${refs} count`),
  "git stash list": known("n", history),
  "git stash show": known("pu", changes),
  "git worktree list": known("v", "porcelain verbose"),
  "git grep": known(
    "inlcwvEFPohHIABCpWe",
    `${matching} ${context} name-only extended-regexp perl-regexp cached untracked heading break show-function all-match column`,
  ),
};

const findTests = new Set(
  "-name -iname -path -ipath -type -maxdepth -mindepth -size -mtime -mmin -newer -empty -print -print0 -not -a -o -and -or -prune -perm -user -group -regex -iregex -ls -P -xdev -depth".split(
    " ",
  ),
);

/** The name of a command in the list, "git diff"; null: it is not there. */
export function findReadOnlyCommand(words: readonly string[]): string | null {
  // 'git diff' in quotes is one word, and another program.
  const apart = words.slice(0, 3).map((word) => (word.includes(" ") ? "?" : word));
  const longest = [3, 2, 1].map((length) => apart.slice(0, length).join(" "));
  return longest.find((name) => Object.hasOwn(commands, name)) ?? null;
}

/** `words` is a whole command: all of them are looked at. */
export function isReadOnlyCommand(words: readonly string[]): boolean {
  const name = findReadOnlyCommand(words);
  const command = name === null ? undefined : commands[name];
  if (name === null || !command) return false;
  const args = words.slice(name.split(" ").length);
  if (name === "find")
    return args.every((arg) => !/^[-(!,]/.test(arg) || findTests.has(arg) || /^-\d+$/.test(arg));
  // Signatures are checked by a program that the repository's settings may name.
  if (args.some((arg) => /%G|%\(signature/.test(arg))) return false;
  const end = args.indexOf("--");
  const options = (end === -1 ? args : args.slice(0, end)).filter(
    (arg) => arg.startsWith("-") && arg !== "-",
  );
  if (!options.every((option) => isKnown(command, option))) return false;
  const names = args.length - options.length - (end === -1 ? 0 : 1);
  return (
    names === 0 ||
    !command.onlyWith ||
    options.some((option) => command.onlyWith?.includes(option.split("=", 1)[0] ?? ""))
  );
}

function isKnown({ letters, options }: Known, option: string): boolean {
  const long = /^--([a-z][a-z0-9-]*)(?:=.*)?$/s.exec(option);
  if (long) return options.has(long[1] ?? "");
  return (
    /^-[A-Za-z0-9]+$/.test(option) &&
    [...option.slice(1)].every((letter) => /\d/.test(letter) || letters.includes(letter))
  );
}
