/** Finds the project and the port that the work of a session belongs to. */
import type { Config } from "../core/config/config.ts";
import { findGuardSettings, findLongest, type GuardSettings } from "../core/config/work-guard.ts";
import type { Place, SessionPort } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { resolvePath } from "../core/text/paths.ts";
import { computeFingerprint } from "../core/view/session-view.ts";
import { isAlive } from "../system/processes.ts";
import { needsPort } from "./decide.ts";
import { findPort, findProject, findRun, type PortBook, type SessionIdentity } from "./ports.ts";

/** An edited file, and the project and settings that count for it. */
export interface LocatedEdit {
  readonly path: string | null;
  readonly project: string | null;
  readonly settings: GuardSettings;
}

type Folders = Pick<Session, "cwd" | "firstCwd">;

export interface Locator {
  settingsOf(session: Folders): GuardSettings;
  /** The port that the session's edits in its own project belong to. */
  findOwnPort(session: Session): SessionPort | null;
  findActive(project: string | null, identity: SessionIdentity): SessionPort | null;
  /** The project whose settings and ports count for a file: the one that it is in, if that has settings of its own. */
  locateEdit(session: Folders, file: string | null): LocatedEdit;
}

export function createLocator(settings: () => Config["workGuard"], book: () => PortBook): Locator {
  const projectOfFolder = (folder: string, fallback: string): string =>
    findProject(book(), Object.keys(settings().projects), folder, fallback);

  function projectOf({ cwd, firstCwd }: Folders): string | null {
    const folder = cwd ?? firstCwd;
    return folder === null ? null : projectOfFolder(folder, firstCwd ?? folder);
  }

  function findActive(project: string | null, identity: SessionIdentity): SessionPort | null {
    const run = project === null ? null : findRun(book(), project, identity, isAlive);
    const port = run && findPort(book(), run.project, run.port);
    if (!run || !port || port.endedAt !== null) return null;
    return { id: port.id, title: port.title, project: run.project, since: run.startedAt };
  }

  return {
    settingsOf: (session) => findGuardSettings(settings(), projectOf(session)),
    findOwnPort: (session) => findActive(projectOf(session), identify(session, session.place)),
    findActive,
    locateEdit(session, file) {
      const folder = session.cwd ?? session.firstCwd;
      const path = file === null ? null : resolvePath(folder ?? "/", file);
      const current = settings();
      const own = path === null ? null : findLongest(Object.keys(current.projects), path);
      const project = own === null ? projectOf(session) : projectOfFolder(own, own);
      return { path, project, settings: findGuardSettings(current, project) };
    },
  };
}

export const isUntracked = ({ path, project, settings: { mode, ignore } }: LocatedEdit): boolean =>
  mode !== "off" && needsPort(project, path, ignore);

/** `place` is the newest that is known: a resumed session has another process than before. */
export function identify(
  session: { readonly agent: string; readonly sessionId: string | null; readonly firstCwd: string | null },
  place: Place | null,
): SessionIdentity {
  const { agent, sessionId, firstCwd } = session;
  return {
    agent,
    sessionId,
    fingerprint: computeFingerprint({ place, firstCwd }),
    pid: place?.pid ?? null,
    procStart: place?.procStart ?? null,
    terminalSessionId: place?.terminalSessionId ?? null,
  };
}
