/** Where a path leads, by its letters alone: no disk is asked, so links are not followed. */

const drive = /^(?:[A-Za-z]:[\\/]|\\\\)/;

export function isAbsolute(path: string): boolean {
  return path.startsWith("/") || drive.test(path);
}

/** Also a path that leads nowhere else when it is made plain: `a/../b`, `a//b`. */
export function isCrooked(path: string): boolean {
  return /(?:^|[\\/])\.{1,2}(?:[\\/]|$)|[^:\\/][\\/]{2}/.test(path);
}

export function resolved(folder: string, path: string): string {
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
export function within(folder: string, path: string): string | null {
  const inner = resolved(folder, path);
  const outer = resolved(folder, "");
  const isWindows = drive.test(folder);
  const same = (text: string) => (isWindows ? text.toLowerCase() : text);
  if (same(inner) === same(outer)) return ".";
  const start = outer === "/" ? outer : `${outer}/`;
  return same(inner).startsWith(same(start)) ? inner.slice(start.length) : null;
}
