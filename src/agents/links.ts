/** Where the files that a request names are, once the links on their paths are followed. Pure: `follow` reads the disk. */
import { createLabel, type FittedLine } from "../core/text/fit.ts";
import { findRelativePath, hasDotSegments, isAbsolute, resolvePath } from "../core/text/paths.ts";

/** The links on the disk. */
export interface DiskLinks {
  /** The path without links, also if it does not exist yet. null if beckon cannot tell. Takes an absolute path. */
  follow(path: string): string | null;
  readonly home: string;
}

export interface FilesContext {
  /** The session's folder. */
  readonly cwd: string | null;
  /** Where relative paths start. */
  readonly from: string | null;
  /** Absent if the disk is not read. */
  readonly links?: DiskLinks | undefined;
}

export interface DescribedLinks {
  /** One for each file that a link leads elsewhere. Empty if there is none. */
  readonly lines: readonly FittedLine[];
  /** Where these links lead, for the check of dangers. */
  readonly targets: readonly string[];
  /** beckon cannot tell where one of the paths leads, so it must not be allowed from here. */
  readonly isUnclear: boolean;
}

/** What to show and check besides the paths that a request names. */
export function describeLinks(paths: readonly string[], context: FilesContext): DescribedLinks {
  const { links } = context;
  const lines: FittedLine[] = [];
  const targets: string[] = [];
  let isUnclear = false;
  for (const path of links ? new Set(paths) : []) {
    const found = links && followFile(path, context, links);
    if (!found) continue;
    // A label starts with a sign that no path can contain, so no file's name can look like one.
    const which = paths.length === 1 ? "" : `${JSON.stringify(path)} `;
    if (found === "unclear") {
      isUnclear = true;
      lines.push(createLabel("beckon cannot tell where this path leads", which.trim()));
    } else {
      targets.push(found.target);
      lines.push(
        createLabel("a link to", paths.length === 1 ? found.shown : `${found.shown}: ${which.trim()}`),
      );
    }
  }
  return { lines, targets, isUnclear };
}

interface Target {
  /** `docs/notes.md` in the project, `~/.bashrc`, or the whole path. */
  readonly shown: string;
  /** The same, but whole in the project too. */
  readonly target: string;
}

/** null if no link leads the file elsewhere. Links above the project and above the home folder do not count. */
function followFile(
  path: string,
  { cwd, from }: FilesContext,
  { follow, home }: DiskLinks,
): Target | "unclear" | null {
  const start = from ?? cwd;
  if (!isAbsolute(path) && start === null) return null;
  const whole = isAbsolute(path) ? path : `${start}/${path}`;
  const plain = resolvePath(whole, "");
  const real = follow(whole);
  // Some programs drop `x/..` before they open a path, and some follow the link x first.
  if (real === null || (hasDotSegments(whole) && follow(plain) !== real)) return "unclear";
  const found = resolvePath(real, "");
  if (found === plain) return null;
  for (const [folder, name] of [
    [cwd, null],
    [home, "~"],
  ] as const) {
    const realFolder = folder === null ? null : follow(folder);
    if (folder === null || realFolder === null) continue;
    const inFolder = findRelativePath(realFolder, found);
    if (inFolder === null) continue;
    if (findRelativePath(folder, plain) === inFolder) return null;
    return {
      shown: name === null ? inFolder : `${name}/${inFolder}`,
      target: `${name ?? folder}/${inFolder}`,
    };
  }
  return { shown: found, target: found };
}
