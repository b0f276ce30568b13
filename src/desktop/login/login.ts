/** What starts beckon when the person logs in. One per system. */

export interface LoginCommand {
  /** Absolute. */
  readonly binary: string;
  /** BECKON_HOME, where beckon is installed with one. */
  readonly home: string | null;
}

export interface LoginState {
  readonly on: boolean;
  /** The person turned it off in their system's own settings: only they turn it on again. */
  readonly turnedOff: boolean;
  readonly binary: string | null;
  /** For people: why it will not start, or not what they think. */
  readonly problem: string | null;
}

export interface LoginItem {
  /** What was done, for people. Throws with what could not be done. */
  enable(wish: LoginCommand): Promise<string>;
  /** What was taken away; null: there was nothing. */
  disable(): Promise<string | null>;
  state(): Promise<LoginState>;
}

export const notThere: LoginState = { on: false, turnedOff: false, binary: null, problem: null };

/** Behind the binary. A variable instead of `--home` cannot be set on Windows, and `env` trips over a path with "=". */
export function loginArgs({ home }: LoginCommand): readonly string[] {
  return ["run", "--at-login", ...(home === null ? [] : [`--home=${home}`])];
}
