/** Finds the session that runs this command: a port that an agent starts is its own. */
import type { Agent } from "../agents/agent.ts";
import type { SessionView } from "../core/view/session-view.ts";
import type { Env } from "../system/folders.ts";
import { listAncestors, readStartTime } from "../system/processes.ts";
import type { SessionIdentity } from "./ports.ts";

export const identifyView = ({ provider, sessionId, fingerprint, place }: SessionView): SessionIdentity => ({
  agent: provider,
  sessionId,
  fingerprint,
  pid: place?.pid ?? null,
  procStart: place?.procStart ?? null,
  terminalSessionId: place?.terminalSessionId ?? null,
});

/**
 * null if no agent runs this command. `sessions` are those that the running beckon knows, null if it does not run. Variables
 * alone do not prove it, where the system shows our parents: a terminal that an agent opened keeps them.
 */
export function findOwnSession(
  table: readonly Agent[],
  env: Env,
  sessions: readonly SessionView[] | null,
  ancestors: readonly number[] = listAncestors(),
): SessionIdentity | null {
  for (const pid of ancestors) {
    const session = sessions?.find(
      ({ place, state }) => place?.local && place.pid === pid && state !== "completed",
    );
    if (session) return identifyView(session);
  }
  for (const { id, forwarding } of table) {
    const pid = Number(env[forwarding.pidVariable ?? ""]);
    const sessionId = env[forwarding.sessionVariable ?? ""] || null;
    const hasPid = Number.isInteger(pid) && pid > 1;
    const known = sessions?.find((session) => session.provider === id && session.sessionId === sessionId);
    // Several terminals share the server's process, so it does not tell the session. The variable does.
    const isOfServer = forwarding.pidVariable === null && known !== undefined && known.state !== "completed";
    const isParent =
      ancestors.length === 0 ? hasPid || sessionId !== null : hasPid && ancestors.includes(pid);
    if (!isParent && !isOfServer) continue;
    if (known) return identifyView(known);
    const procStart = hasPid ? readStartTime(pid) || null : null;
    return {
      agent: id,
      sessionId,
      fingerprint: null,
      pid: hasPid ? pid : null,
      procStart,
      terminalSessionId: null,
    };
  }
  return null;
}
