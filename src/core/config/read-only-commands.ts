/**
 * Commands that only read, with the options that only read and follow no links. What is not listed is not allowed. Long options
 * must be complete, because many programs take `--outp` for `--output`.
 */

interface ReadOnlyCommand {
  /** Short options, alone or combined. Numbers may follow. */
  readonly letters: string;
  readonly options: ReadonlySet<string>;
  /** Without one of these options, an argument would create something (`git branch NAME`). */
  readonly onlyWith?: readonly string[];
}

function command(letters: string, options = "", onlyWith?: string): ReadOnlyCommand {
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
  shasum: command("ab"),
  cksum: command(""),
  cmp: command("bils"),
  comm: command("123"),
  // Without -r, which would follow links.
  diff: command("abBcdiNpqstuUwy", "unified brief ignore-all-space color side-by-side new-file"),
  od: command("AjNtvcxd"),
  hexdump: command("Cnsv"),
  strings: command("ant"),
  echo: command("neE"),
  uname: command("asnrvmpio"),
  whoami: command(""),
  id: command("ugnG"),
  nproc: command(""),
  which: command("a"),
  grep: command(
    "abcEFGHhiILlnoPqrsvwxABCem",
    `${matching} ${context} include exclude exclude-dir recursive extended-regexp perl-regexp with-filename no-filename no-messages`,
  ),
  rg: command(
    "aABCcFHiIlmnNoPsSuUvwxegtT",
    `${matching} ${context} files type type-not glob iglob hidden no-ignore json multiline sort heading no-heading smart-case stats type-list column trim`,
  ),
  find: command(""),
  "git status": command(
    "sbuvz",
    "short branch porcelain long untracked-files ignored ahead-behind show-stash",
  ),
  "git log": command("pusnzabwiEFPcmMCSGL", `${history} ${changes}`),
  "git show": command("puszabwMC", `${history} ${changes}`),
  "git diff": command("puszabwRMCSG", changes),
  "git branch": command(
    "arvl",
    `${refs} list all remotes verbose show-current color no-color`,
    "--list --contains --no-contains --merged --no-merged --points-at",
  ),
  "git tag": command(
    "ln",
    `${refs} list`,
    "-l --list --contains --no-contains --merged --no-merged --points-at",
  ),
  "git remote": command("v", "verbose", "nothing"),
  "git rev-parse": command(
    "",
    "abbrev-ref show-toplevel short verify is-inside-work-tree git-dir show-prefix show-cdup symbolic-full-name",
  ),
  "git ls-files": command(
    "cdmoistz",
    "cached deleted modified others ignored stage exclude-standard exclude directory full-name",
  ),
  "git ls-tree": command("rdtlz", "name-only full-tree long name-status"),
  "git describe": command("", "tags always long all abbrev match exact-match contains"),
  "git blame": command("LwMCepsltnf", "line-porcelain porcelain since date"),
  "git shortlog": command("snec", "numbered summary email all since until"),
  "git cat-file": command("ptse"),
  "git rev-list": command("n", `${history} count`),
  "git merge-base": command("", "all is-ancestor fork-point"),
  "git show-ref": command("s", "heads tags verify"),
  "git for-each-ref": command("", `${refs} count`),
  "git stash list": command("n", history),
  "git stash show": command("pu", changes),
  "git worktree list": command("v", "porcelain verbose"),
  "git grep": command(
    "inlcwvEFPohHIABCpWe",
    `${matching} ${context} name-only extended-regexp perl-regexp cached untracked heading break show-function all-match column`,
  ),
};

const findTests = new Set(
  "-name -iname -path -ipath -type -maxdepth -mindepth -size -mtime -mmin -newer -empty -print -print0 -not -a -o -and -or -prune -perm -user -group -regex -iregex -ls -P -xdev -depth".split(
    " ",
  ),
);

/** Returns the name of the listed command, like "git diff", or null. */
export function findReadOnlyCommand(words: readonly string[]): string | null {
  // 'git diff' in quotes is one word, so another program.
  const names = words.slice(0, 3).map((word) => (word.includes(" ") ? "?" : word));
  const candidates = [3, 2, 1].map((length) => names.slice(0, length).join(" "));
  return candidates.find((name) => Object.hasOwn(commands, name)) ?? null;
}

/** `words` must be the whole command. */
export function isReadOnlyCommand(words: readonly string[]): boolean {
  const name = findReadOnlyCommand(words);
  const listed = name === null ? undefined : commands[name];
  if (name === null || !listed) return false;
  const args = words.slice(name.split(" ").length);
  if (name === "find")
    return args.every((arg) => !/^[-(!,]/.test(arg) || findTests.has(arg) || /^-\d+$/.test(arg));
  // git checks signatures with a program that the repository's settings can name.
  if (args.some((arg) => /%G|%\(signature/.test(arg))) return false;
  const end = args.indexOf("--");
  const options = (end === -1 ? args : args.slice(0, end)).filter(
    (arg) => arg.startsWith("-") && arg !== "-",
  );
  if (!options.every((option) => isReadOnlyOption(listed, option))) return false;
  const count = args.length - options.length - (end === -1 ? 0 : 1);
  return (
    count === 0 ||
    !listed.onlyWith ||
    options.some((option) => listed.onlyWith?.includes(option.split("=", 1)[0] ?? ""))
  );
}

function isReadOnlyOption({ letters, options }: ReadOnlyCommand, option: string): boolean {
  const long = /^--([a-z][a-z0-9-]*)(?:=.*)?$/s.exec(option);
  if (long) return options.has(long[1] ?? "");
  return (
    /^-[A-Za-z0-9]+$/.test(option) &&
    [...option.slice(1)].every((letter) => /\d/.test(letter) || letters.includes(letter))
  );
}
