import type { AnswerStep } from "../answers/policy.ts";
import type { Answer } from "../session/ask-details.ts";

/** What the user can do from the menu, from an alert, or on the command line. Sessions are named `agent:sessionId`. */
export type UserAction =
  | { readonly do: "focus"; readonly session: string }
  | { readonly do: "next" }
  /** `ask` is the answer id of the ask that was shown, so the answer cannot go to a later one. */
  | {
      readonly do: "answer";
      readonly session: string;
      readonly ask: string;
      readonly answer: Answer;
      readonly step: AnswerStep;
    }
  /** The first of the two clicks that allow something dangerous in the menu. The tray then asks for the second one. */
  | { readonly do: "confirm"; readonly session: string; readonly ask: string }
  | { readonly do: "mute"; readonly session: string; readonly on: boolean }
  | { readonly do: "mute-project"; readonly project: string; readonly on: boolean }
  /** `minutes` is null to end the snooze. */
  | { readonly do: "snooze"; readonly session: string; readonly minutes: number | null }
  /** Dismisses the current asks and alerts. A new ask counts again. */
  | { readonly do: "dismiss"; readonly session: string }
  | { readonly do: "copy-id"; readonly session: string }
  | { readonly do: "transcript"; readonly session: string }
  | { readonly do: "quiet"; readonly mode: QuietMode }
  | { readonly do: "connect"; readonly agent: string }
  /** Shows all sessions. */
  | { readonly do: "list" }
  | { readonly do: "dashboard" }
  | { readonly do: "settings" }
  | { readonly do: "about" }
  | { readonly do: "quit" };

export const quietModes = ["off", "hour", "tomorrow", "on"] as const;

export type QuietMode = (typeof quietModes)[number];
