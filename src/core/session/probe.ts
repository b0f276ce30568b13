const prefix = "beckon-doctor-";

export function createProbeId(random: string): string {
  return `${prefix}${random}`;
}

export function isProbe({ sessionId }: { readonly sessionId: string }): boolean {
  return sessionId.startsWith(prefix);
}

/** A line of the spool. */
export function isProbeLine(line: string): boolean {
  return line.includes(`"${prefix}`);
}

/** Of an alert's key. */
export function isProbeAlert(key: string): boolean {
  return key.includes(`:${prefix}`);
}
