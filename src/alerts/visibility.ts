import type { Terminals } from "../core/ports.ts";
import type { ClockReading } from "../core/session/event.ts";
import { sessionKeyOf, sessionKeyOfAlert } from "../core/session/keys.ts";
import type { Session } from "../core/session/session.ts";

export interface PaneVisibilityOptions {
  readonly terminals: Pick<Terminals, "isLooking">;
  readonly clock: () => ClockReading;
  /** How long a look at a pane counts, for tests. */
  readonly lingerMs?: number;
}

export interface PaneVisibility {
  /** Sessions whose very pane they look at. */
  readonly looking: ReadonlySet<string>;
  /** Keys of alerts that they have just had in front of them. */
  readonly known: ReadonlySet<string>;
}

export const noPaneVisible: PaneVisibility = { looking: new Set(), known: new Set() };

/** Who has looked at a dialog and away from it knows of it: they are told of it only if they stay away. */
const stillKnowsMs = 15_000;
/** Every look may cost a program's start. */
const lookHoldsMs = 250;
/** Each takes a connection to the X server. Of a crowd, the oldest are looked at. */
const looksAtOnce = 4;
const maxLooks = 20;

export function createPaneVisibility(options: PaneVisibilityOptions) {
  const { terminals, clock, lingerMs = stillKnowsMs } = options;
  /** By session: whether the person looked at its pane, and when that was found out. */
  const looks = new Map<string, { readonly isLooking: boolean; readonly t: number }>();
  /** By alert: when the person last had its pane in front of them. */
  const knownT = new Map<string, number>();

  async function isLooked(session: Session): Promise<boolean> {
    const { place, cwd, title } = session;
    const last = looks.get(sessionKeyOf(session));
    if (last && clock().t - last.t < lookHoldsMs) return last.isLooking;
    const isLooking = place !== null && (await terminals.isLooking({ place, cwd, title })) === true;
    looks.set(sessionKeyOf(session), { isLooking, t: clock().t });
    return isLooking;
  }

  /** At the sessions of these alerts, the oldest first. */
  return async (keys: readonly string[], sessions: readonly Session[]): Promise<PaneVisibility> => {
    const owners = new Set(keys.slice(0, maxLooks).map(sessionKeyOfAlert));
    const asked = sessions.filter((session) => owners.has(sessionKeyOf(session)));
    const looking = new Set<string>();
    for (let n = 0; n < asked.length; n += looksAtOnce) {
      const some = asked.slice(n, n + looksAtOnce);
      await Promise.all(
        some.map(async (one) => {
          if (await isLooked(one)) looking.add(sessionKeyOf(one));
        }),
      );
    }
    const { t } = clock();
    for (const key of keys) if (looking.has(sessionKeyOfAlert(key))) knownT.set(key, t);
    for (const [key, seenT] of knownT) if (t - seenT > lingerMs) knownT.delete(key);
    for (const [key, look] of looks) if (t - look.t > lookHoldsMs) looks.delete(key);
    return { looking, known: new Set(knownT.keys()) };
  };
}
