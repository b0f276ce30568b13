/** Presence on Windows: the last input, and whether the input desktop can be opened, which it cannot while locked. */
import type { PresenceReading } from "../../core/interfaces/index.ts";
import { win32 } from "../windows/win32.ts";

const lastInputInfoBytes = 8;
const desktopReadObjects = 0x0001;

export async function readWindowsPresence(): Promise<PresenceReading> {
  const info = Buffer.alloc(lastInputInfoBytes);
  info.writeUInt32LE(lastInputInfoBytes, 0);
  const hasInput = win32().GetLastInputInfo(info) !== 0;
  // Both count milliseconds since the start of Windows and wrap around after 49.7 days.
  const idleMs = hasInput ? (win32().GetTickCount() - info.readUInt32LE(4)) >>> 0 : null;
  const desktop = win32().OpenInputDesktop(0, 0, desktopReadObjects);
  const isLocked = !desktop;
  if (desktop) win32().CloseDesktop(desktop);
  return { idleMs, isLocked };
}
