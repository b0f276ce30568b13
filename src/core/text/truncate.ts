/**
 * Shortens a text to a number of UTF-16 code units, which is how limits of files, services and systems count. text.ts shortens
 * to a width.
 */

/** The first `maxLength` code units. Never splits a surrogate pair. */
export function takeStart(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(maxLength - 1));
  return text.slice(0, Math.max(0, splitsPair ? maxLength - 1 : maxLength));
}

/** A text that is cut ends with "…", which counts too. */
export function truncate(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${takeStart(text, maxLength - 1)}…`;
}
