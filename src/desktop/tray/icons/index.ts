/** The tray's icons: files that `bun assets/draw.ts` draws, embedded in the binary. One table for each format. */
import type { TrayIcon } from "../../../core/view/view.ts";

export interface IconFiles {
  readonly calm: string;
  readonly working: string;
  /** By the number of blocked sessions: "!" for 0, and "9+" for 10 and more. */
  readonly blocked: readonly string[];
}

const maxCount = 10;

/** Returns the path of the icon's file, which may lie inside the binary. */
export function findIconFile(files: IconFiles, { phase, count }: TrayIcon): string {
  if (phase === "calm" || phase === "working") return files[phase];
  // A failure has no number: its icon shows "!".
  return files.blocked[phase === "failed" ? 0 : Math.min(count, maxCount)] ?? files.calm;
}
