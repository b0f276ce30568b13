/** Paths as text: the disk is not read, so links are not followed. */

/** A time as a part of a file's name, where Windows forbids colons; names with it sort by time. */
export const formatFileTime = (time: Date): string => time.toISOString().replace(/[:.]/g, "-");

const windowsRoot = /^(?:[A-Za-z]:[\\/]|\\\\)/;

export function isAbsolute(path: string): boolean {
  return path.startsWith("/") || windowsRoot.test(path);
}

/** Finds `.`, `..` and empty segments, even where they change nothing: `a/../b`, `a//b`. */
export function hasDotSegments(path: string): boolean {
  return /(?:^|[\\/])\.{1,2}(?:[\\/]|$)|[^:\\/][\\/]{2}/.test(path);
}

export function resolvePath(folder: string, path: string): string {
  const isWindows = windowsRoot.test(folder) || windowsRoot.test(path);
  const withSlashes = (text: string) => (isWindows ? text.replaceAll("\\", "/") : text);
  const full = isAbsolute(path) ? withSlashes(path) : `${withSlashes(folder)}/${withSlashes(path)}`;
  const segments: string[] = [];
  for (const segment of full.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return `${full.startsWith("/") ? "/" : ""}${segments.join("/")}`;
}

/** Returns the path relative to `folder`, "." for the folder itself, or null if it is outside. */
export function findRelativePath(folder: string, path: string): string | null {
  const inner = resolvePath(folder, path);
  const outer = resolvePath(folder, "");
  const isWindows = windowsRoot.test(folder);
  const fold = (text: string) => (isWindows ? text.toLowerCase() : text);
  if (fold(inner) === fold(outer)) return ".";
  const prefix = outer === "/" ? outer : `${outer}/`;
  return fold(inner).startsWith(fold(prefix)) ? inner.slice(prefix.length) : null;
}

/**
 * Writes `~` for the home folder in beckon's own messages. In quotes and after `=` a shell does not expand `~`, so paths
 * there stay whole to be copied.
 */
export function shortenHome(text: string, home: string): string {
  return hasHome(home)
    ? text.replace(new RegExp(`(?<=^|[\\s(:])${escapeHome(home)}${pathEnd}`, "g"), "~")
    : text;
}

/** Writes `~` in an agent's text if all of it is a path ("Edit: /home/me/.zshrc"), never within a command. */
export function shortenHomePath(text: string, home: string): string {
  const wholePath = new RegExp(`^([^:]*: )?${escapeHome(home)}${pathEnd}(?=\\S*$)`);
  return hasHome(home) ? text.replace(wholePath, "$1~") : text;
}

const pathEnd = "(?=/|[.,:;]?(?:\\s|$)|\\))";
/** False for `/`, an empty home, and Windows, whose shells do not know `~`. */
const hasHome = (home: string): boolean => /^\/+[^/]/.test(home);
const escapeHome = (home: string): string => home.replace(/\/+$/, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
