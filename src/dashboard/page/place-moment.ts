/** Where a moment of the story belongs in the transcript. Pure. */
import type { TranscriptLine } from "../../core/interfaces/wire.ts";
import type { Beat } from "../../core/view/story.ts";

/** A transcript writes a call when the model has made it, and a hook reports it a moment later. */
const nearMs = 15_000;

/** The lines with null where the moment belongs: in place of the line that says the same, or by its time. */
export function placeMoment(
  lines: readonly TranscriptLine[],
  { at, beat }: { readonly at: number; readonly beat: Beat | null },
): readonly (TranscriptLine | null)[] {
  const text = beat && "text" in beat ? squeeze(beat.text) : null;
  const isSame = (line: TranscriptLine) =>
    text !== null &&
    Math.abs((line.at ?? at) - at) < nearMs &&
    squeeze(line.who === "step" ? `${line.tool}: ${line.text}` : line.text) === text;
  const same = lines.findLastIndex(isSame);
  if (same >= 0) return lines.with(same, null as never);
  const later = lines.findIndex((line) => line.at !== null && line.at > at);
  const index = later < 0 ? lines.length : later;
  return [...lines.slice(0, index), null, ...lines.slice(index)];
}

const squeeze = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, 200);
