/** What a person is asked, word for word, and what they can answer. */
import type { AskKind } from "./event.ts";
import type { Ask } from "./session.ts";

/** What a person is asked, in full: all there is to decide by. */
export interface AskDetails {
  readonly kind: AskKind;
  readonly tool: string | null;
  /** "Run a command", "Edit src/app.ts", "Fetch a page", "Use create_issue (github)", "Approve a plan". */
  readonly heading: string;
  /** The exact text, line by line; what cannot be seen is made visible, a long line goes on behind a "⤷ ". */
  readonly lines: readonly string[];
  /** false: there is more than these lines show. Then nobody may allow it from here. */
  readonly isWhole: boolean;
  /** In words, most severe first: "deletes without asking (rm -rf)", "runs what it downloads (curl | sh)". */
  readonly dangers: readonly string[];
  /** What the agent itself offers to allow for good, in words: "Always allow npm test in this project, for you". */
  readonly always: readonly string[];
  readonly questions: readonly Question[];
}

export interface Question {
  readonly header: string;
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly isMultiple: boolean;
}

export type Answer =
  | { readonly do: "allow" }
  /** `choice` is an index into Asked.always. */
  | { readonly do: "always"; readonly choice: number }
  | { readonly do: "deny"; readonly message: string | null }
  /** Per question: the labels chosen, or one free text. */
  | { readonly do: "reply"; readonly replies: readonly (readonly string[])[] };

/** null: it cannot be answered from here. */
export type FindAskDetails = (ask: Ask) => AskDetails | null;

/** Nothing can be, where the person does not want it. */
export function withAnsweringEnabled(
  asked: FindAskDetails,
  { answering }: { readonly answering: { readonly enabled: boolean } },
): FindAskDetails {
  return answering.enabled ? asked : () => null;
}
