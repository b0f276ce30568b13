/** Dead processes tell nobody: kill -9 leaves a session that looks alive. */
import type { Session } from "../core/session.ts";
import { isAlive } from "./machine.ts";

/** The sessions whose process is no more. Only those of this machine, whose pids we can see. */
export function findDead(sessions: readonly Session[]): Session[] {
  return sessions.filter(({ ended, place }) => {
    if (ended || !place?.local || place.pid === null) return false;
    return !isAlive(place.pid, place.procStart);
  });
}
