/**
 * A plan says what to ask and what to do, step by step, and decides by the answers. It does nothing itself, so tests can
 * run every plan without a desktop. run-plan.ts carries plans out.
 */
import type { DesktopWindow, ExecResult } from "../../core/interfaces/index.ts";
import type { BusCall } from "../dbus.ts";

export type TerminalEnv = Readonly<Record<string, string>>;

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  /** The name it gives itself (Linux: at most 15 characters; tmux: `tmux: server`). */
  readonly name: string;
  /** The file it runs; empty if unknown. */
  readonly program: string;
  readonly tty: string | null;
  /** Start time in the system's own unit; null if unknown. */
  readonly start: string | null;
}

export interface WindowInfo extends DesktopWindow {
  /** Ids of windows inside it. */
  readonly childIds?: readonly string[];
  /** Whether it has the keyboard. */
  readonly active: boolean;
}

export type PlanStep =
  | { readonly do: "run"; readonly argv: readonly string[]; readonly env?: TerminalEnv }
  /** null if the answer is an error, or there is no such object. */
  | { readonly do: "dbus"; readonly call: BusCall }
  /** The process and its parents, nearest first. Empty if it has ended, or processes cannot be seen here. */
  | { readonly do: "lineage"; readonly pid: number }
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
  /** The local process of a TCP connection; null if unknown. */
  | { readonly do: "connection-owner"; readonly localPort: number; readonly remotePort: number }
  /** A command of kitty's remote control protocol; null if there is no answer, or kitty refused it. */
  | { readonly do: "kitty"; readonly address: string; readonly command: string; readonly payload: unknown }
  /** AppleScript whose `run` handler gets the arguments; null if it failed, `denied` if the user has not allowed it. */
  | {
      readonly do: "applescript";
      readonly app: string;
      readonly script: string;
      readonly args: readonly string[];
    }
  /** JavaScript for KWin to evaluate; null if there is no answer. */
  | { readonly do: "kwin"; readonly expression: string }
  /** The windows of X11 on Linux, and of the desktop on Windows, the last used one last; null if there is no desktop. */
  | { readonly do: "windows" }
  /** The window around this one that the window manager knows (xterm's WINDOWID is a window inside it). */
  | { readonly do: "top-level-window"; readonly id: string }
  /** Resolves with whether the window has the keyboard now. */
  | { readonly do: "activate"; readonly id: string };

export type Plan<T> = Generator<PlanStep, T, unknown>;

/** A plan without steps. */
// biome-ignore lint/correctness/useYield: it has no steps.
export function* immediate<T>(value: T): Plan<T> {
  return value;
}

export function* run(argv: readonly string[], env?: TerminalEnv): Plan<ExecResult> {
  return (yield env ? { do: "run", argv, env } : { do: "run", argv }) as ExecResult;
}

export function* callDbus(call: BusCall): Plan<readonly unknown[] | null> {
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

export function* findConnectionOwner(localPort: number, remotePort: number): Plan<number | null> {
  return (yield { do: "connection-owner", localPort, remotePort }) as number | null;
}

export function* callKitty(address: string, command: string, payload: unknown): Plan<unknown> {
  return yield { do: "kitty", address, command, payload };
}

export function* evaluateInKwin(expression: string): Plan<unknown> {
  return yield { do: "kwin", expression };
}

export function* runAppleScript(app: string, script: string, ...args: string[]): Plan<string | null> {
  return (yield { do: "applescript", app, script, args }) as string | null;
}

export function* listWindows(): Plan<readonly WindowInfo[] | null> {
  return (yield { do: "windows" }) as readonly WindowInfo[] | null;
}

export function* findTopLevelWindow(id: string): Plan<string | null> {
  return (yield { do: "top-level-window", id }) as string | null;
}

export function* activateWindow(id: string): Plan<boolean> {
  return (yield { do: "activate", id }) as boolean;
}
