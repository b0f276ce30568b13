/** What the user has answered to requests like this one, and the words for it. A fact, not advice. */
import { formatCount } from "../text/words.ts";

export interface Precedent {
  /** What they have in common: "npm run test", "edits in guide". */
  readonly label: string;
  readonly allowed: number;
  readonly denied: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The project of the last one. null if unknown. */
  readonly lastProject: string | null;
  /** The last denial. null if there is none. */
  readonly lastDenial: { readonly at: number; readonly message: string | null } | null;
  /** The newest answers, the oldest of them first: "y" allowed, "n" denied. */
  readonly recent: string;
}

/** What is shown with a request. */
export interface AskPrecedent extends Precedent {
  /** The narrowest rule that would answer it. Absent if there is none, or the user has not answered alike often enough. */
  readonly rule?: { readonly text: string; readonly project: string; readonly agent: string };
}

export const maxRecentAnswers = 20;

/** "You allowed npm run test 14 of 14 times" */
export const countPrecedent = ({ label, allowed, denied }: Precedent): string =>
  `You allowed ${label} ${allowed} of ${formatCount(allowed + denied, "time")}`;

/** "last in shop-web", "denied 3 times, last yesterday: “not on a Friday”" */
export function describePrecedentRest(
  { denied, lastAt, lastProject, lastDenial }: Precedent,
  project: string | null,
  formatTime: (at: number) => string,
): string {
  if (lastDenial) {
    const message = lastDenial.message === null ? "" : `: “${lastDenial.message}”`;
    return `denied ${formatCount(denied, "time")}, last ${formatTime(lastDenial.at)}${message}`;
  }
  const place = lastProject === null || lastProject === project ? "" : ` in ${lastProject}`;
  return `last${place} ${formatTime(lastAt)}`;
}

/** In one line, for an alert: "You allowed npm test 14 of 14 times, last in shop-web". */
export function formatPrecedent(precedent: Precedent, project: string | null): string {
  const { denied, lastProject } = precedent;
  const place =
    lastProject === null || lastProject === project || denied > 0 ? "" : `, last in ${lastProject}`;
  return `${countPrecedent(precedent)}${place}`;
}
