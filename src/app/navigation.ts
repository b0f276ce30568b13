/** From a session to what belongs to it: its terminal and its transcript. */
import type { Config } from "../core/config/config.ts";
import type { Preferences } from "../core/config/preferences.ts";
import type { Terminals } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import type { FocusOutcome } from "../core/terminals/terminal.ts";
import { findNextWaiting } from "../core/view/groups.ts";
import type { Machines } from "../machines/index.ts";

export interface NavigationOptions {
  readonly terminals: Pick<Terminals, "focus">;
  /** Why the session's terminal is not known; null if its place is right. */
  readonly locate: (session: Session) => Promise<string | null>;
  readonly clock: () => ClockReading;
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly preferences: () => Preferences;
  readonly config: () => Config;
  /** For a session of another machine: that machine selects its pane. */
  readonly selectPane: Machines["selectPane"];
  /** The real path of the session's transcript; null if it has none, or the path is not one of its agent's own files. */
  readonly findTranscript: (session: Session) => Promise<string | null>;
  /** Resolves with null, or with the reason why the file could not be opened. */
  readonly openFile: (path: string) => Promise<string | null>;
}

export interface Navigation {
  /** By its key; null if it is not listed any more. */
  find(key: string): Session | null;
  /** The session that has waited longest; null if none waits. */
  next(): Session | null;
  focus(session: Session): Promise<FocusOutcome>;
  /** Resolves with the reason if it could not be opened. */
  openTranscript(session: Session | null): Promise<string | null>;
}

export const cannotFocus = (why: string): FocusOutcome => ({ result: "impossible", by: "", why });

export function createNavigation(options: NavigationOptions): Navigation {
  const { clock, sessions, preferences, config } = options;

  function find(key: string): Session | null {
    return sessions(clock()).find((session) => sessionKeyOf(session) === key) ?? null;
  }

  /** That machine selects the session's pane, and says in which login of this machine's it is seen. */
  async function focusElsewhere(session: Session): Promise<FocusOutcome> {
    const { machine, place, cwd, title } = session;
    if (session.unreachableSince !== null) return cannotFocus(`${machine} cannot be reached`);
    if (!place) return cannotFocus(`${machine} does not say where its terminal is`);
    const { problem, elsewhere } = await options.selectPane(session);
    if (problem === null && elsewhere === null)
      return cannotFocus(`its terminal is on the desktop of ${machine}, and in front there now`);
    const outcome = await options.terminals.focus({ place, cwd, title, ...(elsewhere && { elsewhere }) });
    return problem === null ? outcome : { ...outcome, why: `on ${machine}: ${problem}` };
  }

  return {
    find,
    next() {
      const now = clock();
      return findNextWaiting(sessions(now), { preferences: preferences(), config: config(), now });
    },
    async focus(shown) {
      if (shown.machine !== null) return focusElsewhere(shown);
      const unknown = shown.ended ? null : await options.locate(shown);
      const session = find(sessionKeyOf(shown)) ?? shown;
      const { place, cwd, title, attach } = session;
      if (session.ended && !place)
        return cannotFocus(
          "the session has ended, so there is no terminal to go to. List the others: beckon status",
        );
      if (attach !== null && !session.ended)
        return cannotFocus(`it runs in the background. Open it in a terminal: ${attach}`);
      if (unknown !== null) return cannotFocus(unknown);
      if (!place)
        return cannotFocus(
          "no hook of this session has reported where its terminal is. Check the hooks: beckon doctor",
        );
      const outcome = await options.terminals.focus({ place, cwd, title });
      return session.ended && outcome.result === "impossible"
        ? { ...outcome, why: `the session has ended, and ${outcome.why}` }
        : outcome;
    },
    async openTranscript(session) {
      const path = session?.machine === null && (await options.findTranscript(session));
      return path ? await options.openFile(path) : "this machine has no transcript of the session";
    },
  };
}
