/** Dead processes tell nobody: kill -9 leaves a session that looks alive. */
import type { Session } from "../core/session.ts";
import { isAlive } from "./machine.ts";

/** The sessions whose process is no more. Only those of this machine, whose pids we can see. */
export function findDead(sessions: readonly Session[]): Session[] {
  // One process can have many sessions: it is looked at once.
  const alive = new Map<string, boolean>();
  return sessions.filter(({ ended, place }) => {
    if (ended || !place?.local || place.pid === null) return false;
    const process = `${place.pid} ${place.procStart}`;
    const known = alive.get(process) ?? isAlive(place.pid, place.procStart);
    alive.set(process, known);
    return !known;
  });
}
