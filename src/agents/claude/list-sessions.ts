/**
 * The sessions that Claude Code itself lists: `claude agents --json`. It takes 0.2 s of CPU, so it is never polled: doctor asks,
 * and the watcher where the status file and the hooks have disagreed for a long time.
 */
import type { Exec } from "../../core/interfaces/index.ts";
import { listRecords, parseJson, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { FileStatus, WaitingFor } from "../../core/session/event.ts";
import { parseStatus, parseWaitingFor } from "./status-file.ts";

export interface ListedSession {
  readonly sessionId: string;
  /** null if the CLI does not say. */
  readonly status: FileStatus | null;
  readonly waitingFor: WaitingFor | null;
}

/** The first version with `agents --json`. */
export const listSince = "2.1.145";
const timeoutMs = 5_000;

/** null if the CLI cannot tell. */
export async function listSessions(exec: Exec, program: string): Promise<readonly ListedSession[] | null> {
  const { code, stdout } = await exec([program, "agents", "--json"], { timeoutMs });
  return code === 0 ? parseList(stdout) : null;
}

function parseList(text: string): readonly ListedSession[] | null {
  const list = parseJson(text);
  if (!Array.isArray(list)) return null;
  return listRecords(list).flatMap((entry) => {
    const sessionId = readText(entry.sessionId, limits.maxIdLength);
    const status = parseStatus(entry.status);
    return sessionId === null ? [] : [{ sessionId, status, waitingFor: parseWaitingFor(entry.waitingFor) }];
  });
}
