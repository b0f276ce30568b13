/**
 * Files that two live sessions of this machine have changed, while neither change is committed. Git is asked only once two sessions share
 * a file, and again while they do. Loaded once two sessions have edited something.
 */
import type { Schedule, SessionChange } from "../core/interfaces/index.ts";
import { limits } from "../core/limits.ts";
import type { ClockReading, FileEdit, SharedFile } from "../core/session/event.ts";
import { projectOf, type Session } from "../core/session/session.ts";
import { parseSessionKey, type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { createLabel, fitLines } from "../core/text/fit.ts";
import { diffLines } from "../core/text/line-diff.ts";
import { resolvePath } from "../core/text/paths.ts";
import { timing } from "../core/timing.ts";
import { formatChangedBy } from "../core/view/work-notes.ts";
import { maskText } from "../secrets/index.ts";
import { createEditedFiles, createRealPaths, type EditOfSession } from "./edited-files.ts";
import type { ReadChangedText, ReadFileInGit } from "./git.ts";
import { createSharingChecks, type SharedPaths } from "./sharing-checks.ts";

export interface CollisionOptions {
  readonly clock: () => ClockReading;
  readonly sessions: () => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly readFile: ReadFileInGit;
  readonly readChange: ReadChangedText;
  readonly schedule: Schedule;
  /** These are all files that the session shares now. */
  readonly setShared: (session: Session, files: readonly SharedFile[]) => void;
}

export interface Collisions {
  onChange(change: SessionChange): void;
  forget(key: string): void;
  /** The changes of other live sessions in these files that are not committed, before the session edits them. */
  findOthers(session: SessionRefLike, paths: readonly string[]): Promise<SharedFile[]>;
  /** What is not committed in a file that these others have changed, for the user: without secrets, and not too long. */
  showChange(path: string, others: readonly SharedFile[]): Promise<readonly string[]>;
  stop(): void;
}

/** Of a change that a request shows beside its own. */
const maxChangeRows = 14;
/** A command of a session that shares files may have been a commit. */
const afterCallMs = 1_500;

export function createCollisions(options: CollisionOptions): Collisions {
  const findReal = createRealPaths(() => options.clock().t);
  const edited = createEditedFiles(findReal);
  const checks = createSharingChecks({ schedule: options.schedule, findSharing, onChecked: publish });

  function addEdits(session: Session, edits: readonly FileEdit[]): void {
    const { met, dropped } = edited.add(sessionKeyOf(session), edits);
    for (const path of met) checks.add(path);
    checkDropped(dropped);
  }

  /** If one of those that share a file has no changes in it any more, the others may not share it either. */
  function checkDropped(paths: readonly string[]): void {
    for (const path of paths) if (checks.shared.has(path)) checks.add(path);
  }

  function forget(key: string): void {
    checkDropped(edited.forget(key));
    checks.checkSoon();
  }

  /** The sessions with changes of the file that are not committed, if there are several. */
  async function findSharing(path: string, known: SharedPaths): Promise<ReadonlySet<string>> {
    const edits = listRecent(path);
    if (edits.length < 2 || edits.every(([key]) => countShared(known, key) >= limits.maxSharedFiles))
      return new Set();
    const open = await keepUncommitted(options.readFile, path, edits);
    return new Set(open.length < 2 ? [] : open.map(([key]) => key));
  }

  function listRecent(path: string): readonly EditOfSession[] {
    const { at } = options.clock();
    return edited.of(path).filter(([, edit]) => at - edit.at < timing.staleAfterMs);
  }

  /**
   * A session is about to edit the file. If it is as it was committed, whatever was changed in it before was committed or taken back,
   * which no event says.
   */
  function dropOutdated(session: Session, named: string): void {
    const path = findReal(resolvePath(session.cwd ?? "/", named));
    const edits = path === null ? [] : edited.of(path);
    if (path !== null && edits.some(([key]) => key !== sessionKeyOf(session)))
      void dropCommitted(path, edits);
  }

  async function dropCommitted(path: string, edits: readonly EditOfSession[]): Promise<void> {
    const file = await options.readFile(path, 0);
    if (file === null || file.isIgnored || file.isChanged) return;
    for (const [key, edit] of edits) {
      if (edited.find(path, key) !== edit) continue;
      edited.drop(path, key);
      checkDropped([path]);
    }
    checks.checkSoon();
  }

  function publish(key: string, shared: SharedPaths): void {
    const session = findLive(key);
    if (!session) return;
    const list = [...shared].flatMap(([path, keys]) => (keys.has(key) ? listOthers(path, key, keys) : []));
    const newest = list.toSorted((a, b) => b.at - a.at).slice(0, limits.maxSharedFiles);
    if (
      !isSameList(
        newest,
        session.sharedFiles.filter(({ machine }) => machine === null),
      )
    )
      options.setShared(session, newest);
  }

  function listOthers(path: string, own: string, keys: Iterable<string>): SharedFile[] {
    const named = edited.find(path, own)?.path ?? path;
    return [...keys].flatMap((key) => {
      const edit = key === own ? undefined : edited.find(path, key);
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
  checks.checkSoon();

  return {
    onChange({ session, before, event }) {
      if (session.ended) {
        if (!before?.ended) forget(sessionKeyOf(session));
        return;
      }
      if (event.change.kind === "tool-start" && isSharing(session))
        for (const path of event.change.editPaths?.slice(0, limits.maxSharedFiles) ?? [])
          dropOutdated(session, path);
      if (session.edits !== before?.edits && isSharing(session)) {
        addEdits(session, listNew(session.edits, before?.edits ?? []));
        checks.checkSoon();
      }
      if (
        session.sharedFiles.length > 0 &&
        (event.change.kind === "tool-end" || event.change.kind === "turn-end")
      ) {
        const key = sessionKeyOf(session);
        for (const [path, keys] of checks.shared) if (keys.has(key)) checks.add(path);
        checks.checkSoon(afterCallMs);
      }
    },
    forget,
    async findOthers(session, paths) {
      const own = sessionKeyOf(session);
      const found: SharedFile[] = [];
      for (const named of paths.slice(0, limits.maxSharedFiles)) {
        const path = findReal(named);
        const others = path === null ? [] : listRecent(path).filter(([key]) => key !== own);
        if (path === null || others.length === 0) continue;
        const open = await keepUncommitted(options.readFile, path, others);
        const keys = open.map(([key]) => key);
        found.push(...listOthers(path, own, keys).map((file) => ({ ...file, path: named })));
      }
      return found;
    },
    async showChange(path, others) {
      const real = findReal(path);
      const change = real === null ? null : await options.readChange(real);
      const lines = change && diffLines(maskText(change.committed), maskText(change.now));
      const label = createLabel(formatChangedBy(others));
      return fitLines([label, ...(lines ?? [createLabel("it cannot be shown")])], maxChangeRows).lines;
    },
    stop: checks.stop,
  };
}

/** New edits are at the end. */
function listNew(edits: readonly FileEdit[], before: readonly FileEdit[]): readonly FileEdit[] {
  const lastKnown = edits.findLastIndex((edit) => before.includes(edit));
  return edits.slice(lastKnown + 1);
}

/** In a container, the same path is another file, and its repository another one. */
export const isSharing = ({ ended, place, machine }: Session): boolean =>
  !ended && machine === null && (place === null || place.local);

/** Of these edits, those that are not committed. */
export async function keepUncommitted(
  readFile: ReadFileInGit,
  path: string,
  edits: readonly EditOfSession[],
): Promise<readonly EditOfSession[]> {
  const oldest = Math.min(...edits.map(([, { at }]) => at));
  const file = await readFile(path, oldest);
  if (file === null || file.isIgnored || !file.isChanged) return [];
  return edits.filter(([, { at }]) => at > (file.committedAt ?? 0));
}

const countShared = (shared: SharedPaths, key: string): number =>
  [...shared.values()].filter((keys) => keys.has(key)).length;

const isSameList = (a: readonly SharedFile[], b: readonly SharedFile[]): boolean =>
  a.length === b.length &&
  a.every((file, n) =>
    Object.entries(file).every(([name, value]) => b[n]?.[name as keyof SharedFile] === value),
  );
