/** Quoting for a POSIX shell. */

/** Quotes a text as one word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** For a command that the user may copy into a shell. */
export const quoteIfNeeded = (text: string): string =>
  /^[\w.:/@-]+$/.test(text) ? text : quoteForShell(text);
