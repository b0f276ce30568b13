/** What is noted quietly about a session's work: that it may be stuck, and files that another session has changed too. */
import { capitalize } from "../../core/text/words.ts";
import { formatRoughAge } from "../../core/view/figures.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import { formatSharedFiles, formatStuck } from "../../core/view/work-notes.ts";
import { cleanText } from "./format.ts";
import { slowNow } from "./state.ts";
import { Icon } from "./ui.tsx";

interface WorkNote {
  readonly icon: "clock" | "file";
  readonly text: string;
}

export const hasWorkNotes = ({ stuck, sharedFiles }: SessionView): boolean =>
  stuck !== undefined || sharedFiles !== undefined;

/** Their ages grow, so they are made again as time passes. */
function listNotes({ stuck, sharedFiles = [], cwd }: SessionView): WorkNote[] {
  const formatAge = (at: number) => formatRoughAge(Math.max(0, slowNow.value - at));
  return [
    ...(stuck
      ? [{ icon: "clock", text: capitalize(cleanText(formatStuck(stuck, formatAge))) } as const]
      : []),
    ...formatSharedFiles(sharedFiles, cwd, formatAge).map(
      (text) => ({ icon: "file", text: cleanText(text) }) as const,
    ),
  ];
}

export function WorkNotes({ session }: { readonly session: SessionView }) {
  return listNotes(session).map(({ icon, text }) => (
    <div key={text} class="l2 note cut" title={text}>
      <Icon of={icon} /> {text}
    </div>
  ));
}

/** Where a row has one line. */
export function WorkMarks({ session }: { readonly session: SessionView }) {
  if (!hasWorkNotes(session)) return null;
  return listNotes(session).map(({ icon, text }) => (
    <span key={text} class="noted" title={text}>
      <Icon of={icon} />
      <span class="hid">{text} </span>
    </span>
  ));
}
