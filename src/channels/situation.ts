/** Reads what is known about the user before a round: whether they are there, and which panes they look at. */
import { createPaneCheck, type PaneVisibilityOptions } from "../alerts/visibility.ts";
import type { PresenceReading, ReadPresence, Schedule } from "../core/interfaces/index.ts";
import type { Session } from "../core/session/session.ts";
import { waitAtMost } from "../system/schedule.ts";
import type { UserSituation } from "./escalation.ts";

export interface SituationReaderOptions
  extends Pick<PaneVisibilityOptions, "clock" | "terminals" | "look" | "isPageFocused"> {
  readonly readPresence: ReadPresence;
  readonly schedule: Schedule;
}

const presenceValidMs = 2_000;
/** A desktop that does not answer is one that knows nothing. */
const maxDesktopMs = 3_000;

export const unknownSituation: UserSituation = { presence: null, visibleSessions: new Set() };

/** `findDecisive`: the sessions whose pane decides whether an alert is sent now. Only those are checked. */
export function createSituationReader(options: SituationReaderOptions) {
  const { clock, schedule } = options;
  const findVisiblePanes = createPaneCheck(options);
  let last: { readonly reading: PresenceReading; readonly t: number } | null = null;

  async function readPresence(): Promise<PresenceReading> {
    const { t } = clock();
    if (last === null || t - last.t > presenceValidMs) last = { reading: await options.readPresence(), t };
    return last.reading;
  }

  const withDeadline = async <T>(work: Promise<T>, fallback: T): Promise<T> =>
    (await waitAtMost(maxDesktopMs, work, schedule)) ?? fallback;

  return async (findDecisive: (situation: UserSituation) => readonly Session[]): Promise<UserSituation> => {
    const presence = await withDeadline(readPresence(), { idleMs: null, isLocked: null });
    const situation = { ...unknownSituation, presence };
    const decisive = findDecisive(situation);
    if (decisive.length === 0) return situation;
    const visibleSessions = await withDeadline(findVisiblePanes(decisive), situation.visibleSessions);
    return { presence, visibleSessions };
  };
}
