/** Claude Code's status file, `<config>/sessions/<pid>.json`. Its format is internal to the CLI: it is used if it is complete. */

import { parseRecord, readNumber, readPositive, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { Change, FileStatus, Place, WaitingFor } from "../../core/session/event.ts";

export interface StatusFile {
  readonly sessionId: string;
  readonly pid: number;
  readonly procStart: string | null;
  readonly cwd: string | null;
  /** null if it is not a session yet, or an older CLI wrote it. */
  readonly status: FileStatus | null;
  readonly waitingFor: WaitingFor | null;
  readonly updatedAt: number | null;
  readonly title: string | null;
  /** Who has started the process: "cli", "claude-vscode", "sdk-ts". null if unknown. */
  readonly entrypoint: string | null;
  readonly tmuxPane: string | null;
  /** The id of a background session. null if it has a terminal of its own. */
  readonly jobId: string | null;
  /** The socket that takes messages for the session, from 2.1.224 on. null if there is none. */
  readonly inbox: string | null;
}

const statuses: ReadonlySet<unknown> = new Set<FileStatus>(["idle", "busy", "waiting", "shell"]);

export function parseStatusFile(content: string): StatusFile | null {
  const json = parseRecord(content);
  const sessionId = readText(json.sessionId, limits.maxIdLength);
  const pid = readPositive(json.pid);
  if (sessionId === null || pid === null) return null;
  return {
    sessionId,
    pid,
    procStart: typeof json.procStart === "number" ? String(json.procStart) : readText(json.procStart, 64),
    cwd: readText(json.cwd, limits.maxPathLength),
    status: parseStatus(json.status),
    waitingFor: parseWaitingFor(json.waitingFor),
    updatedAt: readNumber(json.statusUpdatedAt),
    title: json.nameSource === "derived" ? null : readText(json.name, limits.maxSummaryLength),
    entrypoint: readText(json.entrypoint, limits.maxIdLength),
    tmuxPane: readText(json.tmux, limits.maxIdLength)?.match(/%\d+$/)?.[0] ?? null,
    inbox: readText(json.messagingSocketPath, limits.maxPathLength),
    jobId: json.kind === "bg" ? (readText(json.jobId, 64)?.match(/^[\w-]+$/)?.[0] ?? null) : null,
  };
}

/** null for a status that no version of the CLI has written so far. */
export function parseStatus(status: unknown): FileStatus | null {
  return statuses.has(status) ? (status as FileStatus) : null;
}

const waitingForTexts: ReadonlyMap<unknown, WaitingFor> = new Map([
  ["permission prompt", "permission"],
  ["input needed", "question"],
  ["dialog open", "dialog"],
]);

/** null for a text that no version of the CLI has written so far. */
export function parseWaitingFor(text: unknown): WaitingFor | null {
  return waitingForTexts.get(text) ?? null;
}

/** null if the file has no status. */
export function createStatusChange(file: StatusFile): Change | null {
  if (file.status === null) return null;
  return {
    kind: "status",
    status: file.status,
    waitingFor: file.waitingFor,
    title: file.title,
    ...(file.jobId === null ? {} : { attach: `claude attach ${file.jobId}` }),
  };
}

/** Where the CLI keeps the session's transcript. `folder` is the CLI's own. null if unknown. */
export function findTranscriptPath({ cwd, sessionId }: StatusFile, folder: string): string | null {
  if (cwd === null || !/^[\w-]+$/.test(sessionId)) return null;
  return `${folder}/projects/${cwd.replace(/[^a-zA-Z0-9]/g, "-")}/${sessionId}.jsonl`;
}

/**
 * null if the hooks decide. An editor or app says who has started it, and so does the `claude -p` that its Bash tool runs: it inherits
 * the variable (measured with 2.1.325). `commandLine` tells them apart; it is empty if unknown.
 */
export function findAttended({ entrypoint }: StatusFile, commandLine: readonly string[]): boolean | null {
  if (entrypoint === null) return null;
  if (entrypoint === "cli") return true;
  if (entrypoint.startsWith("sdk")) return false;
  // The program that has started it shows its requests to somebody.
  if (/(?:^| )--permission-prompt-tool[= ]stdio(?: |$)/.test(commandLine.join(" "))) return true;
  return commandLine.includes("-p") || commandLine.includes("--print") ? false : null;
}

const isHosted = (file: StatusFile): file is StatusFile & { entrypoint: string } =>
  file.entrypoint !== null && file.entrypoint !== "cli";

export function createPlace(file: StatusFile): Place {
  const env: Record<string, string> = {
    ...(file.tmuxPane === null ? {} : { TMUX_PANE: file.tmuxPane }),
    ...(isHosted(file) ? { CLAUDE_CODE_ENTRYPOINT: file.entrypoint } : {}),
  };
  return { local: true, pid: file.pid, procStart: file.procStart, tty: null, terminalSessionId: null, env };
}
