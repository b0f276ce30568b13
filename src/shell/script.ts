/** What a shell command is made of. */

export interface Word {
  /** Without its quotes. What the shell would put in stands as written: `$HOME/x`; `$(…)` is "$()". */
  readonly text: string;
  readonly isQuoted: boolean;
  /** Only the shell knows what becomes of it: variables, substitutions, and patterns outside of quotes. */
  readonly isOpen: boolean;
  /** `$(…)`, backticks, `<(…)`. */
  readonly inner: readonly Script[];
}

export interface Redirect {
  readonly op: string;
  readonly target: Word;
  /** Of a here-document. */
  readonly body: string | null;
}

export interface Command {
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
  /** `( … )` and `{ …; }` */
  readonly group: Script | null;
}

export type Pipeline = readonly Command[];
export type Script = readonly Pipeline[];
