/**
 * The sessions that Copilot CLI has open, from its open-sessions-state.json: `{ID: {openedAt, working}}`. It is written as soon as
 * the CLI starts, resumes a session or clears it, before the first hook. A session that was killed stays in it, so its process
 * must be alive and a Copilot CLI, which is known on Linux only. `session-state/ID/inuse.PID.lock` names the process. Until the
 * first prompt of a resumed session, only the process's log does.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { asRecord, parseJson, readTime } from "../../../core/json.ts";
import type { Place } from "../../../core/session/event.ts";
import { readFileStamp, readOr } from "../../../storage/files.ts";
import { readCommandLine, readStartTime } from "../../../system/processes.ts";
import { readPath } from "../../hook-event.ts";
import { readSettingsText } from "../../setup/file-check.ts";

export interface OpenSession {
  readonly sessionId: string;
  /** Wall time. */
  readonly openedAt: number;
  readonly isWorking: boolean;
}

/** Of more, the oldest were killed. */
const maxListed = 200;
/** The id becomes part of a path. */
const validId = /^[\w-]{1,64}$/;

/** Returns a function that reads the file if it has changed. It returns null if it has not. */
export function createOpenSessionsReader(copilotFolder: string): () => readonly OpenSession[] | null {
  const path = join(copilotFolder, "open-sessions-state.json");
  let stamp = "";
  return () => {
    const current = readFileStamp(path);
    if (current === stamp) return null;
    const text = readSettingsText(path);
    // Written again while it was read: next time.
    const file = text === "" ? {} : parseJson(text);
    if (file === undefined) return null;
    stamp = current;
    const listed = Object.entries(asRecord(file)).flatMap(([sessionId, entry]) => {
      const { openedAt, working } = asRecord(entry);
      const at = readTime(openedAt);
      if (!validId.test(sessionId) || at === null) return [];
      return [{ sessionId, openedAt: at, isWorking: working === true }];
    });
    return listed.sort((a, b) => b.openedAt - a.openedAt).slice(0, maxListed);
  };
}

/**
 * Returns a function that finds the process which has a session open, null if there is none any more. For many sessions at one moment:
 * the processes are listed once. `copilotFolder` is the CLI's own folder.
 */
export function createProcessFinder(copilotFolder: string): (sessionId: string) => Place | null {
  let logs: readonly ProcessLog[] | null = null;
  return (sessionId) => {
    const locking = findLockingPid(join(copilotFolder, "session-state", sessionId));
    logs ??= locking === null ? readLogs(copilotFolder) : null;
    const pid = locking ?? findLoggingPid(logs ?? [], sessionId);
    if (pid === null) return null;
    return { local: true, pid, procStart: readStartTime(pid), tty: null, terminalSessionId: null, env: {} };
  };
}

/** What a process that still runs has logged. */
interface ProcessLog {
  readonly pid: number;
  readonly text: string;
}

const listPids = (folder: string, pattern: RegExp): readonly (readonly [pid: number, path: string])[] =>
  readOr(() => readdirSync(folder), [])
    .map((name) => [Number(pattern.exec(name)?.[1] ?? 0), join(folder, name)] as const)
    .filter(([pid]) => pid > 0 && isCopilot(readCommandLine(pid)));

function findLockingPid(sessionFolder: string): number | null {
  const [first] = listPids(sessionFolder, /^inuse\.(\d+)\.lock$/);
  return first?.[0] ?? null;
}

const readLogs = (copilotFolder: string): readonly ProcessLog[] =>
  listPids(join(copilotFolder, "logs"), /^process-\d+-(\d+)\.log$/).map(([pid, path]) => ({
    pid,
    text: readSettingsText(path),
  }));

function findLoggingPid(logs: readonly ProcessLog[], sessionId: string): number | null {
  const line = `Registering foreground session: ${sessionId}`;
  return logs.find(({ text }) => text.includes(line))?.pid ?? null;
}

/** After a restart of the machine another program can have the id. The program is `copilot`, or node with a script of its package. */
const isCopilot = (commandLine: readonly string[]): boolean =>
  commandLine.slice(0, 2).some((argument) => /(?:^|\/)copilot$|\/@github\/copilot[\w-]*\//.test(argument));

/** The session's workspace.yaml has a line `cwd: /home/ann/project`. null if unknown. */
export function readWorkspaceFolder(copilotFolder: string, sessionId: string): string | null {
  const path = join(copilotFolder, "session-state", sessionId, "workspace.yaml");
  const [, cwd = ""] = /^cwd: (.+)$/m.exec(readSettingsText(path)) ?? [];
  return readPath(cwd.trim().replace(/^(["'])(.*)\1$/, "$2"));
}
