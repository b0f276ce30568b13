/** The accounts of a service that may answer, by their ids: a name can be given to someone else. */

const refusalPauseMs = 60 * 60_000;
const maxRemembered = 200;

export interface AccountList {
  /** null if none is listed. */
  readonly first: string | null;
  has(id: string): boolean;
  /** At most once an hour for each account, so that strangers cannot fill the log or make beckon write to them all day. */
  isDueForRefusal(id: string): boolean;
}

export function createAccountList(listed: unknown, now: () => number): AccountList {
  const ids = Array.isArray(listed) ? listed.map(String) : [];
  const refusedAt = new Map<string, number>();
  return {
    first: ids[0] ?? null,
    has: (id) => ids.includes(id),
    isDueForRefusal(id) {
      const last = refusedAt.get(id);
      if (last !== undefined && now() - last < refusalPauseMs) return false;
      // Many accounts at once: the rest is not answered.
      if (last === undefined && refusedAt.size >= maxRemembered) {
        for (const [known, at] of refusedAt) if (now() - at >= refusalPauseMs) refusedAt.delete(known);
        if (refusedAt.size >= maxRemembered) return false;
      }
      refusedAt.set(id, now());
      return true;
    },
  };
}
