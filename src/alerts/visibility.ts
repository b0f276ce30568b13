/**
 * Which sessions the user looks at, in their panes or on the dashboard: an alert about such a session is suppressed. It counts only
 * while the user is at the desk: a pane has the focus during lunch too.
 */
import type { ReadPresence, Terminals } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import { sessionKeyOfAlert } from "../core/session/keys.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import type { ElsewhereTarget, TerminalTarget } from "../core/terminals/terminal.ts";

export interface PaneVisibilityOptions {
  readonly terminals: Pick<Terminals, "isPaneVisible">;
  /** For a session of another machine: how its pane is seen now; null if it is not, or if that is not known. */
  readonly look?: (session: Session) => Promise<ElsewhereTarget | null>;
  /** Whether the dashboard has the focus: it shows every session. */
  readonly isPageFocused: () => boolean;
  readonly readPresence: ReadPresence;
  /** A user without input for this long counts as away. */
  readonly presentMs: () => number;
  readonly clock: () => ClockReading;
  /** How long an alert stays suppressed after the user looked away; for tests. */
  readonly lingerMs?: number;
}

export interface PaneVisibility {
  /** Sessions whose pane, or the dashboard, is visible and has the focus. */
  readonly looking: ReadonlySet<string>;
  /** Keys of alerts whose pane was visible a moment ago. */
  readonly known: ReadonlySet<string>;
}

export const noPaneVisible: PaneVisibility = { looking: new Set(), known: new Set() };

/** A user who looked at a dialog and away knows about it: the alert waits this long. */
const lingerAfterLookMs = 15_000;
/** A check may cost the start of a program, so its result is kept this long. */
const resultValidMs = 250;
/** Each check opens a connection to the X server. If there are many, the oldest alerts are checked. */
const maxParallelChecks = 4;
const maxChecks = 20;

/** Finds the sessions among these that the user looks at. The oldest alerts come first. Unknown counts as not visible. */
export function createPaneCheck({
  terminals,
  look = async () => null,
  isPageFocused,
  clock,
}: Pick<PaneVisibilityOptions, "terminals" | "look" | "isPageFocused" | "clock">) {
  /** Session key → the last result. */
  const results = new Map<string, { readonly isVisible: boolean; readonly t: number }>();

  /** The terminals here that show it: one for each login to its machine. */
  async function findTargets(session: Session): Promise<readonly TerminalTarget[]> {
    const { machine, place, cwd, title } = session;
    if (place === null) return [];
    if (machine === null) return [{ place, cwd, title }];
    const elsewhere = await look(session);
    if (elsewhere === null) return [];
    return elsewhere.logins.map((login) => ({
      place,
      cwd,
      title,
      elsewhere: { ...elsewhere, logins: [login] },
    }));
  }

  async function isVisible(session: Session): Promise<boolean> {
    const key = sessionKeyOf(session);
    const last = results.get(key);
    if (last && clock().t - last.t < resultValidMs) return last.isVisible;
    const targets = await findTargets(session);
    const visibilities = await Promise.all(targets.map((target) => terminals.isPaneVisible(target)));
    const visible = visibilities.includes(true);
    results.set(key, { isVisible: visible, t: clock().t });
    return visible;
  }

  return async (sessions: readonly Session[]): Promise<ReadonlySet<string>> => {
    if (isPageFocused()) return new Set(sessions.map(sessionKeyOf));
    const visible = new Set<string>();
    const checked = sessions.slice(0, maxChecks);
    for (let n = 0; n < checked.length; n += maxParallelChecks) {
      await Promise.all(
        checked.slice(n, n + maxParallelChecks).map(async (session) => {
          if (await isVisible(session)) visible.add(sessionKeyOf(session));
        }),
      );
    }
    const { t } = clock();
    for (const [key, result] of results) if (t - result.t > resultValidMs) results.delete(key);
    return visible;
  };
}

export function createPaneVisibility(options: PaneVisibilityOptions) {
  const { clock, lingerMs = lingerAfterLookMs } = options;
  const findVisiblePanes = createPaneCheck(options);
  /** Alert key → when its pane was last visible. */
  const lastVisibleT = new Map<string, number>();

  /** Unknown counts as present. */
  async function isUserPresent(): Promise<boolean> {
    const { idleMs, isLocked } = await options.readPresence();
    return isLocked !== true && (idleMs === null || idleMs < options.presentMs());
  }

  /** Checks the sessions of these alerts, which are ordered from the oldest. */
  return async (alertKeys: readonly string[], sessions: readonly Session[]): Promise<PaneVisibility> => {
    const byKey = new Map(sessions.map((session) => [sessionKeyOf(session), session]));
    const sessionKeys = new Set(alertKeys.map(sessionKeyOfAlert));
    const candidates = [...sessionKeys].flatMap((key) => byKey.get(key) ?? []);
    const looking = await findVisiblePanes(candidates);
    if (looking.size > 0 && !(await isUserPresent())) {
      // They left while the pane was visible: no pause after "just looked at it" either.
      lastVisibleT.clear();
      return noPaneVisible;
    }
    const { t } = clock();
    for (const key of alertKeys) if (looking.has(sessionKeyOfAlert(key))) lastVisibleT.set(key, t);
    for (const [key, visibleT] of lastVisibleT) if (t - visibleT > lingerMs) lastVisibleT.delete(key);
    return { looking, known: new Set(lastVisibleT.keys()) };
  };
}
