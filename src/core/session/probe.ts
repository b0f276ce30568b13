/** The test sessions that `beckon doctor` sends through a running app. */
import { parseSessionKey } from "./session-ref.ts";

const prefix = "beckon-doctor-";

export function createProbeId(random: string): string {
  return `${prefix}${random}`;
}

export function isProbe({ sessionId }: { readonly sessionId: string }): boolean {
  return sessionId.startsWith(prefix);
}

/** Whether a spool line belongs to a probe. */
export function isProbeLine(line: string): boolean {
  return line.includes(`"${prefix}`);
}

export function isProbeAlert(alertKey: string): boolean {
  const ref = parseSessionKey(alertKey);
  return ref !== null && isProbe(ref);
}
