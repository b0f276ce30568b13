/** What the user is asked in full, and what they can answer. */
import type { AskKind } from "./event.ts";
import type { AskPrecedent } from "./precedent.ts";
import type { Ask } from "./session.ts";

/** Everything the user needs to decide. */
export interface AskDetails {
  readonly kind: AskKind;
  readonly tool: string | null;
  /** "Run a command", "Edit src/app.ts", "Fetch a page", "Use create_issue (github)", "Approve a plan". */
  readonly heading: string;
  /** The heading says no more than the name of the tool: "Run a command" for Bash. */
  readonly isGenericHeading?: true;
  /** Present if the first line names what would be done: a command, an address. Otherwise the heading does. */
  readonly startsWithSubject?: true;
  /** The exact text. Invisible characters are made visible; a row that continues a long line starts with "⤷ ". */
  readonly lines: readonly string[];
  /** Index of the first line about what another session has changed in the same file and not committed. Absent if none has. */
  readonly otherChangesAt?: number;
  /** False if there is more than these lines show. Then it cannot be allowed from here. */
  readonly isWhole: boolean;
  /** Warnings, most severe first: "deletes without asking (rm -rf)", "runs what it downloads (curl | sh)". */
  readonly dangers: readonly string[];
  /** What the agent offers to allow permanently: "Always allow npm test in this project, for you". */
  readonly always: readonly string[];
  readonly questions: readonly Question[];
  /** What the user has answered to requests like it. Absent if nothing is known. */
  readonly precedent?: AskPrecedent;
  /** Present if the agent takes no message with a denial. */
  readonly takesNoReason?: true;
}

export interface Question {
  readonly header: string;
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly isMultiple: boolean;
}

export type Answer =
  | { readonly do: "allow" }
  /** `choice` is an index into AskDetails.always. */
  | { readonly do: "always"; readonly choice: number }
  | { readonly do: "deny"; readonly message: string | null }
  /** Per question: the chosen labels, or one free text. */
  | { readonly do: "reply"; readonly replies: readonly (readonly string[])[] };

/** Returns null if the ask cannot be answered from here. */
export type FindAskDetails = (ask: Ask) => AskDetails | null;

/** Finds nothing if answering is turned off in the settings. */
export function withAnsweringEnabled(
  findDetails: FindAskDetails,
  { answering }: { readonly answering: { readonly enabled: boolean } },
): FindAskDetails {
  return answering.enabled ? findDetails : () => null;
}
