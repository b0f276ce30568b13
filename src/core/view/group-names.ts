/** The groups of sessions, and what users call them. Without imports: the page in the browser has it too. */

/** In the order in which they matter to the user. The names are part of the API. */
export const groups = ["needs_you", "failed", "set_aside", "working", "ready", "ended"] as const;

export type Group = (typeof groups)[number];

export const groupLabels: Readonly<Record<Group, string>> = {
  needs_you: "needs you",
  failed: "failed",
  set_aside: "set aside",
  working: "working",
  ready: "ready",
  ended: "ended",
};

/** Every session in a list starts with one of these. No menu command does. */
export const groupMarks: Readonly<Record<Group, string>> = {
  needs_you: "●",
  failed: "✗",
  set_aside: "◌",
  working: "◐",
  ready: "○",
  ended: "·",
};

/** "needs you"; of a moment of the past, "needed you". */
export const nameGroup = (group: Group, isPast: boolean): string =>
  isPast && group === "needs_you" ? "needed you" : groupLabels[group];

/** "1 needs you", "2 need you", "3 working"; of a moment of the past, "2 needed you" */
export function formatGroupCount(group: Group, count: number, isPast = false): string {
  const isSeveral = group === "needs_you" && count > 1 && !isPast;
  return `${count} ${isSeveral ? "need you" : nameGroup(group, isPast)}`;
}
