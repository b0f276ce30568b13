/** Follows the CLI's status files: one per process, rewritten at every change, removed when it ends. */
import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../../system/processes.ts";
import { readStatusFile, type StatusFile } from "../status-file.ts";

export interface StatusChange {
  readonly file: StatusFile;
  /** The file no longer speaks of this session: removed, or taken by another session of the same process. */
  readonly gone: boolean;
}

interface Known {
  readonly file: StatusFile;
  readonly content: string;
}

/** inotify tells at once; where it does not (network folders, a folder that comes later), this finds it. */
const pollMs = 1_000;
/** A file caught in the middle of being rewritten is read again. */
const tornMs = 10;
const maxFileBytes = 64 * 1024;

export interface StatusFiles {
  /** Reads everything there is, now. */
  scan(): void;
  /** The newest file of a live process that names this session: one can be open in two terminals. */
  findFile(sessionId: string): StatusFile | null;
  stop(): void;
}

export function followStatusFiles(
  folder: string,
  onChange: (change: StatusChange) => void,
  onError: (text: string) => void,
): StatusFiles {
  const known = new Map<string, Known>();
  const retries = new Set<ReturnType<typeof setTimeout>>();
  let watcher: FSWatcher | null = null;
  let watched: string | null = null;

  function look(name: string, again = 3): void {
    // The `.key` files beside them are none of our business.
    if (!/^\d+\.json$/.test(name)) return;
    const content = readSmall(join(folder, name));
    if (content === null) {
      forget(name);
      return;
    }
    const before = known.get(name);
    if (before?.content === content) return;
    const file = readStatusFile(content);
    if (!file) {
      if (again > 0) later(() => look(name, again - 1));
      return;
    }
    if (!isAlive(file.pid, file.procStart)) {
      forget(name);
      return;
    }
    known.set(name, { file, content });
    if (before && before.file.sessionId !== file.sessionId) onChange({ file: before.file, gone: true });
    if (!before || differs(before.file, file)) onChange({ file, gone: false });
  }

  function forget(name: string): void {
    const before = known.get(name);
    known.delete(name);
    if (before) onChange({ file: before.file, gone: true });
  }

  function later(work: () => void): void {
    const timer = setTimeout(() => {
      retries.delete(timer);
      work();
    }, tornMs);
    retries.add(timer);
  }

  function scan(): void {
    listen();
    let names: string[] = [];
    try {
      names = readdirSync(folder);
    } catch {
      // The CLI has not made its folder yet, has none, or somebody removed it.
    }
    for (const name of new Set([...names, ...known.keys()])) look(name);
  }

  /** A folder made in the place of another is a new one, of which the old watcher hears nothing. */
  function listen(): void {
    const now = identify(folder);
    if (watcher && now === watched) return;
    watcher?.close();
    watcher = null;
    watched = now;
    if (now === null) return;
    try {
      watcher = watch(folder, { persistent: false }, (_, name) => (name ? look(name) : scan()));
      watcher.on("error", (error) => {
        onError(`stopped watching ${folder}: ${error.message}; looking every second instead`);
        watcher?.close();
        watcher = null;
      });
    } catch {
      watcher = null;
    }
  }

  scan();
  const poll = setInterval(scan, pollMs);
  return {
    scan,
    findFile(sessionId) {
      const named = [...known.values()]
        .map(({ file }) => file)
        .filter((file) => file.sessionId === sessionId);
      const alive = named.filter(({ pid, procStart }) => isAlive(pid, procStart));
      return alive.sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0))[0] ?? null;
    },
    stop() {
      clearInterval(poll);
      for (const timer of retries) clearTimeout(timer);
      watcher?.close();
    },
  };
}

function differs(a: StatusFile, b: StatusFile): boolean {
  return (
    a.sessionId !== b.sessionId ||
    a.status !== b.status ||
    a.waitingFor !== b.waitingFor ||
    a.title !== b.title
  );
}

/** Inodes are used again at once; the time of birth tells such folders apart. */
function identify(folder: string): string | null {
  try {
    const { ino, birthtimeMs } = statSync(folder);
    return `${ino}-${birthtimeMs}`;
  } catch {
    return null;
  }
}

/** null: there is no such file. What cannot be read now says nothing. */
function readSmall(path: string): string | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return null;
    return stat.isFile() && stat.size <= maxFileBytes ? readFileSync(path, "utf8") : "";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? null : "";
  }
}
