/** Which programs a simple command would run: its own, and those that it hands its arguments to. */
import type { Command, Redirect, Script, Word } from "../script.ts";
import { files } from "./files.ts";
import type { CommandContext, Judge } from "./look.ts";
import { byTable, services, sqlClients } from "./services.ts";

export interface Program {
  /** Without its folder, in small letters: some systems do not tell `RM` from `rm`. */
  readonly name: string;
  readonly args: readonly Word[];
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/));

export const shells = set("sh bash zsh dash ksh mksh ash fish csh tcsh pwsh powershell cmd");
export const interpreters = set(
  "python python2 python3 pypy3 node nodejs deno bun perl ruby php lua osascript tclsh rscript",
);
const downloaders = set(
  "curl wget fetch aria2c http https xh httpie lwp-download irm iwr invoke-webrequest invoke-restmethod",
);
export const network = set(
  `curl wget fetch aria2c http https xh nc ncat netcat socat ssh scp sftp rsync ftp lftp tftp telnet rclone mail mailx
   sendmail mutt dig nslookup host drill gh glab aws gsutil gcloud az s3cmd s5cmd irm iwr invoke-webrequest`,
);
const roots = set("sudo doas su pkexec run0 runuser gosu su-exec");
const wrappers = set(
  `sudo doas su pkexec run0 runuser gosu su-exec env nohup time nice ionice timeout command builtin exec xargs stdbuf setsid watch
   parallel chroot unshare nsenter flock script strace ltrace ssh docker podman kubectl oc busybox toybox find fd caffeinate
   proxychains proxychains4 firejail bwrap systemd-run at batch entr nix-shell nix poetry uv pipenv bundle npx bunx pnpm yarn
   dotenv direnv rlwrap expect unbuffer chronic torsocks taskset chrt prlimit eatmydata fakeroot gdb valgrind`,
);
const keywords = set("if then elif else fi do done while until ! { } time function coproc in esac");
const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

export const isRoot = (name: string): boolean => roots.has(name);
export const isWrapper = (name: string): boolean => wrappers.has(name);

export function judgeOf(
  name: string,
  { agentPrograms }: Pick<CommandContext, "agentPrograms">,
): Judge | null {
  const known = name.startsWith("mkfs.") ? "mkfs" : name;
  if (Object.hasOwn(files, known)) return files[known] ?? null;
  if (Object.hasOwn(services, known)) return services[known] ?? null;
  const patterns = agentPrograms.get(known);
  return patterns ? byTable(patterns) : null;
}

const isKnown = (name: string, context: CommandContext): boolean =>
  judgeOf(name, context) !== null ||
  shells.has(name) ||
  interpreters.has(name) ||
  downloaders.has(name) ||
  network.has(name) ||
  roots.has(name) ||
  sqlClients.has(name) ||
  name === "eval";

/** The words from the program on. */
export function ownWords({ words }: Command): readonly Word[] {
  let at = 0;
  for (const { text, isQuoted } of words) {
    if (!assignment.test(text) && (isQuoted || !keywords.has(text))) break;
    at++;
  }
  return words.slice(at);
}

/** How many words of a wrapper are taken for programs; so many are an attempt to tire the reader. */
export const maxHandedOn = 16;
const maxArgs = 1_000;

export function programsOf(command: Command, context: CommandContext): Program[] {
  const words = ownWords(command);
  const [first] = words;
  if (!first) return [];
  const own = { name: nameOf(first), args: words.slice(1) };
  if (!isWrapper(own.name)) return [own];
  const programs: Program[] = [own];
  for (const [n, word] of words.entries()) {
    const name = n === 0 ? "" : nameOf(word);
    if (name !== "" && isKnown(name, context)) programs.push({ name, args: words.slice(n + 1, n + maxArgs) });
    if (programs.length > maxHandedOn) break;
  }
  return programs;
}

function nameOf({ text }: Word): string {
  const base = text.slice(-200).replace(/^.*[\\/](?=[^\\/])/s, "");
  return base
    .toLowerCase()
    .replace(/\.exe$/, "")
    .replace(/^(python|pypy|perl|ruby|php|lua)[\d.]+$/, "$1");
}

/** Everything within it that the shell runs to make it. */
export function innerOf(command: Command): Script[] {
  const inRedirects = (redirects: readonly Redirect[]) => redirects.flatMap(({ target }) => target.inner);
  return [
    ...command.words.flatMap(({ inner }) => inner),
    ...inRedirects(command.redirects),
    ...(command.group ? [command.group] : []),
  ];
}

export function downloaderIn(script: Script, context: CommandContext): string | null {
  for (const pipeline of script) {
    for (const command of pipeline) {
      const found = downloaderOf(command, context);
      if (found !== null) return found;
    }
  }
  return null;
}

export function downloaderOf(command: Command, context: CommandContext): string | null {
  const own = programsOf(command, context).find(({ name }) => downloaders.has(name));
  if (own) return own.name;
  for (const script of innerOf(command)) {
    const found = downloaderIn(script, context);
    if (found !== null) return found;
  }
  return null;
}
