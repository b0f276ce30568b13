/** Records a sandbox in the format of test/fixtures/recordings: hooks, status files, marks, and what beckon showed. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionView } from "../../src/core/view/session-view.ts";
import type { Recording, Row } from "../replay/recording.ts";
import type { Shown } from "../replay/replay.ts";

export interface SandboxRecorder {
  /** Returns the time of the mark. */
  mark(text: string): number;
  addShown(sessions: readonly SessionView[]): void;
  readonly shown: readonly Shown[];
  /** Every change of a status file. */
  readonly files: readonly Row[];
  /** How many hooks of that name have run since then. */
  countHooks(event: string, sinceMs: number): number;
  recording(name: string): Recording;
  stop(): void;
}

/** Two changes of the status file can be 20 ms apart. */
const pollMs = 10;

/**
 * A hook that writes one file per event, named after its time, event and process, and complete when it appears. It is
 * independent of beckon, so that beckon is not judged by its own records.
 */
export function createRecordingScript(folder: string): string {
  const name = "$(date +%s%N) $1 $CLAUDE_PID $CLAUDE_CODE_SESSION_ATTENDED $$";
  return `#!/bin/sh
name="${name}"
cat >"${folder}/.$name" && mv "${folder}/.$name" "${folder}/$name"
`;
}

export function startRecorder(sessionsFolder: string, hooksFolder: string): SandboxRecorder {
  const startedAt = Date.now();
  const marks: Row[] = [];
  const files: Row[] = [];
  const shown: Shown[] = [];
  const contents = new Map<string, string>();
  const now = () => Date.now() - startedAt;

  function readFiles(): void {
    const names = listFolder(sessionsFolder).filter((name) => /^\d+\.json$/.test(name));
    for (const file of new Set([...names, ...contents.keys()])) {
      const content = readText(join(sessionsFolder, file));
      if (content === contents.get(file)) continue;
      const row = content === undefined ? { gone: true } : parseRow(content);
      if (!row) continue;
      if (content === undefined) contents.delete(file);
      else contents.set(file, content);
      files.push({ ms: now(), src: "session-file", file, ...row });
    }
  }

  function readHooks(): Row[] {
    return listHookFiles().map((name) => {
      const [ms, event, pid = "", attended = ""] = parseName(name);
      const payload = parseRow(readText(join(hooksFolder, name)) ?? "") ?? {};
      const env = { CLAUDE_PID: pid, CLAUDE_CODE_SESSION_ATTENDED: attended };
      return { ms, src: "hook", event, env, payload };
    });
  }

  const listHookFiles = () => listFolder(hooksFolder).filter((name) => !name.startsWith("."));
  const parseName = (name: string) => {
    const [stamp, event = "", ...rest] = name.split(" ");
    return [Math.round(Number(stamp) / 1e6 - startedAt), event, ...rest] as const;
  };

  const timer = setInterval(readFiles, pollMs);
  return {
    mark(text) {
      const ms = now();
      marks.push({ ms, src: "driver", mark: text });
      return ms;
    },
    addShown(sessions) {
      const isNew = JSON.stringify(sessions) !== JSON.stringify(shown.at(-1)?.sessions);
      if (isNew) shown.push({ ms: now(), sessions });
    },
    shown,
    files,
    countHooks: (name, sinceMs) =>
      listHookFiles()
        .map(parseName)
        .filter(([ms, event]) => event === name && ms >= sinceMs).length,
    recording(name) {
      const rows = [...marks, ...files, ...readHooks()].sort((a, b) => a.ms - b.ms);
      return { name, rows, startedAt, hasStatus: true };
    },
    stop: () => clearInterval(timer),
  };
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function parseRow(text: string): Partial<Row> | null {
  try {
    return JSON.parse(text) as Partial<Row>;
  } catch {
    return null;
  }
}
