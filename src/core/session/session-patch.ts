/** What differs between two versions of a session, field by field: of a moment that is kept, most is as it was a moment before. Pure. */
import type { Session } from "./session.ts";

export type SessionPatch = Partial<Session>;

/** null if they are the same. reduce shares what an event leaves alone, so comparing references is enough. */
export function diffSession(before: Session, after: Session): SessionPatch | null {
  if (before === after) return null;
  let patch: Record<string, unknown> | null = null;
  for (const name in after) {
    const value = after[name as keyof Session];
    if (value === before[name as keyof Session]) continue;
    patch ??= {};
    patch[name] = value;
  }
  return patch;
}
