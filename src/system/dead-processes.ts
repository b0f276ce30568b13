/** Dead processes tell nobody: kill -9 leaves a session that looks alive. */
import type { Session } from "../core/session/session.ts";
import { isAlive } from "./clock.ts";

/** The sessions whose process is no more. Only those of this machine, whose pids we can see. */
export function findDead(sessions: readonly Session[]): Session[] {
  // One process can have many sessions: it is looked at once.
  const looked = new Map<number, { readonly procStart: string | null; readonly isAlive: boolean }>();
  return sessions.filter(({ ended, place }) => {
    if (ended || !place?.local || place.pid === null) return false;
    const { pid, procStart } = place;
    const last = looked.get(pid);
    if (last?.procStart === procStart) return !last.isAlive;
    const now = { procStart, isAlive: isAlive(pid, procStart) };
    looked.set(pid, now);
    return !now.isAlive;
  });
}
