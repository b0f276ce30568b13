/** Settles what the status file and the hooks disagree about for long: the CLI itself is asked. */
import type { Session } from "../../../core/session/session.ts";
import type { WatchContext } from "../../agent.ts";
import type { EmitChange } from "../../watch/index.ts";
import { isAtLeast } from "../hooks.ts";
import { listSessions, listSince } from "../list-sessions.ts";

export interface DisagreementOptions
  extends Pick<WatchContext, "clock" | "exec" | "findProgram" | "onError"> {
  readonly emit: EmitChange;
}

export interface DisagreementWatcher {
  /** Asks about the sessions that it has not asked about yet. Called every second. */
  settle(sessions: readonly Session[]): void;
  forget(sessionId: string): void;
}

/** How long they disagree before the CLI is asked. */
const disagreementMs = 60_000;

export function watchDisagreements(options: DisagreementOptions): DisagreementWatcher {
  const { clock, emit, onError } = options;
  /** The CLI is asked once about each disagreement. */
  const asked = new Map<string, number>();

  async function askProgram(sessions: readonly Session[]): Promise<void> {
    const program = await options.findProgram();
    if (!program || !isAtLeast(program.version, listSince)) return;
    const listed = await listSessions(options.exec, program.path);
    for (const { sessionId, file } of sessions) {
      const entry = listed?.find((other) => other.sessionId === sessionId);
      if (!entry?.status || entry.status === file?.status) continue;
      const { status, waitingFor } = entry;
      emit({ agent: "claude", sessionId }, clock(), { kind: "status", status, waitingFor, title: null });
    }
  }

  return {
    settle(sessions) {
      const now = clock();
      const unsettled = sessions.filter((session) => {
        const since = findDisagreement(session);
        if (since === null || now.t - since < disagreementMs || asked.get(session.sessionId) === since)
          return false;
        asked.set(session.sessionId, since);
        return true;
      });
      if (unsettled.length > 0)
        askProgram(unsettled).catch((error) => onError(`could not list Claude Code's sessions: ${error}`));
    },
    forget: (sessionId) => void asked.delete(sessionId),
  };
}

/**
 * When the status file and the hooks last said different things: the file is busy since before the end of the turn, or idle
 * since before the last prompt. null if they agree.
 */
function findDisagreement({ file, ended, stopped, prompted, last }: Session): number | null {
  if (!file || ended) return null;
  const stoppedT = stopped?.t ?? Number.NEGATIVE_INFINITY;
  const promptedT = prompted?.t ?? Number.NEGATIVE_INFINITY;
  const isStale =
    file.status === "busy"
      ? stoppedT > file.t && stoppedT > promptedT
      : file.status !== "waiting" && promptedT > file.t && promptedT > stoppedT;
  return isStale ? Math.max(last.t, file.t) : null;
}
