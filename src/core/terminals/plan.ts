/**
 * A plan says what to ask and what to do, step by step, and decides by the answers. It does nothing itself, so tests can
 * run every plan without a desktop. desktop/terminals/run-plan.ts carries plans out.
 */

export type TerminalEnv = Readonly<Record<string, string>>;

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  /** The name it gives itself (Linux: at most 15 characters; tmux: `tmux: server`). */
  readonly name: string;
  /** The file it runs; empty if unknown. */
  readonly program: string;
  readonly tty: string | null;
  /** Start time in the unit of `Place.procStart`; null if unknown. */
  readonly start: string | null;
  /** Start time on the clock, where the system has no other. */
  readonly startedAt?: number;
}

/** A window on the user's desktop. */
export interface DesktopWindow {
  /** The window system's own id. */
  readonly id: string;
  /** null if unknown. */
  readonly pid: number | null;
  readonly title: string;
}

export interface WindowInfo extends DesktopWindow {
  /** Ids of windows inside it. */
  readonly childIds?: readonly string[];
  /** Whether it has the keyboard. */
  readonly active: boolean;
}

export interface ExecResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface BusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly unknown[];
  /** Longer where a late answer still counts: beckon must be able to close what a slow server shows. */
  readonly timeoutMs?: number;
}

/** A TCP connection, as this machine sees it. */
export interface ConnectionPorts {
  readonly localPort: number;
  readonly remotePort: number;
  readonly addresses?: { readonly local: string; readonly remote: string };
}

/** A step that changes something has `assumed`: a dry run does not carry it out, and takes this for the answer. */
export type PlanStep =
  | {
      readonly do: "run";
      readonly argv: readonly string[];
      readonly env?: TerminalEnv;
      readonly assumed?: ExecResult;
    }
  /** null if the answer is an error, or there is no such object. */
  | { readonly do: "dbus"; readonly call: BusCall; readonly assumed?: readonly unknown[] | null }
  /** The process and its parents, nearest first. Empty if it has ended, or processes cannot be seen here. */
  | { readonly do: "lineage"; readonly pid: number }
  /** On Windows, the process whose window shows the console of this one; null if there is none. */
  | { readonly do: "console-owner"; readonly pid: number }
  /** The variables that a process was started with; null if they cannot be read. */
  | { readonly do: "environment"; readonly pid: number }
  /** All processes of this user with this name. */
  | { readonly do: "processes"; readonly name: string }
  /** The terminals that a process has open. */
  | { readonly do: "ttys"; readonly pid: number }
  /** The paths of the Unix sockets that a process has open. */
  | { readonly do: "sockets-of"; readonly pid: number }
  /** Those of these paths that are sockets of this user. A path that ends in a slash stands for all files in that folder. */
  | { readonly do: "own-sockets"; readonly paths: readonly string[] }
  /** The words that a process was started with; empty if they cannot be read. */
  | { readonly do: "command-line"; readonly pid: number }
  /** The processes with this name that have a TCP connection open. With addresses, one of its two ends has to have the right one. */
  | ({ readonly do: "connection-owners"; readonly name: string } & ConnectionPorts)
  /** A command of kitty's remote control protocol; null if there is no answer, or kitty refused it. */
  | {
      readonly do: "kitty";
      readonly address: string;
      readonly command: string;
      readonly payload: unknown;
      readonly assumed?: unknown;
    }
  /**
   * AppleScript whose `run` handler gets the arguments; null if it failed, `denied` if the user has not allowed it, `asking` while
   * macOS asks them. Without `assumed` it only looks, and is not run before the user has allowed it: nobody wants to be asked then.
   */
  | {
      readonly do: "applescript";
      readonly app: string;
      readonly script: string;
      readonly args: readonly string[];
      readonly assumed?: string;
    }
  /** JavaScript for KWin to evaluate; null if there is no answer. */
  | { readonly do: "kwin"; readonly expression: string; readonly assumed?: unknown }
  /** The windows of X11 on Linux, and of the desktop on Windows, the last used one last; null if there is no desktop. */
  | { readonly do: "windows" }
  /** The window around this one that the window manager knows (xterm's WINDOWID is a window inside it). */
  | { readonly do: "top-level-window"; readonly id: string }
  /** Resolves with whether the window has the keyboard now. */
  | { readonly do: "activate"; readonly id: string; readonly assumed: boolean };

export type Plan<T> = Generator<PlanStep, T, unknown>;

/** The same plan, but steps that would change something are assumed to succeed. */
export function* dryRun<T>(plan: Plan<T>): Plan<T> {
  let next = plan.next();
  while (!next.done) next = plan.next("assumed" in next.value ? next.value.assumed : yield next.value);
  return next.value;
}

/** A plan without steps. */
// biome-ignore lint/correctness/useYield: it has no steps.
export function* immediate<T>(value: T): Plan<T> {
  return value;
}

const success: ExecResult = { code: 0, stdout: "", stderr: "" };

/** A command that changes something. */
export function* run(argv: readonly string[], env: TerminalEnv = {}): Plan<ExecResult> {
  return (yield { do: "run", argv, env, assumed: success }) as ExecResult;
}

/** A command that only asks. */
export function* ask(argv: readonly string[], env: TerminalEnv = {}): Plan<ExecResult> {
  return (yield { do: "run", argv, env }) as ExecResult;
}

/** A call that changes something. */
export function* callDbus(
  call: BusCall,
  assumed: readonly unknown[] | null,
): Plan<readonly unknown[] | null> {
  return (yield { do: "dbus", call, assumed }) as readonly unknown[] | null;
}

/** A call that only asks. */
export function* askDbus(call: BusCall): Plan<readonly unknown[] | null> {
  return (yield { do: "dbus", call }) as readonly unknown[] | null;
}

export function* readLineage(pid: number): Plan<readonly ProcessInfo[]> {
  return (yield { do: "lineage", pid }) as readonly ProcessInfo[];
}

export function* readEnvironment(pid: number): Plan<TerminalEnv | null> {
  return (yield { do: "environment", pid }) as TerminalEnv | null;
}

export function* findProcesses(name: string): Plan<readonly ProcessInfo[]> {
  return (yield { do: "processes", name }) as readonly ProcessInfo[];
}

export function* readTtys(pid: number): Plan<readonly string[]> {
  return (yield { do: "ttys", pid }) as readonly string[];
}

export function* readSockets(pid: number): Plan<readonly string[]> {
  return (yield { do: "sockets-of", pid }) as readonly string[];
}

export function* filterOwnSockets(paths: readonly string[]): Plan<readonly string[]> {
  return (yield { do: "own-sockets", paths }) as readonly string[];
}

export function* readCommandLine(pid: number): Plan<readonly string[]> {
  return (yield { do: "command-line", pid }) as readonly string[];
}

export function* findConnectionOwners(name: string, connection: ConnectionPorts): Plan<readonly number[]> {
  return (yield { do: "connection-owners", name, ...connection }) as readonly number[];
}

/** A command that changes something. */
export function* callKitty(address: string, command: string, payload: unknown): Plan<unknown> {
  return yield { do: "kitty", address, command, payload, assumed: {} };
}

/** A command that only asks. */
export function* askKitty(address: string, command: string): Plan<unknown> {
  return yield { do: "kitty", address, command, payload: {} };
}

/** An expression that changes something. */
export function* changeInKwin(expression: string): Plan<unknown> {
  return yield { do: "kwin", expression, assumed: true };
}

/** An expression that only reads. */
export function* readFromKwin(expression: string): Plan<unknown> {
  return yield { do: "kwin", expression };
}

export function* runAppleScript(app: string, script: string, ...args: string[]): Plan<string | null> {
  return (yield { do: "applescript", app, script, args, assumed: "found" }) as string | null;
}

/** A script that changes nothing. null also if the user has not allowed it yet. */
export function* askAppleScript(app: string, script: string, ...args: string[]): Plan<string | null> {
  return (yield { do: "applescript", app, script, args }) as string | null;
}

export function* findConsoleOwner(pid: number): Plan<ProcessInfo | null> {
  return (yield { do: "console-owner", pid }) as ProcessInfo | null;
}

export function* listWindows(): Plan<readonly WindowInfo[] | null> {
  return (yield { do: "windows" }) as readonly WindowInfo[] | null;
}

export function* findTopLevelWindow(id: string): Plan<string | null> {
  return (yield { do: "top-level-window", id }) as string | null;
}

export function* activateWindow(id: string): Plan<boolean> {
  return (yield { do: "activate", id, assumed: true }) as boolean;
}
