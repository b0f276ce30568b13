/**
 * Asks git about one file. A project's own settings name programs that git runs: a monitor of files, hooks, filters, a signature
 * checker, transports. An agent that is confined to the project can write those settings, and beckon is not confined. So only commands
 * are used that read objects, what they could run is turned off, and the file is compared here instead of with its filters.
 */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Exec } from "../core/interfaces/index.ts";
import { limits } from "../core/limits.ts";
import { findRelativePath } from "../core/text/paths.ts";
import { findRepository } from "../system/repository.ts";

export interface FileInGit {
  /** The repository ignores it. */
  readonly isIgnored: boolean;
  /** It differs from the last commit. */
  readonly isChanged: boolean;
  /** Wall time until which changes are committed. null if there was no commit of the file since the time that was asked for. */
  readonly committedAt: number | null;
}

/** null if the file is in no repository, or git cannot be asked. */
export type ReadFileInGit = (path: string, since: number) => Promise<FileInGit | null>;

/** `--literal-pathspecs`: a name is not a pattern. check-ignore does not take it, and needs the name with "./" in front. */
const safeOptions = [
  ...["--no-pager", "--no-optional-locks", "--no-replace-objects"],
  ...["-c", "core.fsmonitor=false"],
  ...["-c", "core.hooksPath=/dev/null"],
  ...["-c", "core.untrackedCache=false"],
  ...["-c", "core.sshCommand=false"],
  ...["-c", "protocol.allow=never"],
] as const;

/** A partial clone would fetch what is missing, through any program that its settings name. */
const safeVariables = {
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
} as const;

/** Of the program that started beckon: another repository, settings, programs. */
const dropOwnVariables = (): Record<string, undefined> =>
  Object.fromEntries(
    Object.keys(process.env).flatMap((name) => (/^GIT_/i.test(name) ? [[name, undefined]] : [])),
  );

type RunGit = (...args: readonly string[]) => ReturnType<Exec>;

const createGit =
  (exec: Exec, repository: string): RunGit =>
  (...args) =>
    exec(["git", "-C", repository, ...safeOptions, ...args], {
      env: { ...dropOwnVariables(), ...safeVariables },
    });

/** null if the file is in no repository. */
export function findInRepository(
  path: string,
): { readonly repository: string; readonly name: string } | null {
  const repository = findRepository(dirname(path));
  const name = repository === null ? null : findRelativePath(repository, path);
  return repository === null || name === null ? null : { repository, name };
}

/** What the last commit has of the file; null if nothing. */
async function findBlob(git: RunGit, name: string): Promise<string | null> {
  const tree = await git("--literal-pathspecs", "ls-tree", "-z", "HEAD", "--", name);
  return /^\d+ blob (?<id>[\da-f]+)\t/.exec(tree.stdout)?.groups?.id ?? null;
}

export interface RepositoryState {
  /** Of the remote repository. */
  readonly address: string;
  readonly commit: string;
}

/** `folder` has `.git`. null if it has no remote repository, or no commit. */
export type ReadRepository = (folder: string) => Promise<RepositoryState | null>;

export function createRepositoryReader(exec: Exec): ReadRepository {
  return async (folder) => {
    const git = createGit(exec, folder);
    const remotes = await git("config", "--get-regexp", "^remote\\..+\\.url$");
    const addresses = [...remotes.stdout.matchAll(/^remote\.(.+)\.url (.+)$/gm)];
    const address = (addresses.find(([, name]) => name === "origin") ?? addresses[0])?.[2];
    const head = await git("rev-parse", "--verify", "HEAD");
    const commit = /^[\da-f]{40,64}$/m.exec(head.stdout)?.[0];
    return address === undefined || commit === undefined ? null : { address, commit };
  };
}

export interface ChangedText {
  readonly committed: string;
  readonly now: string;
}

/** The file as it was committed and as it is. null if that cannot be read, or is not text. */
export type ReadChangedText = (path: string) => Promise<ChangedText | null>;

export function createChangeReader(exec: Exec): ReadChangedText {
  return async (path) => {
    const found = findInRepository(path);
    const content = found === null ? "unknown" : await readContent(path);
    if (found === null || content === "unknown") return null;
    const git = createGit(exec, found.repository);
    const blob = await findBlob(git, found.name);
    const { code, stdout: committed } =
      blob === null ? { code: 0, stdout: "" } : await git("cat-file", "blob", blob);
    const now = content?.toString("utf8") ?? "";
    return code !== 0 || `${committed}${now}`.includes("\0") ? null : { committed, now };
  };
}

export function createFileReader(exec: Exec): ReadFileInGit {
  return async (path, since) => {
    const found = findInRepository(path);
    if (found === null) return null;
    const { name } = found;
    // First: the file as it is now, before the next edit.
    const content = await readContent(path);
    if (content === "unknown") return null;
    const git = createGit(exec, found.repository);
    const ignored = await git("check-ignore", "--quiet", "--", `./${name}`);
    if (ignored.code === 0) return { isIgnored: true, isChanged: false, committedAt: null };
    if (ignored.code !== 1) return null;
    const isChanged = differs(content, await findBlob(git, name));
    if (!isChanged) return { isIgnored: false, isChanged, committedAt: null };
    // Times of commits are in full seconds. A commit in the same second as the change may have it.
    const seconds = Math.floor(since / 1_000);
    const asked = ["-1", `--since=${seconds}`, "--format=%ct", "HEAD", "--", name];
    const onBranch = readTime(await git("--literal-pathspecs", "rev-list", ...asked));
    // The commit can be on a branch that was checked out until a moment ago.
    const committed =
      onBranch ?? readTime(await git("--literal-pathspecs", "rev-list", "--walk-reflogs", ...asked));
    return { isIgnored: false, isChanged, committedAt: committed === null ? null : committed * 1_000 + 999 };
  };
}

function readTime({
  code,
  stdout,
}: {
  readonly code: number | null;
  readonly stdout: string;
}): number | null {
  const time = code === 0 ? /^\d+$/m.exec(stdout)?.[0] : undefined;
  return time === undefined ? null : Number(time);
}

/** null if there is no such file, "unknown" if it cannot be read or is too large to be compared. */
async function readContent(path: string): Promise<Buffer | null | "unknown"> {
  try {
    const { size } = await stat(path);
    return size > limits.maxComparedBytes ? "unknown" : await readFile(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? null : "unknown";
  }
}

/** `blob` is what the last commit has. */
function differs(content: Buffer | null, blob: string | null): boolean {
  if (content === null || blob === null) return content !== null || blob !== null;
  if (hashBlob(content, blob.length) === blob) return false;
  // Git may have changed the ends of lines when it wrote the file.
  if (!content.includes("\r\n")) return true;
  const withoutReturns = Buffer.from(content.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
  return hashBlob(withoutReturns, blob.length) !== blob;
}

/** `length` tells which hash the repository uses. */
function hashBlob(content: Buffer, length: number): string {
  const hash = createHash(length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${content.length}\0`).update(content).digest("hex");
}
