/** What doctor says: one thing that is so, and what to do about it. */

/** In the order in which an event passes them. */
export const links = [
  "Claude Code",
  "hooks",
  "app",
  "files",
  "live event",
  "icon",
  "notifications",
  "terminals",
  "login",
] as const;
export type Link = (typeof links)[number];

/** `info`: neither good nor bad, but worth knowing. */
export type State = "ok" | "warn" | "fail" | "info";

export interface Finding {
  /** Stays the same while it means the same: `hooks.missing`. */
  readonly id: string;
  readonly link: Link;
  readonly state: State;
  /** One line: what is. */
  readonly text: string;
  /** What to do, with the exact command where there is one. */
  readonly fix: string | null;
}

export type Tell = (state: State, name: string, text: string, fix?: string | null) => Finding;

/** Findings about one link. */
export function about(link: Link, prefix: string): Tell {
  return (state, name, text, fix = null) => ({ id: `${prefix}.${name}`, link, state, text, fix });
}

/** Of what only a running app can tell. */
export const untried = "not tried: beckon is not running";

/** `a, b and c` */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
