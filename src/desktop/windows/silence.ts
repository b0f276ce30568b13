/** Has the person asked Windows for silence? */
import { win32 } from "./win32.ts";

const states: Readonly<Record<number, boolean>> = {
  /** Locked, or the screen saver: nobody sees it, but it should be there when they come back. */
  1: false,
  /** A full screen of something. */
  2: true,
  /** A full-screen game. */
  3: true,
  /** Presentation mode. */
  4: true,
  5: false,
  /** The quiet first hours after Windows was set up. */
  6: true,
  /** An app of the Store is running, which is no wish. */
  7: false,
};

/** null: Windows does not say. Of Focus assist it tells nobody: toasts heed that by themselves. */
export function isSilenced(): boolean | null {
  const state = Buffer.alloc(4);
  if (win32().SHQueryUserNotificationState(state) !== 0) return null;
  return states[state.readInt32LE(0)] ?? null;
}
