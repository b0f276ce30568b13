/**
 * A recipe is a plan: it says what to ask and what to do, one step after the other, and goes by the answers. It touches
 * nothing itself, so that every plan can be played through in a test. machine.ts carries plans out.
 */
import type { ExecResult } from "../../core/ports.ts";
import type { BusCall } from "../dbus.ts";

export type Env = Readonly<Record<string, string>>;

export interface Process {
  readonly pid: number;
  readonly parent: number;
  /** What it calls itself (Linux: at most 15 characters; tmux: `tmux: server`). */
  readonly name: string;
  /** The file it runs; empty: not known. */
  readonly program: string;
  readonly tty: string | null;
  /** In the system's own unit; null: not known. */
  readonly start: string | null;
}

export interface Window {
  /** The window system's own name for it. */
  readonly id: string;
  /** Names of windows inside it. */
  readonly inside?: readonly string[];
  readonly pid: number | null;
  readonly title: string;
  /** Has the keyboard. */
  readonly active: boolean;
}

export type Step =
  | {
      readonly do: "run";
      readonly argv: readonly string[];
      readonly env?: Env;
    }
  | { readonly do: "call"; readonly call: BusCall }
  /** The process and its parents, nearest first. Empty: it is gone, or processes cannot be seen here. */
  | { readonly do: "lineage"; readonly pid: number }
  /** What a process was started with; null: not ours to see. */
  | { readonly do: "environment"; readonly pid: number }
  /** All processes of ours with this name. */
  | { readonly do: "processes"; readonly name: string }
  /** The terminals that a process has open. */
  | { readonly do: "ttys"; readonly pid: number }
  /** The sockets, by path, that a process has. */
  | { readonly do: "sockets-of"; readonly pid: number }
  /** Which of these are sockets that belong to this user? A path that ends in a slash stands for all in that folder. */
  | { readonly do: "own-sockets"; readonly paths: readonly string[] }
  /** The process at this end of a connection. */
  | { readonly do: "connection"; readonly localPort: number; readonly remotePort: number }
  /** One command of kitty's remote control protocol; null: no answer, or it was refused. */
  | { readonly do: "kitty"; readonly address: string; readonly command: string; readonly payload: unknown }
  /** AppleScript whose `run` handler gets the arguments; null: it failed, `denied`: by the person's word. */
  | {
      readonly do: "applescript";
      readonly app: string;
      readonly script: string;
      readonly args: readonly string[];
    }
  /** JavaScript for KWin to evaluate; null: no answer. */
  | { readonly do: "kwin"; readonly expression: string }
  /** X11 on Linux, the desktop on Windows; the most recently used last. null: there is none. */
  | { readonly do: "windows" }
  /** The window that the window manager knows, around this one (xterm's WINDOWID is one inside). */
  | { readonly do: "outer-window"; readonly id: string }
  /** Resolves with whether it has the keyboard now. */
  | { readonly do: "activate"; readonly id: string };

export type Plan<T> = Generator<Step, T, unknown>;

/** A plan without a step. */
// biome-ignore lint/correctness/useYield: it has none.
export function* just<T>(value: T): Plan<T> {
  return value;
}

export function* run(argv: readonly string[], env?: Env): Plan<ExecResult> {
  return (yield env ? { do: "run", argv, env } : { do: "run", argv }) as ExecResult;
}

/** null: it is an error, or there is no such object. */
export function* call(wanted: BusCall): Plan<readonly unknown[] | null> {
  return (yield { do: "call", call: wanted }) as readonly unknown[] | null;
}

export function* lineage(pid: number): Plan<readonly Process[]> {
  return (yield { do: "lineage", pid }) as readonly Process[];
}

export function* environment(pid: number): Plan<Env | null> {
  return (yield { do: "environment", pid }) as Env | null;
}

export function* processesNamed(name: string): Plan<readonly Process[]> {
  return (yield { do: "processes", name }) as readonly Process[];
}

export function* ttysOf(pid: number): Plan<readonly string[]> {
  return (yield { do: "ttys", pid }) as readonly string[];
}

export function* socketsOf(pid: number): Plan<readonly string[]> {
  return (yield { do: "sockets-of", pid }) as readonly string[];
}

export function* ownSockets(paths: readonly string[]): Plan<readonly string[]> {
  return (yield { do: "own-sockets", paths }) as readonly string[];
}

export function* connectionOwner(localPort: number, remotePort: number): Plan<number | null> {
  return (yield { do: "connection", localPort, remotePort }) as number | null;
}

export function* kitty(address: string, command: string, payload: unknown): Plan<unknown> {
  return yield { do: "kitty", address, command, payload };
}

export function* kwin(expression: string): Plan<unknown> {
  return yield { do: "kwin", expression };
}

export function* applescript(app: string, script: string, ...args: string[]): Plan<string | null> {
  return (yield { do: "applescript", app, script, args }) as string | null;
}

export function* windows(): Plan<readonly Window[] | null> {
  return (yield { do: "windows" }) as readonly Window[] | null;
}

export function* outerWindow(id: string): Plan<string | null> {
  return (yield { do: "outer-window", id }) as string | null;
}

export function* activate(id: string): Plan<boolean> {
  return (yield { do: "activate", id }) as boolean;
}
