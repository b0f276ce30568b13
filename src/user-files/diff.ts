/** Shows what an install would change, in the format of `diff -u`. */
import { formatPatch, OMIT_HEADERS, type StructuredPatch, structuredPatch } from "diff";

const contextLines = 3;
/** Beyond this many changed lines the whole file is shown as replaced, so that a large file does not take long. */
const maxChangedLines = 1000;
/** How much of the common start and end of two long lines is shown. */
const commonChars = 60;

/** Without the two lines that name the files. Empty if both texts are the same. */
export function createDiff(before: string, after: string): string[] {
  if (before === after) return [];
  const options = { context: contextLines, maxEditLength: maxChangedLines };
  const patch = structuredPatch("", "", before, after, "", "", options) ?? replaceAll(before, after);
  const hunks = patch.hunks.map((hunk) => {
    return { ...hunk, lines: shortenSingleChange(hunk.lines).map(replaceControlCharacters) };
  });
  return formatPatch({ ...patch, hunks }, OMIT_HEADERS)
    .replace(/\n$/, "")
    .split("\n");
}

function replaceAll(before: string, after: string): StructuredPatch {
  const linesOf = (text: string) => text.replace(/\n$/, "").split("\n");
  const [removed, added] = [linesOf(before), linesOf(after)];
  const lines = [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
  const hunk = { oldStart: 1, oldLines: removed.length, newStart: 1, newLines: added.length, lines };
  const names = { oldFileName: "", newFileName: "", oldHeader: "", newHeader: "" };
  return { ...names, hunks: [hunk] };
}

/** Settings on one line can have megabytes that do not change. */
function shortenSingleChange(lines: string[]): string[] {
  const removed = lines.filter((line) => line.startsWith("-"));
  const added = lines.filter((line) => line.startsWith("+"));
  const [oldLine = "", newLine = ""] = [removed[0]?.slice(1), added[0]?.slice(1)];
  if (removed.length !== 1 || added.length !== 1) return lines;
  const shorter = Math.min(oldLine.length, newLine.length);
  let start = 0;
  while (start < shorter && oldLine[start] === newLine[start]) start++;
  let end = 0;
  while (end < shorter - start && oldLine.at(-1 - end) === newLine.at(-1 - end)) end++;
  const shorten = (line: string): string => {
    const changed = line.slice(Math.max(0, start - commonChars), line.length - end);
    const tail = line.slice(line.length - end);
    const shownTail = tail.length > 2 * commonChars ? `${tail.slice(0, commonChars)}…` : tail;
    return (start > commonChars ? "…" : "") + changed + shownTail;
  };
  return lines.map((line) => (/^[-+]/.test(line) ? line.charAt(0) + shorten(line.slice(1)) : line));
}

/** The settings of a cloned project can contain anything, and the terminal obeys control characters. */
function replaceControlCharacters(line: string): string {
  return line.replace(/\r$/, "").replace(/(?!\t)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, "?");
}
