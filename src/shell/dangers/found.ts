/** What was found, in people's words, with the form of it in brackets. */
import { makeLineVisible } from "../../core/text/visible.ts";

/** Most severe first. */
const order = [
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
export type DangerKind = (typeof order)[number];

export interface DangerFindings {
  add(kind: DangerKind, words: string, form: string): void;
  list(): readonly string[];
}

const maxForm = 60;
const maxListed = 12;

export function createDangerFindings(): DangerFindings {
  const all = new Map<string, number>();
  return {
    add(kind, words, form) {
      // A thousand forms of one danger are told by the first few.
      if (all.size < 200) all.set(`${words} (${shortForm(form)})`, order.indexOf(kind));
    },
    list: () =>
      [...all]
        .toSorted(([, a], [, b]) => a - b)
        .slice(0, maxListed)
        .map(([text]) => text),
  };
}

function shortForm(form: string): string {
  const chars = [...makeLineVisible(form.slice(0, 4 * maxForm))];
  return chars.length <= maxForm ? chars.join("") : `${chars.slice(0, maxForm - 1).join("")}…`;
}
