/** What a person tells sessions apart by: the same names, marks and order in the menu and on the command line. */
import { firstLine } from "./line.ts";

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
export function counted(group: Group, count: number): string {
  return `${count} ${group === "needs you" && count > 1 ? "need you" : group}`;
}

/** What a session does that asks for nothing. */
export const doing = {
  thinking: "Thinking",
  done: "done",
  ready: "ready",
  ended: "ended",
  died: "ended unexpectedly",
  lost: "silent for hours",
} as const;

export const failedWith = (error: string): string => `failed: ${error}`;
export const inBackground = (task: string): string => `background: ${task}`;

/** Its person broke the turn off: what they had asked for is what there is to tell it by. */
export function brokenOff(prompt: string | null): string {
  const asked = firstLine(prompt).trim();
  return asked === "" ? "interrupted" : `interrupted: ${asked}`;
}
