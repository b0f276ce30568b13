/**
 * What the page remembers of its user, in cookies: beckon empties the storage of its address when it opens the page, because another
 * program could have put something there.
 */

const prefix = "beckon-page-";
const maxAgeSeconds = 365 * 24 * 60 * 60;

export function readSaved(name: string): string | null {
  const start = `${prefix}${name}=`;
  const pair = document.cookie.split("; ").find((text) => text.startsWith(start));
  return pair?.slice(start.length) ?? null;
}

/** The value must be made of letters and digits. */
export function save(name: string, value: string): void {
  // biome-ignore lint/suspicious/noDocumentCookie: Safari has the Cookie Store API since 18.4 only.
  document.cookie = `${prefix}${name}=${value}; Path=/; SameSite=Strict; Max-Age=${maxAgeSeconds}`;
}
