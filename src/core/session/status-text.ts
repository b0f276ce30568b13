import { firstLine } from "../text/line.ts";

/** What a session does that asks for nothing. */
export const statusTexts = {
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
export function interruptedText(prompt: string | null): string {
  const asked = firstLine(prompt).trim();
  return asked === "" ? "interrupted" : `interrupted: ${asked}`;
}
