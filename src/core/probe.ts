/** The session that `beckon doctor` plays: it goes through all that a real one does, and leaves nothing behind. */
import type { Words } from "./alert-words.ts";

const prefix = "beckon-doctor-";

export function probeId(random: string): string {
  return `${prefix}${random}`;
}

export function isProbe({ sessionId }: { readonly sessionId: string }): boolean {
  return sessionId.startsWith(prefix);
}

/** A line of the spool. */
export function isOfProbeLine(line: string): boolean {
  return line.includes(`"${prefix}`);
}

/** Of an alert's key. */
export function isOfProbe(key: string): boolean {
  return key.includes(`:${prefix}`);
}

export const probeWords: Words = {
  title: "beckon doctor: a test",
  body: "It goes away by itself.",
};
