/** Where a path leads, by its letters alone: no disk is asked, so links are not followed. */

const drive = /^(?:[A-Za-z]:[\\/]|\\\\)/;

export function isAbsolute(path: string): boolean {
  return path.startsWith("/") || drive.test(path);
}

/** Also a path that leads nowhere else when it is made plain: `a/../b`, `a//b`. */
export function hasDotSegments(path: string): boolean {
  return /(?:^|[\\/])\.{1,2}(?:[\\/]|$)|[^:\\/][\\/]{2}/.test(path);
}

export function resolvePath(folder: string, path: string): string {
  const isWindows = drive.test(folder) || drive.test(path);
  const slashed = (text: string) => (isWindows ? text.replaceAll("\\", "/") : text);
  const full = isAbsolute(path) ? slashed(path) : `${slashed(folder)}/${slashed(path)}`;
  const parts: string[] = [];
  for (const part of full.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `${full.startsWith("/") ? "/" : ""}${parts.join("/")}`;
}

/** The path from `folder`, "." for itself; null: it lies outside. */
export function relativeWithin(folder: string, path: string): string | null {
  const inner = resolvePath(folder, path);
  const outer = resolvePath(folder, "");
  const isWindows = drive.test(folder);
  const same = (text: string) => (isWindows ? text.toLowerCase() : text);
  if (same(inner) === same(outer)) return ".";
  const start = outer === "/" ? outer : `${outer}/`;
  return same(inner).startsWith(same(start)) ? inner.slice(start.length) : null;
}

/** The person's own folder as they write it. For people only: what programs read has whole paths. */

/** In words of ours. Within quotes, and after `=`, a `~` would stay a `~`: such paths are there to be copied whole. */
export function shortenHome(text: string, home: string): string {
  return isNone(home) ? text : text.replace(new RegExp(`(?<=^|[\\s(:])${quoted(home)}${end}`, "g"), "~");
}

/** In words of an agent: only where all of it is a path ("Edit: /home/me/.zshrc"), never within a command. */
export function shortenHomePath(text: string, home: string): string {
  const all = new RegExp(`^([^:]*: )?${quoted(home)}${end}(?=\\S*$)`);
  return isNone(home) ? text : text.replace(all, "$1~");
}

const end = "(?=/|[.,:;]?(?:\\s|$)|\\))";
/** `/` or nothing: it is nobody's own. Windows' shells do not know a `~`. */
const isNone = (home: string): boolean => !/^\/+[^/]/.test(home);
const quoted = (home: string): string => home.replace(/\/+$/, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
