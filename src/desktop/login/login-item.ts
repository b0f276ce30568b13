/** What every system's login item can do. */

export interface LoginCommand {
  /** An absolute path. */
  readonly binary: string;
  /** BECKON_HOME if beckon was installed with one, else null. */
  readonly home: string | null;
}

export interface LoginState {
  readonly on: boolean;
  /** The user turned it off in the system's own settings: only the user turns it on again. */
  readonly turnedOff: boolean;
  readonly binary: string | null;
  /** A message for the user: why beckon will not start, or not what they expect. */
  readonly problem: string | null;
}

export interface LoginItem {
  /** Why nothing would start beckon at login here and, after the first full stop, what to do. Absent if something does. */
  readonly obstacle?: string;
  /** Returns a message for the user that says what was done. Throws with one that says what failed. */
  enable(command: LoginCommand): Promise<string>;
  /** Returns a message that says what was removed, or null if there was nothing. */
  disable(): Promise<string | null>;
  state(): Promise<LoginState>;
}

export const loginOff: LoginState = { on: false, turnedOff: false, binary: null, problem: null };

/**
 * The arguments of the binary. `--home` is an argument because the Run key of Windows cannot set a variable, and because
 * `env` misreads a path with "=".
 */
export function formatLoginArgs({ home }: LoginCommand): readonly string[] {
  return ["run", "--at-login", ...(home === null ? [] : [`--home=${home}`])];
}
