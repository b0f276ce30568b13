/**
 * The interfaces between rooms. Sources dispatch events, sinks follow the state, and the rest is what adapters of the
 * operating system implement. app/ is the only room that knows both sides.
 */
import type { AskEnding } from "../answers/ending.ts";
import type { LocalTime } from "../config/quiet.ts";
import type { UserAction } from "../config/user-action.ts";
import type { AgentEvent, ClockReading } from "../session/event.ts";
import type { Ask, Child, Session } from "../session/session.ts";
import type { DesktopWindow, ExecResult, ProcessInfo } from "../terminals/plan.ts";
import type { FocusOutcome, TerminalTarget } from "../terminals/terminal.ts";
import type { Alert, TrayView } from "../view/view.ts";
import type {
  HistoryPage,
  HistoryQuery,
  Lanes,
  PastMoment,
  SessionEvent,
  SpanState,
  Stats,
  StoryPage,
  StoryQuery,
  StreamEvent,
} from "./wire.ts";

/** Runs `work` once after `ms`; the returned function cancels it. Injected, so that tests have a time of their own. */
export type Schedule = (work: () => void, ms: number) => () => void;

/** A session after one event, and before it. */
export interface SessionChange {
  readonly session: Session;
  readonly event: AgentEvent;
  /** null if the event made the session known. */
  readonly before: Session | null;
}

/**
 * Dispatches events: the spool, an agent's own files. One folder each; app/ lists them, starts them
 * after the state is restored, and stops them.
 */
export interface Source {
  readonly name: string;
  /** Resolves when everything that happened before the start has been dispatched. */
  start(): void | Promise<void>;
  /** For a source that has more to read after certain events. Must return at once. */
  onChange?(change: SessionChange): void;
  stop(): void | Promise<void>;
}

/** How an ask ended. Reported up to 2 s after the change that closed it: the end of a tool can decide it. */
export interface AskEnd {
  readonly session: Session;
  readonly ask: Ask;
  readonly how: AskEnding;
  /** In words: "allowed", "denied: not on a Friday". */
  readonly outcome: string;
  /** "not on a Friday": what was replied, the message of a denial. Absent or null if there is none, or it was given elsewhere. */
  readonly detail?: string | null;
  /** "in the terminal", "command line", "rule Bash(ls *)"; null if nobody answered. */
  readonly by: string | null;
  readonly at: number;
}

/**
 * What a change of a session means to a user, found by comparing the session with what was known of it. `id` names an ask in
 * the history: it does not change when the ask is named, nor over a restart if a hook opened it. `Of` is what is kept of the session.
 *
 * streams/ has what becomes of it in each format.
 */
export type Transition<Of = Session> =
  /** A blocking ask is on the screen. */
  | {
      readonly kind: "ask-opened" | "ask-named";
      readonly id: string;
      readonly session: Of;
      readonly ask: Ask;
    }
  | {
      readonly kind: "ask-closed";
      readonly id: string;
      readonly session: Of;
      readonly ask: Ask;
      readonly at: number;
      /** How long it was on the screen. */
      readonly waitedMs: number;
    }
  /** Follows "ask-closed" as soon as it is known how the ask ended. */
  | {
      readonly kind: "ask-ended";
      readonly id: string;
      readonly session: Of;
      readonly ask: Ask;
      readonly how: AskEnding;
      /** "terminal", "menu", "command line", "rule", …; null if nobody answered. */
      readonly where: string | null;
      /** What was replied, the message of a denial. Absent or null if there is none, or it is not known. */
      readonly detail?: string | null;
      readonly waitedMs: number;
    }
  /** `state` is null if the session is over, `before` if it was not known. */
  | {
      readonly kind: "span";
      readonly session: Of;
      readonly before: SpanState | null;
      readonly state: SpanState | null;
      readonly at: number;
    }
  | { readonly kind: "child-appeared" | "child-ended"; readonly session: Of; readonly child: Child }
  /** For the history of a port. `key` is the session; empty for a port that no session worked on. */
  | { readonly kind: "session-event"; readonly key: string; readonly event: SessionEvent }
  /** Its process disappeared in the middle of a turn. */
  | { readonly kind: "died"; readonly session: Of; readonly at: number }
  /** beckon does not list the session any more. */
  | { readonly kind: "departed"; readonly key: string; readonly at: number };

/** Every session as it stands now. */
export interface StateView {
  readonly sessions: readonly Session[];
  readonly now: ClockReading & LocalTime;
}

/**
 * Follows the state: tray, alerts, snapshot, answers, history and streams. One folder each; app/ lists them and connects
 * them to the store. A sink that shows something implements `render`, one that records something `onChange`.
 */
export interface Sink {
  readonly name: string;
  /** After every event that changed a session. Must return at once. */
  onChange?(change: SessionChange): void;
  /** Must return at once. */
  onTransition?(transition: Transition): void;
  /** Something besides sessions has changed that is shown: preferences, or what can be answered. Must return at once. */
  onRefresh?(): void;
  onSettingsChanged?(): void;
  /**
   * Shows the state as it is now. Called soon after changes (many changes share one call), and at the wall time that the
   * last call returned; null if only an event can change what is shown.
   */
  render?(view: StateView): Promise<number | null> | number | null;
  stop?(): void | Promise<void>;
}

/** Reads the history. None of these rejects: a result says in `problem` why it is incomplete. */
export interface HistoryReader {
  findItems(query: HistoryQuery): Promise<HistoryPage>;
  findStory(query: StoryQuery): Promise<StoryPage>;
  /** Of the last `days` days, today included. */
  computeStats(days: number): Promise<Stats>;
  computeLanes(from: number, to: number): Promise<Lanes>;
  /** Every session as it was at a wall time. */
  findMoment(at: number): Promise<PastMoment>;
  /** The path of a session's transcript, as the agent reported it. null if unknown. */
  findTranscript(key: string): Promise<{ readonly path: string | null }>;
  /** The events of the stream after this id, as far as they are kept. */
  findMissedEvents(afterId: string): Promise<readonly StreamEvent[]>;
}

export interface TrayOptions {
  readonly onAction: (action: UserAction) => void;
  /** Called with a line for the log: the panel went away, the helper was restarted. */
  readonly onProblem: (text: string) => void;
  /** A private folder (0700): helpers are unpacked here. */
  readonly folder: string;
  /** The system remembers where a demo's icon is apart from the real one's. */
  readonly isDemo?: boolean;
}

/** For `beckon doctor`: how the icon is shown, or why it is not. */
export interface TrayReport {
  /** `StatusNotifierItem`, `menu bar`, … */
  readonly way: string;
  /** The program that shows it: `xfce4-panel (pid 312)`; null if unknown. */
  readonly host: string | null;
  /** Why it is not on the screen, and what to do; null if it is, as far as beckon can tell. */
  readonly missing: string | null;
}

export interface Tray {
  /** The last view wins: nothing is queued behind a slow panel. */
  show(view: TrayView): void;
  report(): Promise<TrayReport>;
  stop(): Promise<void>;
}

/** Resolves with null if there is nothing to put an icon into; `onProblem` was called with the reason. */
export type OpenTray = (options: TrayOptions) => Promise<Tray | null>;

export interface NotifierEvents {
  /** `button` is the id of a button, or null for a click on the alert itself. */
  readonly onClick: (key: string, button: string | null) => void;
  /**
   * The alert is gone from the screen: closed by the user, or expired. Never called after `close`. "unknown": it was lost
   * with the notification service, or could not be shown without one, and a service is there again: show it again.
   */
  readonly onClosed: (key: string, by: "user" | "expired" | "unknown") => void;
  readonly onProblem: (text: string) => void;
}

export interface NotifierOptions extends NotifierEvents {
  /** A private folder (0700): helpers are unpacked here. */
  readonly folder: string;
}

/** For `beckon doctor`: which program shows the alerts, or why none does. */
export interface NotifierReport {
  /** `D-Bus`, `notify-send`, `toasts`, … */
  readonly way: string;
  /** `Xfce Notify Daemon 0.7.3`; null if it has no name. */
  readonly server: string | null;
  /** As the freedesktop specification names them: `actions`, `body`, `sound`, …; null if unknown. */
  readonly abilities: readonly string[] | null;
  /** Whether `show` resolves with a handle for each alert that is on the screen. */
  readonly namesAlerts: boolean;
  readonly missing: string | null;
}

/** Shows alerts on the desktop, where they can be replaced, clicked and closed. A phone or a chat is a channel. */
export interface Notifier {
  /**
   * Shows the alert, or replaces it if its key is shown already. Resolves with a handle that names it to the service, also
   * after a restart of beckon; null if it has none.
   */
  show(alert: Alert, handle?: string | null): Promise<string | null>;
  close(key: string): Promise<void>;
  /** Closes an alert that an earlier run of beckon left. */
  forget(handle: string): Promise<void>;
  /** Whether the user asked for silence (do not disturb); null if unknown. */
  isSilenced(): Promise<boolean | null>;
  stop(): Promise<void>;
  report(): Promise<NotifierReport>;
}

/** Resolves with null if alerts cannot be shown; `onProblem` was called with the reason. */
export type OpenNotifier = (options: NotifierOptions) => Promise<Notifier | null>;

/** Lists the windows on the user's desktop. Empty if the window system does not list them. Never rejects. */
export type ListWindows = () => Promise<readonly DesktopWindow[]>;

export interface Terminals {
  focus(target: TerminalTarget): Promise<FocusOutcome>;
  /** Whether the session's pane is what the user sees now; null if it cannot be known. */
  isPaneVisible(target: TerminalTarget): Promise<boolean | null>;
  /** `SSH_CONNECTION` of the logins whose terminals show the session's pane, as far as that is certain. */
  findLogins(target: TerminalTarget): Promise<readonly string[]>;
  /** How far `focus` would get. Changes nothing. */
  dryRunFocus(target: TerminalTarget): Promise<FocusOutcome>;
  readonly listWindows: ListWindows;
  /** The process and its parents, nearest first; empty if it has ended or cannot be seen. */
  readLineage(pid: number): Promise<readonly ProcessInfo[]>;
}

export interface PresenceReading {
  /** Milliseconds since the last input of the user; null if unknown. */
  readonly idleMs: number | null;
  /** null if unknown. */
  readonly isLocked: boolean | null;
}

/** Reads whether the user is at the desk. Never rejects. */
export type ReadPresence = () => Promise<PresenceReading>;

/** Runs an argv array, never a shell; killed after `timeoutMs`. The code is null if the program does not exist. */
export type Exec = (
  argv: readonly string[],
  options?: {
    readonly timeoutMs?: number;
    /** Added to the environment. A variable that is undefined is left out of it. */
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly input?: string;
    /** A file whose content is its input, however large it is. */
    readonly inputFile?: string;
  },
) => Promise<ExecResult>;

/** What became of an event that was sent to beckon. */
export type IngestResult =
  /** It is in the journal, or was before. */
  | { readonly outcome: "accepted" }
  /** It is not valid, and would be rejected again; or beckon failed to read it, and would fail again. */
  | { readonly outcome: "rejected" | "failed"; readonly reason: string }
  /** It could not be journalled now, so its sender must keep it. */
  | { readonly outcome: "not-stored"; readonly reason: string };

/** An action that cannot be done, with the HTTP status for it. */
export interface ActionRefused {
  readonly refused: 403 | 409;
  readonly error: string;
  /** It may have been done all the same: nobody knows. */
  readonly isUnknown?: true;
}

/** The open response to a permission hook. */
export interface HookConnection {
  /** Returns false if the hook is gone. */
  send(text: string): boolean;
  close(): void;
  /** Calls the listener once, when either side has closed the connection. */
  onClosed(listener: () => void): void;
}

export interface PendingHooks {
  /** Keeps the connection until the user decides, or closes it at once. */
  add(envelope: string, connection: HookConnection): void;
  /** The hook reports that it has printed the decision, or that the agent stopped it. */
  end(request: string, how: HookEnding): void;
}

export type HookEnding = "printed" | "stopped";
