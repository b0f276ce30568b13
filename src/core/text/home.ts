/** The person's own folder as they write it. For people only: what programs read has whole paths. */

/** In words of ours. Within quotes, and after `=`, a `~` would stay a `~`: such paths are there to be copied whole. */
export function withTilde(text: string, home: string): string {
  return isNone(home) ? text : text.replace(new RegExp(`(?<=^|[\\s(:])${quoted(home)}${end}`, "g"), "~");
}

/** In words of an agent: only where all of it is a path ("Edit: /home/me/.zshrc"), never within a command. */
export function pathWithTilde(text: string, home: string): string {
  const all = new RegExp(`^([^:]*: )?${quoted(home)}${end}(?=\\S*$)`);
  return isNone(home) ? text : text.replace(all, "$1~");
}

const end = "(?=/|[.,:;]?(?:\\s|$)|\\))";
/** `/` or nothing: it is nobody's own. Windows' shells do not know a `~`. */
const isNone = (home: string): boolean => !/^\/+[^/]/.test(home);
const quoted = (home: string): string => home.replace(/\/+$/, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
