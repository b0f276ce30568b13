/** A row of the table: one terminal, multiplexer or window system, and how to get there. */
import type { Env, Plan, Process, Window } from "./plan.ts";

export type Proven = "run here" | "by documentation";

/** A process whose place on the screen is looked for: first the agent, then, say, the tmux client that shows it. */
export interface PaneLocation {
  /** It and its parents, nearest first; empty where processes cannot be seen. */
  readonly lineage: readonly Process[];
  readonly tty: string | null;
  readonly env: Env;
  readonly title: string | null;
  readonly cwd: string | null;
}

/** What is known of the window to look for. */
export interface Wanted {
  /** Whose window it is: the first of these that has any. */
  readonly pids: readonly number[];
  /** Names of the window (X11: WINDOWID) or, on macOS, of its application. They count only for windows of those pids. */
  readonly ids: readonly string[];
  readonly titles: readonly string[];
  readonly cwd: string | null;
}

export type Reached =
  /** The pane is selected; what shows it is the terminal of this process. */
  | { readonly kind: "inside"; readonly spot: PaneLocation; readonly why?: string }
  /** The tab and pane are selected as far as that goes (`why`: how far); this window is theirs. */
  | { readonly kind: "window"; readonly wanted: Wanted; readonly why: string | null }
  /** The terminal has come to the front by itself. */
  | { readonly kind: "front"; readonly why: string | null }
  | { readonly kind: "impossible"; readonly why: string };

export type PaneVisible =
  | { readonly kind: "known"; readonly looking: boolean | null }
  /** The pane is the one shown (`sure`), or may be, in the terminals of these processes. */
  | { readonly kind: "inside"; readonly spots: readonly PaneLocation[]; readonly sure: boolean }
  /** Shown in this window; `sure`: nothing else in that window could hide it. */
  | { readonly kind: "window"; readonly wanted: Wanted; readonly sure: boolean };

export interface TerminalContext {
  readonly platform: NodeJS.Platform;
  /** beckon's own. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface TerminalRow {
  readonly name: string;
  readonly proven: Proven;
  /** Is that process the terminal, or part of it? */
  readonly is: (process: Process) => boolean;
  /** Where parents cannot be seen: do the variables say so? */
  readonly says: (env: Env) => boolean;
  readonly focus: (spot: PaneLocation, here: TerminalContext) => Plan<Reached>;
  /** Changes nothing. */
  readonly look: (spot: PaneLocation, here: TerminalContext) => Plan<PaneVisible>;
}

export interface WindowRow {
  readonly name: string;
  readonly proven: Proven;
  readonly rules: (here: TerminalContext) => boolean;
  /** null: it cannot be asked. The most recently used last. */
  readonly list: (wanted: Wanted, here: TerminalContext) => Plan<readonly Window[] | null>;
  /** null: done, and seen to be done; else what went wrong. */
  readonly raise: (window: Window, here: TerminalContext) => Plan<string | null>;
  /** For people: what stays open even when its window has come to the front. */
  readonly vague?: string;
  /** For people, where no window was found: what this window system does not let us do. */
  readonly excuse?: string;
}

export const unknown: PaneVisible = { kind: "known", looking: null };
export const hidden: PaneVisible = { kind: "known", looking: false };

/** By the name of the process or of the file it runs. */
export function named(...names: readonly string[]): (process: Process) => boolean {
  const known = new Set(names.map((name) => name.toLowerCase()));
  // Linux cuts a name after 15 characters.
  const cut = new Set([...known].map((name) => name.slice(0, 15)));
  return ({ name, program }) => {
    const file = program
      .slice(Math.max(program.lastIndexOf("/"), program.lastIndexOf("\\")) + 1)
      .toLowerCase();
    return cut.has(name.toLowerCase()) || known.has(file) || known.has(file.replace(/\.exe$/, ""));
  };
}

export const programIs = (env: Env, ...programs: readonly string[]): boolean =>
  programs.includes(env.TERM_PROGRAM ?? "");
