/** What doctor found out about one link of the way from an agent to the user. */

/** The links in the order in which an event passes them. Links that are not listed, the agents, come first. */
export const links = [
  "hooks",
  "app",
  "files",
  "live event",
  "icon",
  "notifications",
  "channels",
  "machines",
  "stream",
  "terminals",
  "login",
] as const;

/** `info` is neither good nor bad. */
export type FindingState = "ok" | "warn" | "fail" | "info";

export interface Finding {
  /** Stays the same while it means the same: `hooks.missing`. */
  readonly id: string;
  /** One of `links`, or the name of an agent. */
  readonly link: string;
  readonly state: FindingState;
  /** One line. */
  readonly text: string;
  /** What the user can do, with the exact command if there is one. null if there is nothing to do. */
  readonly fix: string | null;
}

export type CreateFinding = (state: FindingState, name: string, text: string, fix?: string | null) => Finding;

/** Returns a function that creates findings about one link. */
export function createFindings(link: string, prefix: string): CreateFinding {
  return (state, name, text, fix = null) => ({ id: `${prefix}.${name}`, link, state, text, fix });
}
