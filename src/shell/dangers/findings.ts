/** What was found about a command, as texts for the user. */
import { takeStart, truncate } from "../../core/text/truncate.ts";
import { makeLineVisible } from "../../core/text/visible.ts";

/** Most severe first. */
const kinds = [
  "disk",
  "deletes",
  "downloads",
  "runs",
  "unseen",
  "sends",
  "root",
  "system",
  "outside",
  "git",
  "data",
  "servers",
  "publishes",
  "rights",
  "address",
  "unclear",
] as const;
export type DangerKind = (typeof kinds)[number];

export interface DangerFindings {
  /** `text` completes "this command …". `form` is the part of the command that it is about. */
  add(kind: DangerKind, text: string, form: string): void;
  count(): number;
  /** `deletes without asking (rm -rf)`, most severe first. */
  list(): readonly string[];
}

const maxFormLength = 60;
const maxKept = 200;
const maxListed = 12;

export function createFindings(): DangerFindings {
  const severities = new Map<string, number>();
  const known = new Set<string>();
  return {
    add(kind, text, form) {
      const key = `${text} (${form.slice(0, 4 * maxFormLength)}`;
      // A thousand forms of one danger: the first few are enough.
      if (known.has(key) || known.size >= maxKept) return;
      known.add(key);
      severities.set(`${text} (${shorten(form)})`, kinds.indexOf(kind));
    },
    count: () => severities.size,
    list: () =>
      [...severities]
        .toSorted(([, a], [, b]) => a - b)
        .slice(0, maxListed)
        .map(([text]) => text),
  };
}

const shorten = (form: string): string =>
  truncate(makeLineVisible(takeStart(form, 4 * maxFormLength)), maxFormLength);
