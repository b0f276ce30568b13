/** Watches Claude Code's status files: one per process, rewritten at every change, removed when the process ends. */
import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../../system/processes.ts";
import { parseStatusFile, type StatusFile } from "../status-file.ts";

export interface StatusChange {
  readonly file: StatusFile;
  /** True if the file no longer names this session: it was removed, or the process has another session now. */
  readonly isGone: boolean;
}

interface KnownFile {
  readonly file: StatusFile;
  readonly content: string;
  /** As `readStamp` returned it before the content was read. */
  readonly stamp: string | null;
}

/** When a file that is just being rewritten is read again. */
const retryMs = 10;
/** A file that was written this recently is read again, even if its size and times are the same. */
const newFileMs = 2_000;
const maxFileBytes = 64 * 1024;

export interface StatusFiles {
  /**
   * Reads the files that changed. inotify reports most changes at once; a scan every second finds the others: in network
   * folders, and in a folder that is created later.
   */
  scan(): void;
  /** The newest file of a running process that names this session: a session can be open in two terminals. */
  findFile(sessionId: string): StatusFile | null;
  /** The sessions that files name, of processes that ran when their file was read. */
  sessionIds(): ReadonlySet<string>;
  stop(): void;
}

export function watchStatusFiles(
  folder: string,
  onChange: (change: StatusChange) => void,
  onError: (text: string) => void,
): StatusFiles {
  const known = new Map<string, KnownFile>();
  const retryTimers = new Set<ReturnType<typeof setTimeout>>();
  let watcher: FSWatcher | null = null;
  let watchedFolder: string | null = null;

  function check(name: string, retries = 3): void {
    // The `.key` files beside them are not status files.
    if (!/^\d+\.json$/.test(name)) return;
    const path = join(folder, name);
    const stamp = readStamp(path);
    const content = readSmall(path);
    if (content === null) {
      forget(name);
      return;
    }
    const before = known.get(name);
    if (before?.content === content) {
      known.set(name, { ...before, stamp });
      return;
    }
    const file = parseStatusFile(content);
    if (!file) {
      if (retries > 0) retryLater(() => check(name, retries - 1));
      return;
    }
    if (!isAlive(file.pid, file.procStart)) {
      forget(name);
      return;
    }
    known.set(name, { file, content, stamp });
    if (before && before.file.sessionId !== file.sessionId) onChange({ file: before.file, isGone: true });
    if (!before || isDifferent(before.file, file)) onChange({ file, isGone: false });
  }

  function forget(name: string): void {
    const before = known.get(name);
    known.delete(name);
    if (before) onChange({ file: before.file, isGone: true });
  }

  function retryLater(work: () => void): void {
    const timer = setTimeout(() => {
      retryTimers.delete(timer);
      work();
    }, retryMs);
    retryTimers.add(timer);
  }

  function scan(): void {
    watchFolder();
    let names: string[] = [];
    try {
      names = readdirSync(folder);
    } catch {
      // The CLI has not created its folder yet, or somebody removed it.
    }
    for (const name of new Set([...names, ...known.keys()])) {
      const stamp = known.get(name)?.stamp;
      if (!stamp || stamp !== readStamp(join(folder, name))) check(name);
    }
  }

  /** If the folder was replaced by another of the same name, the old watcher reports nothing. */
  function watchFolder(): void {
    const current = identify(folder);
    if (watcher && current === watchedFolder) return;
    watcher?.close();
    watcher = null;
    watchedFolder = current;
    if (current === null) return;
    try {
      watcher = watch(folder, { persistent: false }, (_, name) => (name ? check(name) : scan()));
      watcher.on("error", (error) => {
        onError(`stopped watching ${folder}: ${error.message}; it is read every second instead`);
        watcher?.close();
        watcher = null;
      });
    } catch {
      watcher = null;
    }
  }

  scan();
  return {
    scan,
    findFile(sessionId) {
      const files = [...known.values()]
        .map(({ file }) => file)
        .filter((file) => file.sessionId === sessionId);
      const alive = files.filter(({ pid, procStart }) => isAlive(pid, procStart));
      return alive.sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0))[0] ?? null;
    },
    sessionIds: () => new Set([...known.values()].map(({ file }) => file.sessionId)),
    stop() {
      for (const timer of retryTimers) clearTimeout(timer);
      watcher?.close();
    },
  };
}

function isDifferent(a: StatusFile, b: StatusFile): boolean {
  return (
    a.sessionId !== b.sessionId ||
    a.status !== b.status ||
    a.waitingFor !== b.waitingFor ||
    a.title !== b.title ||
    a.jobId !== b.jobId
  );
}

/** Inodes are used again at once: the creation time tells such folders apart. */
function identify(folder: string): string | null {
  try {
    const { ino, birthtimeMs } = statSync(folder);
    return `${ino}-${birthtimeMs}`;
  } catch {
    return null;
  }
}

/** Equal if the file has not changed. null if it cannot be told: a change in the same tick of the clock leaves no trace. */
function readStamp(path: string): string | null {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    return Math.abs(Date.now() - mtimeMs) < newFileMs ? null : `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return null;
  }
}

/** null if there is no such file. Empty if it cannot be read now. */
function readSmall(path: string): string | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return null;
    return stat.isFile() && stat.size <= maxFileBytes ? readFileSync(path, "utf8") : "";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? null : "";
  }
}
