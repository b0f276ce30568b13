/** What the work guard says about an edit of a file in which other sessions have changes that are not committed. Pure. */
import type { Config } from "../core/config/config.ts";
import type { HookOutput } from "../core/interfaces/wire.ts";
import type { SharedFile } from "../core/session/event.ts";
import { formatRoughAge } from "../core/view/figures.ts";
import { formatSharedFiles } from "../core/view/work-notes.ts";

export interface Collision {
  readonly mode: Config["workGuard"]["collisions"];
  /** The others' changes. */
  readonly files: readonly SharedFile[];
  readonly folder: string | null;
  /** Wall time. */
  readonly now: number;
}

/** The answer about ports stays if it refuses the edit. An agent that cannot ask the user in its own dialog is told instead. */
export function decideCollision(output: HookOutput, { mode, files, folder, now }: Collision): HookOutput {
  if (mode === "show" || files.length === 0 || output.decision === "block") return output;
  const changes = formatSharedFiles(files, folder, (at) => formatRoughAge(now - at)).join("; ");
  const fact = `${changes}. That change is not committed.`;
  const note = `${fact} Read the file again before you edit it, and keep that change.`;
  const metadata = {
    ...output.metadata,
    additional_context: joinTexts(output.metadata.additional_context, note),
  };
  switch (mode) {
    case "warn":
      return { ...output, metadata };
    case "ask":
      return { ...output, decision: "ask", reason: fact, metadata };
    case "refuse":
      return {
        ...output,
        decision: "block",
        reason: `${fact} So this edit is refused. Work on another file until it is committed, or ask the user how to go on.`,
      };
    default:
      return mode satisfies never;
  }
}

const joinTexts = (before: string | undefined, added: string): string =>
  before === undefined ? added : `${before}\n${added}`;
