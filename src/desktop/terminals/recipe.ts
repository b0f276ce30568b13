/** A recipe: how to show a pane in one terminal, or a window in one window system. The plans are pure. */
import type { Plan, ProcessInfo, TerminalEnv, WindowInfo } from "./plan.ts";

export interface TerminalContext {
  readonly platform: NodeJS.Platform;
  /** beckon's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
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
  | { readonly kind: "impossible"; readonly reason: string };

export type Visibility =
  /** null if it cannot be known. */
  | { readonly kind: "known"; readonly isVisible: boolean | null }
  /** Shown in the terminals at these locations, if `isCertain`; otherwise it may be. */
  | { readonly kind: "inside"; readonly locations: readonly PaneLocation[]; readonly isCertain: boolean }
  /** Shown in this window. `isCertain` if nothing else in the window could hide it. */
  | { readonly kind: "window"; readonly query: WindowQuery; readonly isCertain: boolean };

export interface TerminalRecipe {
  readonly focus: (location: PaneLocation, context: TerminalContext) => Plan<FocusResult>;
  /** Changes nothing. */
  readonly checkVisibility: (location: PaneLocation, context: TerminalContext) => Plan<Visibility>;
}

export interface WindowSystemRecipe {
  /** The last used window last; null if the window system does not answer. */
  readonly list: (query: WindowQuery, context: TerminalContext) => Plan<readonly WindowInfo[] | null>;
  /** null if the window is in front, otherwise what went wrong. */
  readonly raise: (window: WindowInfo, context: TerminalContext) => Plan<string | null>;
  /** Why even a raised window is not exact. */
  readonly limit?: string;
  /** Why no window may have been found. */
  readonly noWindowReason?: string;
}

export const visibilityUnknown: Visibility = { kind: "known", isVisible: null };
export const notVisible: Visibility = { kind: "known", isVisible: false };

export const impossible = (reason: string): FocusResult => ({ kind: "impossible", reason });
