/**
 * Files that two live sessions of this machine have changed, while neither change is committed. Git is asked only once two sessions share
 * a file, and again while they do. Loaded once two sessions have edited something.
 */
import { followLinks } from "../answers/real-paths.ts";
import type { Schedule, SessionChange } from "../core/interfaces/index.ts";
import { limits } from "../core/limits.ts";
import type { ClockReading, FileEdit, SharedFile } from "../core/session/event.ts";
import { projectOf, type Session } from "../core/session/session.ts";
import { parseSessionKey, type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { resolvePath } from "../core/text/paths.ts";
import { timing } from "../core/timing.ts";
import { isGenerated } from "./generated-files.ts";
import type { ReadFileInGit } from "./git.ts";

export interface CollisionOptions {
  readonly clock: () => ClockReading;
  readonly sessions: () => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly readFile: ReadFileInGit;
  readonly schedule: Schedule;
  /** These are all files that the session shares now. */
  readonly setShared: (session: Session, files: readonly SharedFile[]) => void;
}

export interface Collisions {
  onChange(change: SessionChange): void;
  forget(key: string): void;
  /** The changes of other live sessions in these files that are not committed, before the session edits them. */
  findOthers(session: SessionRefLike, paths: readonly string[]): Promise<SharedFile[]>;
  stop(): void;
}

/** A moment after an edit, so that several of one turn are checked together. */
const checkMs = 200;
/** A commit in another terminal ends a collision, and no event says so. */
const recheckMs = 30_000;
/** A command of a session that shares files may have been a commit. */
const afterCallMs = 1_500;

export function createCollisions(options: CollisionOptions): Collisions {
  /** By real path, then by session. */
  const files = new Map<string, Map<string, FileEdit>>();
  /** By session: the real paths of its edits, the oldest first. */
  const pathsOf = new Map<string, Set<string>>();
  /** By real path: the sessions that share it, each with the others' changes. */
  const shared = new Map<string, ReadonlySet<string>>();
  const due = new Set<string>();
  let cancelCheck: (() => void) | null = null;
  let cancelRecheck: (() => void) | null = null;
  let isChecking = false;
  let isStopped = false;

  function addEdits(session: Session, edits: readonly FileEdit[]): void {
    const key = sessionKeyOf(session);
    const own = pathsOf.get(key) ?? new Set<string>();
    pathsOf.set(key, own);
    for (const edit of edits) {
      const path = isGenerated(edit.path) ? null : followLinks(edit.path);
      if (path === null || isGenerated(path)) continue;
      const sessions = files.get(path) ?? new Map<string, FileEdit>();
      files.set(path, sessions.set(key, edit));
      own.delete(path);
      own.add(path);
      if (sessions.size > 1) due.add(path);
    }
    for (const path of own) {
      if (own.size <= limits.maxEditedFiles) break;
      dropEdit(key, path);
      own.delete(path);
    }
  }

  function dropEdit(key: string, path: string): void {
    const sessions = files.get(path);
    sessions?.delete(key);
    if (sessions?.size === 0) files.delete(path);
    if (shared.has(path)) due.add(path);
  }

  function forget(key: string): void {
    for (const path of pathsOf.get(key) ?? []) dropEdit(key, path);
    pathsOf.delete(key);
    checkSoon(checkMs);
  }

  function checkSoon(ms: number): void {
    if (due.size > 0 && !isStopped) cancelCheck ??= options.schedule(() => void check(), ms);
  }

  async function check(): Promise<void> {
    cancelCheck = null;
    if (isChecking) return checkSoon(checkMs);
    isChecking = true;
    const changed = new Set<string>();
    for (const path of due) {
      due.delete(path);
      const before = shared.get(path) ?? new Set();
      const after = await findSharing(path);
      if (after.size > 0) shared.set(path, after);
      else shared.delete(path);
      for (const key of [...before, ...after]) changed.add(key);
    }
    isChecking = false;
    if (isStopped) return;
    for (const key of changed) publish(key);
    checkSoon(checkMs);
    if (shared.size > 0) cancelRecheck ??= options.schedule(recheck, recheckMs);
  }

  function recheck(): void {
    cancelRecheck = null;
    for (const path of shared.keys()) due.add(path);
    checkSoon(0);
  }

  /** The sessions with changes of the file that are not committed, if there are several. */
  async function findSharing(path: string): Promise<ReadonlySet<string>> {
    const edits = listRecent(path);
    if (edits.length < 2 || edits.every(([key]) => countShared(key) >= limits.maxSharedFiles))
      return new Set();
    const open = await keepUncommitted(path, edits);
    return new Set(open.length < 2 ? [] : open.map(([key]) => key));
  }

  function listRecent(path: string): [key: string, edit: FileEdit][] {
    const { at } = options.clock();
    return [...(files.get(path) ?? [])].filter(([, edit]) => at - edit.at < timing.staleAfterMs);
  }

  async function keepUncommitted<Edit extends readonly [string, FileEdit]>(
    path: string,
    edits: readonly Edit[],
  ): Promise<readonly Edit[]> {
    const oldest = Math.min(...edits.map(([, { at }]) => at));
    const file = await options.readFile(path, oldest);
    if (file === null || file.isIgnored || !file.isChanged) return [];
    return edits.filter(([, { at }]) => at > (file.committedAt ?? 0));
  }

  /**
   * A session is about to edit the file. If it is as it was committed, whatever was changed in it before was committed or taken back,
   * which no event says.
   */
  async function dropOutdated(session: Session, named: string): Promise<void> {
    const path = isGenerated(named) ? null : followLinks(resolvePath(session.cwd ?? "/", named));
    const edits = path === null ? [] : [...(files.get(path) ?? [])];
    if (path === null || edits.every(([key]) => key === sessionKeyOf(session))) return;
    const file = await options.readFile(path, 0);
    if (file === null || file.isIgnored || file.isChanged) return;
    for (const [key, edit] of edits) if (files.get(path)?.get(key) === edit) dropEdit(key, path);
    checkSoon(checkMs);
  }

  const countShared = (key: string): number => [...shared.values()].filter((keys) => keys.has(key)).length;

  function publish(key: string): void {
    const session = findLive(key);
    if (!session) return;
    const list = [...shared].flatMap(([path, keys]) => (keys.has(key) ? listOthers(path, key, keys) : []));
    const newest = list.toSorted((a, b) => b.at - a.at).slice(0, limits.maxSharedFiles);
    if (!isSameList(newest, session.sharedFiles)) options.setShared(session, newest);
  }

  function listOthers(path: string, own: string, keys: Iterable<string>): SharedFile[] {
    const named = files.get(path)?.get(own)?.path ?? path;
    return [...keys].flatMap((key) => {
      const edit = key === own ? undefined : files.get(path)?.get(key);
      const session = edit && findLive(key);
      if (!edit || !session) return [];
      const { machine, agent, sessionId } = session;
      return [
        { path: named, machine, agent, sessionId, project: projectOf(session), at: edit.at, t: edit.t },
      ];
    });
  }

  function findLive(key: string): Session | null {
    const ref = parseSessionKey(key);
    const session = ref && options.get(ref);
    return session && !session.ended ? session : null;
  }

  for (const session of options.sessions()) {
    if (isSharing(session)) addEdits(session, session.edits);
    // What is true of them now is found out again.
    if (session.sharedFiles.length > 0 && !session.ended) options.setShared(session, []);
  }
  checkSoon(checkMs);

  return {
    onChange({ session, before, event }) {
      if (session.ended) {
        if (!before?.ended) forget(sessionKeyOf(session));
        return;
      }
      if (event.change.kind === "tool-start" && isSharing(session))
        for (const path of event.change.editPaths?.slice(0, limits.maxSharedFiles) ?? [])
          void dropOutdated(session, path);
      if (session.edits !== before?.edits && isSharing(session)) {
        const known = new Set(before?.edits);
        addEdits(
          session,
          session.edits.filter((edit) => !known.has(edit)),
        );
        checkSoon(checkMs);
      }
      if (
        session.sharedFiles.length > 0 &&
        (event.change.kind === "tool-end" || event.change.kind === "turn-end")
      ) {
        const key = sessionKeyOf(session);
        for (const [path, keys] of shared) if (keys.has(key)) due.add(path);
        checkSoon(afterCallMs);
      }
    },
    forget,
    async findOthers(session, paths) {
      const own = sessionKeyOf(session);
      const found: SharedFile[] = [];
      for (const named of paths.slice(0, limits.maxSharedFiles)) {
        const path = isGenerated(named) ? null : followLinks(named);
        const others = path === null ? [] : listRecent(path).filter(([key]) => key !== own);
        if (path === null || others.length === 0) continue;
        const open = await keepUncommitted(path, others);
        const keys = open.map(([key]) => key);
        found.push(...listOthers(path, own, keys).map((file) => ({ ...file, path: named })));
      }
      return found;
    },
    stop() {
      isStopped = true;
      cancelCheck?.();
      cancelRecheck?.();
    },
  };
}

/** In a container, the same path is another file. */
const isSharing = ({ ended, place, machine }: Session): boolean =>
  !ended && machine === null && (place === null || place.local);

const isSameList = (a: readonly SharedFile[], b: readonly SharedFile[]): boolean =>
  a.length === b.length &&
  a.every((file, n) =>
    Object.entries(file).every(([name, value]) => b[n]?.[name as keyof SharedFile] === value),
  );
