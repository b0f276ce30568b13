/** Whether the user is at the desk: the time since their last input, and whether the screen is locked. */
import type { PresenceReading, ReadPresence } from "../../core/interfaces/index.ts";
import { waitAtMost } from "../../system/schedule.ts";
import type { PresenceOptions } from "./linux.ts";

const unknown: PresenceReading = { idleMs: null, isLocked: null };
/** A system that does not answer within this time is unknown. */
const answerMs = 300;

/** Each system loads only its own reader. */
async function loadReader(options: PresenceOptions): Promise<ReadPresence> {
  if (process.platform === "linux") return (await import("./linux.ts")).createLinuxPresence(options);
  if (process.platform === "darwin") return (await import("./macos.ts")).createMacPresence(options);
  if (process.platform === "win32") return (await import("./windows.ts")).readWindowsPresence;
  return async () => unknown;
}

export function createPresence(options: PresenceOptions): ReadPresence {
  let loading: Promise<ReadPresence> | null = null;
  return async () => {
    loading ??= loadReader(options);
    const reading = loading.then((read) => read()).catch(() => unknown);
    return (await waitAtMost(answerMs, reading)) ?? unknown;
  };
}
