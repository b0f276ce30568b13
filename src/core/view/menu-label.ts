/** In columns. */
export const maxLabel = 80;

/** Unlike a join alone, never the same for different parts. */
export function idOf(...parts: readonly string[]): string {
  return parts.map((part) => part.replaceAll("%", "%25").replaceAll("/", "%2F")).join("/");
}
