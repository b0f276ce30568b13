/**
 * Names the files that this machine's sessions have changed and not committed so that another machine can recognise them: by
 * repository, commit and path in it. Loaded once another machine follows this one, or this one follows another.
 */
import { createHash } from "node:crypto";
import type { Schedule, SessionChange } from "../core/interfaces/index.ts";
import { limits } from "../core/limits.ts";
import type { RepositoryFile } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { parseSessionKey, type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { isSharing, keepUncommitted } from "./collisions.ts";
import { findRealPath } from "./edited-files.ts";
import { findInRepository, type ReadFileInGit, type ReadRepository } from "./git.ts";

export interface RepositoryFilesOptions {
  readonly sessions: () => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly schedule: Schedule;
  readonly readFile: ReadFileInGit;
  readonly readRepository: ReadRepository;
  /** These are all such files of the session now. */
  readonly setFiles: (session: Session, files: readonly RepositoryFile[]) => void;
}

export interface RepositoryFiles {
  onChange(change: SessionChange): void;
  stop(): void;
}

/** A moment after an edit, so that several of one turn are checked together. */
const checkMs = 400;
/** A command may have been a commit. */
const afterCallMs = 1_500;
/** A commit in another terminal, of which no event says anything. */
const recheckMs = 30_000;

export function createRepositoryFiles(options: RepositoryFilesOptions): RepositoryFiles {
  const { schedule } = options;
  const due = new Set<string>();
  let cancelCheck: (() => void) | null = null;
  let cancelRecheck: (() => void) | null = null;
  let isChecking = false;
  let isStopped = false;

  function checkSoon(ms: number): void {
    if (due.size > 0 && !isStopped) cancelCheck ??= schedule(() => void check(), ms);
  }

  async function check(): Promise<void> {
    cancelCheck = null;
    if (isChecking) return checkSoon(checkMs);
    isChecking = true;
    for (const key of due) {
      due.delete(key);
      const found = findLive(key);
      const files = found ? await listFiles(found) : [];
      const session = findLive(key);
      if (session && !isStopped && !Bun.deepEquals(files, session.repositoryFiles))
        options.setFiles(session, files);
    }
    isChecking = false;
    checkSoon(checkMs);
    recheckLater();
  }

  function recheckLater(): void {
    if (!isStopped && listSharing().length > 0)
      cancelRecheck ??= schedule(() => {
        cancelRecheck = null;
        void recheck();
      }, recheckMs);
  }

  // Other machines' sessions have such files too, and theirs are not read here.
  const listSharing = () =>
    options.sessions().filter((session) => isSharing(session) && session.repositoryFiles.length > 0);

  /** Only the commit, which one call tells for all files of a repository. */
  async function recheck(): Promise<void> {
    const commits = new Map<string, Promise<string | null>>();
    for (const session of listSharing()) {
      const folder = findFolder(session);
      if (folder === null) continue;
      const reading =
        commits.get(folder) ?? options.readRepository(folder).then((read) => read?.commit ?? null);
      commits.set(folder, reading);
      const commit = await reading;
      if (session.repositoryFiles.some((file) => file.commit !== commit)) due.add(sessionKeyOf(session));
    }
    checkSoon(0);
    recheckLater();
  }

  async function listFiles(session: Session): Promise<RepositoryFile[]> {
    const files: RepositoryFile[] = [];
    for (const edit of session.edits.slice(-limits.maxRepositoryFiles)) {
      const path = findRealPath(edit.path);
      const place = path === null ? null : findInRepository(path);
      if (path === null || place === null) continue;
      const open = await keepUncommitted(options.readFile, path, [[sessionKeyOf(session), edit]]);
      const repository = open.length === 0 ? null : await options.readRepository(place.repository);
      if (repository === null) continue;
      const { commit } = repository;
      files.push({
        repository: hashAddress(repository.address),
        commit,
        path: place.name,
        at: edit.at,
        t: edit.t,
      });
    }
    return files;
  }

  function findLive(key: string): Session | null {
    const ref = parseSessionKey(key);
    const session = ref && options.get(ref);
    return session && isSharing(session) ? session : null;
  }

  function add(session: Session, ms: number): void {
    due.add(sessionKeyOf(session));
    checkSoon(ms);
  }

  for (const session of options.sessions())
    if (isSharing(session) && session.edits.length > 0) add(session, checkMs);

  return {
    onChange({ session, before, event: { change } }) {
      if (!isSharing(session)) return;
      if (session.edits !== before?.edits) add(session, checkMs);
      else if (
        session.repositoryFiles.length > 0 &&
        (change.kind === "tool-end" || change.kind === "turn-end")
      )
        add(session, afterCallMs);
    },
    stop() {
      isStopped = true;
      cancelCheck?.();
      cancelRecheck?.();
    },
  };
}

const findFolder = ({ edits }: Session): string | null => {
  const path = findRealPath(edits.at(-1)?.path ?? "/");
  return path === null ? null : (findInRepository(path)?.repository ?? null);
};

/** Other machines learn whether it is theirs too, and not what it is. */
export function hashAddress(address: string): string {
  return createHash("sha256")
    .update(`beckon repository ${normalizeAddress(address)}`)
    .digest("hex")
    .slice(0, 32);
}

/** "git@github.com:acme/shop.git" and "https://me:token@github.com/acme/shop" are one repository. */
export function normalizeAddress(address: string): string {
  const [, host, path] =
    /^[a-z][a-z\d+.-]*:\/\/(?:[^/@]*@)?([^/:]+)(?::\d+)?\/(.*)$/i.exec(address) ??
    /^(?:[^/@]*@)?([^/:]{2,}):(?!\/\/)(.*)$/.exec(address) ??
    [];
  const whole = host === undefined ? address : `${host.toLowerCase()}/${path?.replace(/^\/+/, "")}`;
  return whole.replace(/\/+$/, "").replace(/\.git$/, "");
}
