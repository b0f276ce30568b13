/** The programs that a simple command would run: its own, and those that a wrapper such as sudo or xargs runs. */
import type { Command, Redirect, Script, Word } from "../index.ts";
import type { CheckProgram, CommandContext } from "./context.ts";
import { filePrograms } from "./file-programs.ts";
import { createCheck, databaseClients, servicePrograms } from "./service-programs.ts";

export interface ProgramCall {
  /** Without its folder, in lower case: some systems treat `RM` and `rm` alike. */
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

export function findCheck(
  name: string,
  { agentPrograms }: Pick<CommandContext, "agentPrograms">,
): CheckProgram | null {
  const known = name.startsWith("mkfs.") ? "mkfs" : name;
  if (Object.hasOwn(filePrograms, known)) return filePrograms[known] ?? null;
  if (Object.hasOwn(servicePrograms, known)) return servicePrograms[known] ?? null;
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
const maxArgs = 1_000;

export function listPrograms(command: Command, context: CommandContext): ProgramCall[] {
  const words = skipPrefix(command);
  const [first] = words;
  if (!first) return [];
  const own = { name: nameOf(first), args: words.slice(1) };
  if (!isWrapper(own.name)) return [own];
  const programs: ProgramCall[] = [own];
  for (const [n, word] of words.entries()) {
    const name = n === 0 ? "" : nameOf(word);
    if (name !== "" && isKnown(name, context)) programs.push({ name, args: words.slice(n + 1, n + maxArgs) });
    if (programs.length > maxWrapped) break;
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
