/** The programs that a simple command would run: its own, and those that a wrapper such as sudo or xargs runs. */
import type { Command, Redirect, Script, Word } from "../index.ts";
import type { CheckProgram, CommandContext } from "./context.ts";
import { filePrograms } from "./file-programs.ts";
import { remotePrograms } from "./remote-programs.ts";
import { createCheck, servicePrograms } from "./service-programs.ts";
import { databaseClients } from "./sql.ts";
import { isOrdinary, quotesCommands } from "./verbs.ts";

export interface ProgramCall {
  /** Without its folder, in lower case: some systems treat `RM` and `rm` alike. */
  readonly name: string;
  readonly args: readonly Word[];
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/));

export const shells = set("sh bash zsh dash ksh mksh ash fish csh tcsh pwsh powershell cmd");
export const interpreters = set(
  `python python2 python3 pypy3 node nodejs deno bun tsx ts-node perl ruby php lua luajit osascript tclsh expect r rscript julia raku
   groovy scala jshell elixir erl ghci ghc ocaml crystal nim kotlin swift guile racket sbcl irb ipython octave`,
);
/** Tools that also run code from their arguments or their input, but mostly do something else: `rails runner`, `go run -`. */
export const codeRunners = set(
  "rails mix iex go cargo rust-script bb clojure clj scala-cli kotlinc jbang dotnet-script csi zx nu xonsh gjs qjs uv dart dotnet sage artisan",
);
/** They run Lua, Python and other code: `nvim -c 'lua …'`. */
export const editors = set("vim vi nvim ex gvim view vimdiff emacs");
const downloaders = set(
  "curl wget fetch aria2c http https xh httpie lwp-download irm iwr invoke-webrequest invoke-restmethod",
);
export const network = set(
  `curl wget fetch aria2c http https xh nc ncat netcat socat ssh scp sftp rsync ftp lftp tftp telnet rclone mail mailx
   sendmail mutt swaks dig nslookup host drill gh glab aws gsutil gcloud az s3cmd s5cmd irm iwr invoke-webrequest`,
);
const roots = set("sudo doas su pkexec run0 runuser gosu su-exec");
const wrappers = set(
  `sudo doas su pkexec run0 runuser gosu su-exec env nohup time nice ionice timeout command builtin exec xargs stdbuf setsid watch
   parallel chroot unshare nsenter flock script strace ltrace ssh docker podman kubectl oc busybox toybox find fd caffeinate
   proxychains proxychains4 firejail bwrap systemd-run at batch entr nix-shell nix poetry uv pipenv bundle npx bunx pnpm yarn
   shx dotenv direnv rlwrap expect unbuffer chronic torsocks taskset chrt prlimit eatmydata fakeroot gdb valgrind`,
);
const keywords = set("if then elif else fi do done while until ! { } time function coproc in esac");
export const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

export const isRoot = (name: string): boolean => roots.has(name);
export const isWrapper = (name: string): boolean => wrappers.has(name);

/** Programs that run the word after their options, whatever it is. */
const directWrappers = set(
  `sudo doas pkexec run0 env nohup time nice ionice timeout command builtin exec xargs stdbuf setsid watch npx bunx pnpx chronic unbuffer
   torsocks proxychains proxychains4 caffeinate taskset chrt prlimit eatmydata fakeroot strace ltrace setarch busybox toybox chroot`,
);
const runSubcommand = /^(?:run|exec|dlx|x|run-script|shell|runx)$/;

/** Programs that can do harm with the words after them. English words like "kill" or "install" are not in the list. */
const destructive = set(
  `rm unlink shred dd mkfs wipefs rimraf truncate chmod chown curl wget git sudo doas sh bash zsh dash ksh python python3 node perl ruby php
   kubectl terraform psql mysql sqlite3 dropdb docker remove-item eval xargs rsync scp ssh nc npm shutdown reboot poweroff crontab mv`,
);

/** True if the text starts like a command that can do harm. */
export function looksDestructive(text: string): boolean {
  const [, name = ""] =
    /^[\s:!;@({&|-]*(?:(?:ext::|[A-Za-z_]\w*=\S*\s|shell|run|exec|silent|system|sudo)!?\s*)*([^\s;|&]+)/.exec(
      text,
    ) ?? [];
  return /\s/.test(text.trim()) && destructive.has(name.replace(/^.*\//, "").toLowerCase());
}

export function findCheck(
  name: string,
  { agentPrograms }: Pick<CommandContext, "agentPrograms">,
): CheckProgram | null {
  const known = name.startsWith("mkfs.") ? "mkfs" : name;
  if (Object.hasOwn(filePrograms, known)) return filePrograms[known] ?? null;
  const service = Object.hasOwn(servicePrograms, known) ? servicePrograms[known] : undefined;
  const remote = Object.hasOwn(remotePrograms, known) ? remotePrograms[known] : undefined;
  if (service && remote)
    return (...input) => {
      service(...input);
      remote(...input);
    };
  if (service ?? remote) return service ?? remote ?? null;
  const patterns = agentPrograms.get(known);
  return patterns ? createCheck(patterns) : null;
}

const isKnown = (name: string, context: CommandContext): boolean =>
  findCheck(name, context) !== null ||
  shells.has(name) ||
  interpreters.has(name) ||
  downloaders.has(name) ||
  network.has(name) ||
  roots.has(name) ||
  databaseClients.has(name) ||
  name === "eval";

/** The words from the program on, without assignments and keywords. */
export function skipPrefix({ words }: Command): readonly Word[] {
  let at = 0;
  for (const { text, isQuoted } of words) {
    if (!assignment.test(text) && (isQuoted || !keywords.has(text))) break;
    at++;
  }
  return words.slice(at);
}

/** How many words of a wrapper are checked as programs. More than that hides something. */
export const maxWrapped = 16;
/** Nobody writes more by hand. What comes after is not checked, and the command is marked. */
export const maxArgs = 400;

const findWord =
  (pattern: RegExp) =>
  (words: readonly Word[]): number =>
    words.findIndex(({ text }) => pattern.test(text));
const inContainer = findWord(/^(?:exec|run|rsh|debug|create)$/);

/** Programs that run a command only after one of their subcommands. -1 if there is none. */
const runsAfter: ReadonlyMap<string, (words: readonly Word[]) => number> = new Map([
  ["git", findWord(/^(?:run|foreach)$/)],
  ...["docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc"].map(
    (name) => [name, inContainer] as const,
  ),
]);

/** `composer exec -- ls`, `conda run -n x ls`, `ip netns exec x ls` */
const runsRest = findWord(/^(?:--|run|exec)$/);

function listDestructive(words: readonly Word[], from: number): readonly ProgramCall[] {
  const at = words.findIndex((word, n) => n >= from && destructive.has(nameOf(word)));
  const word = words[at];
  return word ? [{ name: nameOf(word), args: words.slice(at + 1, at + maxArgs) }] : [];
}

/** The programs of a command that was checked before: several checks ask for them. */
const knownPrograms = new WeakMap<Command, readonly ProgramCall[]>();

export function listPrograms(command: Command, context: CommandContext): readonly ProgramCall[] {
  const known = knownPrograms.get(command);
  if (known) return known;
  const programs = readPrograms(command, context);
  knownPrograms.set(command, programs);
  return programs;
}

function readPrograms(command: Command, context: CommandContext): readonly ProgramCall[] {
  const words = skipPrefix(command).slice(0, maxArgs);
  const [first] = words;
  if (!first) return [];
  const own = { name: nameOf(first), args: words.slice(1) };
  // Its arguments are one script, which is checked as a whole.
  if (own.name === "eval") return [own];
  const isKnownWrapper = isWrapper(own.name);
  const isOther = !isKnownWrapper && !isOrdinary(own.name) && findCheck(own.name, context) === null;
  const from = runsAfter.get(own.name)?.(words) ?? -1;
  // `python -m twine upload`
  const module = own.name === "python" && own.args[0]?.text === "-m" ? own.args[1] : undefined;
  if (module) return [own, { name: nameOf(module), args: own.args.slice(2, maxArgs) }];
  if (from === -1 && runsAfter.has(own.name)) return [own];
  if (!isKnownWrapper && from === -1 && (!isOther || interpreters.has(own.name))) {
    // `npm exec foo`, `cargo run x`
    const inner = findInner(words);
    // `bun x shx rm …`
    const isNested = inner !== null && isWrapper(inner.name);
    const run = isNested ? 0 : quotesCommands(own.name) ? -1 : runsRest(words);
    const rest = run === -1 ? [] : listDestructive(words, run + 1);
    return [own, ...(inner ? [inner] : []), ...rest];
  }
  const programs: ProgramCall[] = [own];
  const inner = findInner(words);
  if (inner && !isKnown(inner.name, context)) programs.push(inner);
  for (const [n, word] of words.entries()) {
    if (n === 0 || n <= from) continue;
    const name = nameOf(word);
    if (isOther ? destructive.has(name) : isKnown(name, context)) {
      const args = words.slice(n + 1, n + maxArgs);
      const end = own.name === "find" ? args.findIndex(({ text }) => text === ";" || text === "+") : -1;
      programs.push({ name, args: end === -1 ? args : args.slice(0, end) });
    }
    if (programs.length > maxWrapped) break;
  }
  return programs;
}

export function findInnerProgram({ name, args }: ProgramCall): ProgramCall | null {
  return findInner([{ ...emptyWord, text: name }, ...args]);
}

const emptyWord: Word = { text: "", isQuoted: false, plainLength: 0, isDynamic: false, substitutions: [] };

/** The program that a wrapper runs, also if nothing is known about it. */
function findInner(words: readonly Word[]): ProgramCall | null {
  const wrapper = words[0] ? nameOf(words[0]) : "";
  const isDirect = directWrappers.has(wrapper);
  if (!isDirect && !/^(?:npm|pnpm|yarn|bun|uv|poetry|pipenv|bundle|pdm|hatch|rye|mise|asdf)$/.test(wrapper))
    return null;
  const start = isDirect ? 1 : words.findIndex(({ text }) => runSubcommand.test(text)) + 1;
  if (start === 0 || (/^(?:npm|pnpm|yarn|bun)$/.test(wrapper) && /^run/.test(words[start - 1]?.text ?? "")))
    return null;
  const at = words.findIndex(
    ({ text }, n) => n >= start && !/^-|^\d+[smhd]?$|^\{\}$/.test(text) && !assignment.test(text),
  );
  const word = words[at];
  return word ? { name: nameOf(word), args: words.slice(at + 1, at + maxArgs) } : null;
}

function nameOf({ text }: Word): string {
  const base = text.slice(-200).replace(/^.*[\\/](?=[^\\/])/s, "");
  return (
    base
      .toLowerCase()
      .replace(/\.exe$/, "")
      // `npx rimraf@5`
      .replace(/(?<=\w)@[\w.^~-]+$/, "")
      .replace(/^(python|pypy|perl|ruby|php|lua)[\d.]+$/, "$1")
  );
}

/** The scripts that the shell runs before it runs the command. */
export function listSubstitutions(command: Command): Script[] {
  const inRedirects = (redirects: readonly Redirect[]) =>
    redirects.flatMap(({ target }) => target.substitutions);
  return [
    ...command.words.flatMap(({ substitutions }) => substitutions),
    ...inRedirects(command.redirects),
    ...(command.group ? [command.group] : []),
  ];
}

export function findDownloader(script: Script, context: CommandContext): string | null {
  for (const pipeline of script) {
    for (const command of pipeline) {
      const findings = findDownloaderOf(command, context);
      if (findings !== null) return findings;
    }
  }
  return null;
}

export function findDownloaderOf(command: Command, context: CommandContext): string | null {
  const own = listPrograms(command, context).find(({ name }) => downloaders.has(name));
  if (own) return own.name;
  for (const script of listSubstitutions(command)) {
    const findings = findDownloader(script, context);
    if (findings !== null) return findings;
  }
  return null;
}
