/**
 * The patch format of apply_patch, which Codex, opencode and Copilot CLI share. `parsePatch` reads a patch as Codex does, and
 * refuses what one of its versions reads differently. `listPatchedFiles` names every file that one of the agents could change.
 * Pure.
 */
import { limits } from "../core/limits.ts";

/** A section of a patch: what happens to one file. */
export interface PatchSection {
  readonly kind: "add" | "delete" | "update";
  /** As the patch has it, so relative to the folder of the call. */
  readonly path: string;
  /** The new path of a file that is moved. */
  readonly moveTo: string | null;
  /** The content of a file that is added; "" otherwise. */
  readonly content: string;
}

/** What Rust's `trim` removes. JavaScript's keeps U+0085, and also removes U+FEFF. */
const blank = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const blankStart = new RegExp(`^${blank}+`);
const blankEnd = new RegExp(`${blank}+$`);
const trim = (text: string): string => text.replace(blankEnd, "").replace(blankStart, "");
/** Codex reads a path as a part of an address, where these count for nothing: `.pro\rfile` is `.profile` (measured). */
const removeIgnored = (path: string): string => path.replace(/[\t\r]/g, "");

const begin = "*** Begin Patch";
const end = "*** End Patch";
const header = /^\*\*\* (?<kind>Add|Delete|Update) File: (?<path>.+)$/s;
const move = /^\*\*\* Move to: (?<path>.+)$/s;
const environment = /^\*\*\* Environment ID:/;
const heredocStarts: ReadonlySet<string | undefined> = new Set(["<<EOF", "<<'EOF'", '<<"EOF"']);
const kinds = { Add: "add", Delete: "delete", Update: "update" } as const;

/**
 * null if Codex refuses the patch, or its versions do not agree about it. Measured with 0.166 and 0.169: blanks around the first
 * and the last line and around headers are ignored, but in an update a header starts its line.
 */
export function parsePatch(text: string): readonly PatchSection[] | null {
  const lines = listPatchLines(text);
  if (lines === null) return null;
  const sections: { -readonly [Field in keyof PatchSection]: PatchSection[Field] }[] = [];
  let isAfterHeader = false;
  for (const line of lines.slice(1, -1)) {
    const last = sections.at(-1);
    const trimmed = trim(line);
    const { kind, path = "" } = header.exec(trimmed)?.groups ?? {};
    if (kind !== undefined) {
      // Some versions take it for a line of the file.
      if (last?.kind === "update" && !line.startsWith("*")) return null;
      sections.push({
        kind: kinds[kind as keyof typeof kinds],
        path: removeIgnored(path),
        moveTo: null,
        content: "",
      });
      isAfterHeader = true;
      continue;
    }
    // The files of another machine are not those of the session.
    if (trimmed === end || last === undefined || environment.test(trimmed)) return null;
    switch (last.kind) {
      case "add":
        if (!line.startsWith("+")) return null;
        last.content += `${line.slice(1)}\n`;
        break;
      case "delete":
        return null;
      case "update": {
        const moveTo = move.exec(trimmed)?.groups?.path;
        if (moveTo === undefined) break;
        if (!isAfterHeader || !line.startsWith("*")) return null;
        last.moveTo = removeIgnored(moveTo);
      }
    }
    isAfterHeader = false;
  }
  return sections;
}

/** The patch without what Codex ignores around it, as its requests have it. The text itself if it is not a patch. */
export const normalizePatch = (text: string): string => listPatchLines(text)?.join("\n") ?? text;

const heredoc = /^\s*apply_?patch\s*<<\s*(["'])(?<end>\w+)\1\n(?<patch>[\s\S]*)\n\k<end>\s*$/;

/**
 * The patch of a shell command that does nothing but apply it. null for any other command: after `cd DIR &&` the patch alone does
 * not say which files it changes, and without quotes the shell changes its text.
 */
export const findHeredocPatch = (command: string): string | null =>
  heredoc.exec(command)?.groups?.patch ?? null;

/** The lines from `*** Begin Patch` to `*** End Patch`. null if the text is more or less than that. */
function listPatchLines(text: string): readonly string[] | null {
  const lines = trim(text)
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));
  const isHeredoc = heredocStarts.has(lines[0]) && lines.at(-1)?.endsWith("EOF") === true;
  const inner = isHeredoc ? lines.slice(1, -1) : lines;
  const isPatch = inner.length > 1 && trim(inner[0] ?? "") === begin && trim(inner.at(-1) ?? "") === end;
  return isPatch ? inner : null;
}

/**
 * A line that Codex or opencode can take for a header: opencode needs no blank after the colon, Codex allows blanks before it. Lines
 * of a file start with "+", "-" or a blank, so one too many is possible, but none is missing.
 */
const anyHeader = new RegExp(
  `^(?:${blank}|\\ufeff)*\\*\\*\\* (?:(?:Add|Update|Delete) File|Move to):(?<path>.*)$`,
  "s",
);

/** The paths that a patch adds, changes, moves or deletes, each once. Empty if the text is not a patch. */
export function listPatchedFiles(patch: string): string[] {
  const paths = patch.split("\n").flatMap((line) => {
    const { path: rest = "" } = anyHeader.exec(line)?.groups ?? {};
    const path = trim(rest);
    // Codex keeps a second blank after the colon as a part of the name, opencode does not.
    const spaced = rest.replace(blankEnd, "").replace(/^ /, "");
    return path === "" ? [] : [path, removeIgnored(path), spaced, removeIgnored(spaced)];
  });
  return [...new Set(paths)].slice(0, limits.maxPatchedFiles);
}
