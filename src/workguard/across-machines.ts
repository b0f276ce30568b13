/**
 * Files that live sessions of different machines have changed, where both are at the same commit of one repository. Shown only: the two
 * files are not one, so no edit is asked about. Each machine finds out for itself what it sees.
 */
import type { Schedule, SessionChange } from "../core/interfaces/index.ts";
import { limits } from "../core/limits.ts";
import type { SharedFile } from "../core/session/event.ts";
import { projectOf, type Session } from "../core/session/session.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";

export interface AcrossMachinesOptions {
  readonly sessions: () => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  /** What this machine is called in the rows of others. */
  readonly ownName: string;
  readonly schedule: Schedule;
  /** These are all files that the session shares with other machines now. */
  readonly setShared: (session: Session, files: readonly SharedFile[]) => void;
}

export interface AcrossMachines {
  onChange(change: SessionChange): void;
  /** A session is gone. */
  onDeparted(): void;
  stop(): void;
}

/** Several changes are compared together. */
const compareMs = 200;

/** Whether another machine's session shares the file. */
export const isElsewhere = ({ machine }: SharedFile): boolean => machine !== null;

export function createAcrossMachines(options: AcrossMachinesOptions): AcrossMachines {
  /** What was found last, by the session's key. */
  let found: ReadonlyMap<string, readonly SharedFile[]> = new Map();
  let cancel: (() => void) | null = null;

  function compare(): void {
    cancel = null;
    const sessions = options.sessions();
    found = findShared(sessions, options.ownName);
    for (const session of sessions) update(session);
  }

  function compareSoon(): void {
    cancel ??= options.schedule(compare, compareMs);
  }

  function update(ref: SessionRefLike): void {
    const session = options.get(ref);
    if (!session) return;
    const files = found.get(sessionKeyOf(session)) ?? [];
    if (!Bun.deepEquals(session.sharedFiles.filter(isElsewhere), files)) options.setShared(session, files);
  }

  compare();
  return {
    onChange({ session, before, event }) {
      // What its own machine says of it does not have these.
      if (event.change.kind === "mirrored") queueMicrotask(() => update(session));
      const isCompared = session.repositoryFiles.length > 0 || (before?.repositoryFiles.length ?? 0) > 0;
      if (isCompared) compareSoon();
    },
    onDeparted() {
      if (found.size > 0) compareSoon();
    },
    stop: () => cancel?.(),
  };
}

/** Another machine can name any number of sessions that have changed a file: this takes no room from the rest. */
const maxOfMachine = 8;

const takeFromEach = <Changed extends { readonly session: Session }>(all: readonly Changed[]): Changed[] =>
  [...Map.groupBy(all, ({ session }) => session.machine)].flatMap(([machine, changes]) =>
    changes.slice(0, machine === null ? limits.maxSharedFiles : maxOfMachine),
  );

/** By the session's key. */
function findShared(sessions: readonly Session[], ownName: string): Map<string, readonly SharedFile[]> {
  const live = sessions.filter(({ ended, unreachableSince }) => !ended && unreachableSince === null);
  const changed = live.flatMap((session) =>
    session.repositoryFiles.slice(-limits.maxRepositoryFiles).map((file) => ({ session, file })),
  );
  const byFile = Map.groupBy(changed, ({ file }) => `${file.repository} ${file.commit} ${file.path}`);
  const shared = new Map<string, SharedFile[]>();
  for (const all of byFile.values()) {
    const changes = takeFromEach(all);
    for (const { session, file } of changes) {
      const others = changes.filter((other) => other.session.machine !== session.machine);
      if (others.length === 0) continue;
      const key = sessionKeyOf(session);
      const list = shared.get(key) ?? [];
      shared.set(key, list);
      for (const other of others.slice(0, limits.maxSharedFiles)) {
        const { machine, agent, sessionId } = other.session;
        const { at, t } = other.file;
        const project = projectOf(other.session);
        list.push({ path: file.path, machine: machine ?? ownName, agent, sessionId, project, at, t });
      }
    }
  }
  for (const [key, list] of shared)
    shared.set(key, list.toSorted((a, b) => b.at - a.at).slice(0, limits.maxSharedFiles));
  return shared;
}
