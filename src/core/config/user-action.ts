import type { Answer } from "../session/ask-details.ts";

/** What a person can do from the tray, from an alert, or by the command line. Sessions are named `agent:sessionId`. */
export type UserAction =
  | { readonly do: "focus"; readonly session: string }
  | { readonly do: "next" }
  /** `ask` names one ask and no other, from the moment it was shown: whatever is asked by then, this one is answered. */
  | {
      readonly do: "answer";
      readonly session: string;
      readonly ask: string;
      readonly answer: Answer;
      readonly by: "tray" | "notification";
    }
  | { readonly do: "mute"; readonly session: string; readonly on: boolean }
  | { readonly do: "mute-project"; readonly project: string; readonly on: boolean }
  /** null: wake it now. */
  | { readonly do: "snooze"; readonly session: string; readonly minutes: number | null }
  /** Its asks and alerts, as they stand; a new ask counts again. */
  | { readonly do: "dismiss"; readonly session: string }
  | { readonly do: "copy-id"; readonly session: string }
  | { readonly do: "transcript"; readonly session: string }
  | { readonly do: "quiet"; readonly mode: QuietMode }
  | { readonly do: "connect"; readonly agent: string }
  | { readonly do: "dashboard" }
  | { readonly do: "settings" }
  | { readonly do: "about" }
  | { readonly do: "quit" };

export type QuietMode = "off" | "hour" | "tomorrow" | "on";
