/**
 * "failed": its last turn ended with an error, and nothing happened since, nor was it dismissed. "set aside": it waits for its person, who has
 * said not to be told (muted, snoozed, dismissed), or has none. "ended": also what has been silent for hours.
 */
export type Group = "needs you" | "failed" | "set aside" | "working" | "ready" | "ended";

/** In the order in which they matter. */
export const groups: readonly Group[] = ["needs you", "failed", "set aside", "working", "ready", "ended"];

/** Every session's line begins with one, and no command of the menu does. */
export const marks: Readonly<Record<Group, string>> = {
  "needs you": "●",
  failed: "✗",
  "set aside": "◌",
  working: "◐",
  ready: "○",
  ended: "·",
};

/** "1 needs you", "2 need you", "3 working" */
export function groupCount(group: Group, count: number): string {
  return `${count} ${group === "needs you" && count > 1 ? "need you" : group}`;
}
