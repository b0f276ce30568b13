/**
 * What a terminal and a window system are to beckon: names, what they are recognised by, how far focus gets, and the plans
 * that show a pane or a window there. Each is described in one file of this folder; index.ts lists them.
 */
import type { Place } from "../session/event.ts";
import type { Plan, ProcessInfo, TerminalEnv, WindowInfo } from "./plan.ts";
import type { Shapes } from "./variables.ts";

export interface TerminalContext {
  readonly platform: NodeJS.Platform;
  /** beckon's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's number; not set where the system has none. */
  readonly uid?: number | undefined;
}

/** Where a session's terminal is, and what helps to find its window among others. */
export interface TerminalTarget {
  readonly place: Place;
  readonly cwd: string | null;
  readonly title: string | null;
  readonly elsewhere?: ElsewhereTarget;
}

/** What a linked machine says about the terminal of one of its sessions. */
export interface ElsewhereTarget {
  /** `SSH_CONNECTION` of the logins in which it is seen. */
  readonly logins: readonly string[];
  /** What the user calls that machine for ssh: `devbox`, `me@10.0.0.7`; null if it is reached in another way. */
  readonly host: string | null;
  /** That machine has selected its pane: the terminal with the login shows it. */
  readonly isSelected: boolean;
  /** That machine is this container of docker or podman. */
  readonly container?: string;
}

/** Where a process is: first the agent, then, for example, the tmux client that shows it. */
export interface PaneLocation {
  /** The process and its parents, nearest first; empty where processes cannot be seen. */
  readonly lineage: readonly ProcessInfo[];
  readonly tty: string | null;
  readonly env: TerminalEnv;
  readonly title: string | null;
  readonly cwd: string | null;
  /** The session's process, if it has ended. Its pane may still be there. */
  readonly endedPid?: number;
}

/** Where a session's terminal is, as far as this machine can see. */
export type LocateResult =
  | {
      readonly kind: "known";
      readonly location: PaneLocation;
      /** What led there already. */
      readonly by: readonly string[];
      /** Why it cannot become exact. */
      readonly limit: string | null;
    }
  | { readonly kind: "unknown"; readonly reason: string };

/** What is known about a window that has to be found. */
export interface WindowQuery {
  /** The window belongs to the first of these processes that has any. */
  readonly pids: readonly number[];
  /** Ids of the window (X11: WINDOWID) or, on macOS, of its application. They count only for windows of those processes. */
  readonly ids: readonly string[];
  readonly titles: readonly string[];
  readonly cwd: string | null;
}

/** `limit` says why the result is less than exact; null if it is exact. */
export type FocusResult =
  /** The pane is selected. The terminal at this location shows it. */
  | { readonly kind: "inside"; readonly location: PaneLocation; readonly limit: string | null }
  /** The tab and pane are selected as far as possible. The window is still to be raised. */
  | { readonly kind: "window"; readonly query: WindowQuery; readonly limit: string | null }
  /** The terminal has come to the front by itself. */
  | { readonly kind: "front"; readonly limit: string | null }
  /**
   * `login`: it is an SSH login, with these addresses and ports (`SSH_CONNECTION`), which another machine can raise. null: the terminal
   * is outside of this container.
   */
  | { readonly kind: "impossible"; readonly reason: string; readonly login?: string | null };

export type Visibility =
  /** null if it cannot be known. */
  | { readonly kind: "known"; readonly isVisible: boolean | null }
  /** Shown in the terminals at these locations, if `isCertain`; otherwise it may be. */
  | { readonly kind: "inside"; readonly locations: readonly PaneLocation[]; readonly isCertain: boolean }
  /** Shown in this window. `isCertain` if nothing else in the window could hide it. */
  | { readonly kind: "window"; readonly query: WindowQuery; readonly isCertain: boolean };

/** How far focus gets: to the pane, the tab, the window of one session, or the window without the tab in it. */
export type Reach = "pane" | "tab" | "single" | "window";

export interface TerminalDescription {
  /** The name that users see. */
  readonly name: string;
  readonly kind: "multiplexer" | "login" | "terminal" | "editor";
  /** Names of its processes, or of the files that they run. */
  readonly processes: readonly string[];
  /** The value of TERM that only this terminal sets. */
  readonly term?: string;
  readonly termProgram?: string;
  readonly terminalEmulator?: string;
  /** The variables that are read, and the shape of each. The forwarders send them with every event. */
  readonly variables?: Shapes;
  /** Those set by this terminal alone. Programs that are started from it inherit them, so TERM and TERM_PROGRAM count first. */
  readonly ownVariables?: readonly string[];
  /** Identifies the pane, tab or window among those of this terminal. */
  readonly sessionVariable?: string;
  /** Names the window for X11, as WINDOWID does. */
  readonly windowIdVariable?: string;
  /** Comes before the value of `sessionVariable` in the name that users see: "tmux %3". */
  readonly paneLabel?: string;
  /** Another program of the same family, which sets this variable as well. */
  readonly variant?: { readonly variable: string; readonly name: string };
  /** A pane keeps its id when the session's process has ended, and no other pane gets it. */
  readonly keepsPanes?: true;
  readonly bundleId?: string;
  /** For a family of programs: what __CFBundleIdentifier may be. */
  readonly bundleIds?: RegExp;
  /** Commands in the PATH, and applications on macOS, that show that it is installed. */
  readonly commands?: readonly string[];
  readonly macApps?: readonly string[];
  readonly reach: Reach;
  readonly reachOnMac?: Reach;
  /** What focus needs to get that far. */
  readonly needs?: string;
  /** How far focus gets with the settings on this machine, where that depends on them. */
  readonly checkSettings?: (machine: InstalledPrograms) => Pick<InstalledTerminal, "reach" | "advice">;
  /** A sentence about it for the README. */
  readonly remark?: string;
  /** Whether beckon's tests run it. If not, its plans follow the program's documentation. */
  readonly isTested: boolean;
}

/** How to show a pane. */
export interface FocusRecipe {
  readonly focus: (location: PaneLocation, context: TerminalContext) => Plan<FocusResult>;
  /** Changes nothing. */
  readonly checkVisibility: (location: PaneLocation, context: TerminalContext) => Plan<Visibility>;
}

export interface Terminal extends TerminalDescription, FocusRecipe {}

export interface WindowSystem {
  readonly name: string;
  /** It runs on these platforms, if beckon's own environment has these variables. */
  readonly platforms: readonly NodeJS.Platform[];
  readonly variables?: Shapes;
  readonly remark?: string;
  readonly isTested: boolean;
  /** The last used window last; null if the window system does not answer. */
  readonly list: (query: WindowQuery, context: TerminalContext) => Plan<readonly WindowInfo[] | null>;
  /** null if the window is in front, otherwise what went wrong. */
  readonly raise: (window: WindowInfo, context: TerminalContext) => Plan<string | null>;
  /** Why even a raised window is not exact. */
  readonly limit?: string;
  /** Why no window may have been found. */
  readonly noWindowReason?: string;
}

/** What decides which terminals are installed, and how far focus gets in them. */
export interface InstalledPrograms {
  readonly platform: NodeJS.Platform;
  /** Whether there is such a command, or an application at this path. */
  readonly has: (program: string) => boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The variables of the sessions that beckon knows. */
  readonly sessions: readonly TerminalEnv[];
  /** The folder in which programs have their settings. */
  readonly configHome: string;
  /** The text of a file; null if there is none. */
  readonly readFile: (path: string) => string | null;
}

/** A terminal that is installed on this machine. */
export interface InstalledTerminal {
  readonly name: string;
  readonly reach: Reach;
  /** How to let focus get further; null if it needs nothing. */
  readonly advice: string | null;
}

/** How going to a terminal ended. */
export interface FocusOutcome {
  readonly result: "exact" | "window" | "impossible";
  /** The terminals and window systems that were used, outermost last: `tmux, X11`. */
  readonly by: string;
  /** Why it was not exact, and what to do; null if it was. */
  readonly why: string | null;
  /**
   * Present if it is impossible because its terminal is an SSH login. The pane in it has been selected, and the machine that
   * logged in can find its terminal by this: `SSH_CONNECTION`. null if its terminal is outside of this container.
   */
  readonly login?: string | null;
}

export const visibilityUnknown: Visibility = { kind: "known", isVisible: null };
export const notVisible: Visibility = { kind: "known", isVisible: false };

export const impossible = (reason: string): FocusResult => ({ kind: "impossible", reason });

/** Where macOS has an application by that name. */
export const inApplications = (name: string): string => `/Applications/${name}.app`;
