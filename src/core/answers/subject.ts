/** What a permission request would do, as far as a rule of the user's can name it. An agent reads it from its own payload. */
export type RuleSubject =
  | {
      readonly kind: "command";
      /** Exactly as a shell would get it. */
      readonly command: string;
      /** Where it would run. null if unknown. */
      readonly cwd: string | null;
    }
  | {
      readonly kind: "edit";
      /** The files that would be written. Relative ones start from `cwd`. */
      readonly paths: readonly string[];
      readonly cwd: string | null;
    };
