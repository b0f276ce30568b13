/** What happens in a sandbox, written down in the form of the recordings: hooks, status files, marks, and what was shown. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionSnapshot } from "../../src/core/view/snapshot.ts";
import type { Shown } from "../replay/play.ts";
import type { Recording, Row } from "../replay/recording.ts";

export interface Recorder {
  /** When that was. */
  mark(text: string): number;
  show(sessions: readonly SessionSnapshot[]): void;
  readonly shown: readonly Shown[];
  /** The status files as they changed. */
  readonly files: readonly Row[];
  /** How many hooks of that name there have been since. */
  heard(event: string, sinceMs: number): number;
  recording(name: string): Recording;
  stop(): void;
}

/** The CLI rewrites its status file at every change; two changes can be 20 ms apart. */
const lookMs = 10;

/**
 * The hook that records: one file per event, named by its time, event and process, complete when it appears. A program of
 * its own, so that what beckon shows is not judged by what beckon heard.
 */
export function recordingHook(folder: string): string {
  const name = "$(date +%s%N) $1 $CLAUDE_PID $CLAUDE_CODE_SESSION_ATTENDED $$";
  return `#!/bin/sh
name="${name}"
cat >"${folder}/.$name" && mv "${folder}/.$name" "${folder}/$name"
`;
}

export function startRecorder(sessionsFolder: string, hooksFolder: string): Recorder {
  const startedAt = Date.now();
  const marks: Row[] = [];
  const files: Row[] = [];
  const shown: Shown[] = [];
  const contents = new Map<string, string>();
  const now = () => Date.now() - startedAt;

  function look(): void {
    const names = list(sessionsFolder).filter((name) => /^\d+\.json$/.test(name));
    for (const file of new Set([...names, ...contents.keys()])) {
      const content = read(join(sessionsFolder, file));
      if (content === contents.get(file)) continue;
      const told = content === undefined ? { gone: true } : parse(content);
      if (!told) continue;
      if (content === undefined) contents.delete(file);
      else contents.set(file, content);
      files.push({ ms: now(), src: "session-file", file, ...told });
    }
  }

  function hooks(): Row[] {
    return names().map((name) => {
      const [ms, event, pid = "", attended = ""] = about(name);
      const payload = parse(read(join(hooksFolder, name)) ?? "") ?? {};
      const env = { CLAUDE_PID: pid, CLAUDE_CODE_SESSION_ATTENDED: attended };
      return { ms, src: "hook", event, env, payload };
    });
  }

  const names = () => list(hooksFolder).filter((name) => !name.startsWith("."));
  const about = (name: string) => {
    const [stamp, event = "", ...rest] = name.split(" ");
    return [Math.round(Number(stamp) / 1e6 - startedAt), event, ...rest] as const;
  };

  const timer = setInterval(look, lookMs);
  return {
    mark(text) {
      const ms = now();
      marks.push({ ms, src: "driver", mark: text });
      return ms;
    },
    show(sessions) {
      const isNew = JSON.stringify(sessions) !== JSON.stringify(shown.at(-1)?.sessions);
      if (isNew) shown.push({ ms: now(), sessions });
    },
    shown,
    files,
    heard: (name, sinceMs) =>
      names()
        .map(about)
        .filter(([ms, event]) => event === name && ms >= sinceMs).length,
    recording(name) {
      const rows = [...marks, ...files, ...hooks()].sort((a, b) => a.ms - b.ms);
      return { name, rows, startedAt, hasStatus: true };
    },
    stop: () => clearInterval(timer),
  };
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function parse(text: string): Partial<Row> | null {
  try {
    return JSON.parse(text) as Partial<Row>;
  } catch {
    return null;
  }
}
