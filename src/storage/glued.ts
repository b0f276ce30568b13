/** A writer that died in the middle of its line leaves a stump, and the next line is glued to it. */

/** What the forwarders' lines begin with. */
const opening = '{"provider"';
const maxTries = 64;

export interface JournalPiece {
  readonly text: string;
  /** Characters of the line up to this piece's end. */
  readonly end: number;
}

/** The whole events in a line, in order. One that is whole has one piece, a hopeless one has none. */
export function splitGluedLines(line: string): JournalPiece[] {
  if (isJson(line)) return [{ text: line, end: line.length }];
  const pieces: JournalPiece[] = [];
  let end = line.length;
  let start = line.lastIndexOf(opening);
  for (let tries = 0; start > 0 && tries < maxTries; tries++) {
    const text = line.slice(start, end);
    if (isJson(text)) {
      pieces.unshift({ text, end });
      end = start;
    }
    start = line.lastIndexOf(opening, start - 1);
  }
  const first = line.slice(0, end);
  if (pieces.length > 0 && isJson(first)) pieces.unshift({ text: first, end });
  return pieces;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
