/** What the app needs of the world. Adapters in desktop/ are these; app.ts chooses among them. */

import type { UserAction } from "./config/user-action.ts";
import type { Place } from "./session/event.ts";
import type { FocusOutcome } from "./view/focus-text.ts";
import type { Alert, TrayView } from "./view/view.ts";

export interface TrayOptions {
  readonly onAction: (action: UserAction) => void;
  /** For the log, in words: the panel went away, the helper was restarted. */
  readonly onProblem: (text: string) => void;
  /** Ours alone (0700): helpers are unpacked here. */
  readonly folder: string;
}

/** For `beckon doctor`: how the icon is shown, or why it is not. */
export interface TrayReport {
  /** `StatusNotifierItem`, `menu bar`, … */
  readonly way: string;
  /** The program that shows it: `xfce4-panel (pid 312)`; null: not known. */
  readonly host: string | null;
  /** Why it is not on the screen, and what to do; null: it is, as far as anybody can tell. */
  readonly missing: string | null;
}

export interface Tray {
  /** The last view wins: nothing is queued behind a slow panel. */
  show(view: TrayView): void;
  about(): Promise<TrayReport>;
  stop(): Promise<void>;
}

/** null: there is nothing here to put an icon into; `onProblem` was told why. */
export type OpenTray = (options: TrayOptions) => Promise<Tray | null>;

export interface NotifierOptions {
  /** `button`: by its id; null: on the alert itself. */
  readonly onClick: (key: string, button: string | null) => void;
  /**
   * Gone from the screen: closed by the person, or by the desktop after its time. Never after `close`. `unknown`: it went
   * with the desktop's notification service, or could not be shown for want of one, and there is one again now: what
   * should be on the screen is to be shown again.
   */
  readonly onClosed: (key: string, by: "person" | "expired" | "unknown") => void;
  readonly onProblem: (text: string) => void;
  readonly folder: string;
}

/** For `beckon doctor`: who shows the alerts, or why nobody does. */
export interface NotifierReport {
  /** `D-Bus`, `notify-send`, `toasts`, … */
  readonly way: string;
  /** `Xfce Notify Daemon 0.7.3`; null: it has no name. */
  readonly server: string | null;
  /** In the words of the freedesktop specification: `actions`, `body`, `sound`, …; null: nobody tells. */
  readonly abilities: readonly string[] | null;
  /** Does `show` resolve with a name for each alert that is on the screen? */
  readonly namesAlerts: boolean;
  readonly missing: string | null;
}

export interface Notifier {
  /**
   * Shows it, or shows it anew in the same place if its key is on the screen already. Resolves with what names it to the
   * desktop, also for the next start of beckon; null where nothing does, or it could not be shown.
   */
  show(alert: Alert, handle?: string | null): Promise<string | null>;
  close(key: string): Promise<void>;
  /** Closes what an earlier run left on the screen. */
  forget(handle: string): Promise<void>;
  /** The person has asked their desktop for silence; null: it cannot be known here. */
  isSilenced(): Promise<boolean | null>;
  about(): Promise<NotifierReport>;
  stop(): Promise<void>;
}

export type OpenNotifier = (options: NotifierOptions) => Promise<Notifier | null>;

/** Where a session's terminal is, and what helps to tell its window from its siblings. */
export interface TerminalTarget {
  readonly place: Place;
  readonly cwd: string | null;
  readonly title: string | null;
}

export interface Terminals {
  focus(target: TerminalTarget): Promise<FocusOutcome>;
  /** Is the person looking at this very pane? null: it cannot be known here. */
  isLooking(target: TerminalTarget): Promise<boolean | null>;
  /** How far `focus` would get; changes nothing. */
  reach(target: TerminalTarget): Promise<FocusOutcome>;
}

export interface ExecResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An argv array, never a shell; killed after `timeoutMs`. A command that is not there has code null. */
export type Exec = (
  argv: readonly string[],
  options?: {
    readonly timeoutMs?: number;
    readonly env?: Readonly<Record<string, string>>;
    readonly input?: string;
  },
) => Promise<ExecResult>;

/** What became of an event. 503: it could not be kept, and its sender must keep it. */
export interface IngestResult {
  readonly status: 200 | 400 | 500 | 503;
  readonly error?: string;
}

/** A deed that cannot be done, and the status that says so. */
export interface ActionRefused {
  readonly refused: 403 | 409;
  readonly error: string;
}

export interface HookConnection {
  /** false: nobody is there any more. */
  send(text: string): boolean;
  close(): void;
  /** Once, when it was closed by whichever side. */
  onClosed(tell: () => void): void;
}

export interface HoldHandler {
  /** Keeps the line, or ends it at once. */
  hold(envelope: string, line: HookConnection): void;
  /** A hook's last word about its line: it has printed the decision, or was told to stop. */
  end(request: string, how: HoldResult): void;
}

export type HoldResult = "printed" | "stopped";
