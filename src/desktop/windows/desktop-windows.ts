/** Lists the windows on the desktop and brings one to the front. */
import type { WindowInfo } from "../../core/terminals/plan.ts";
import { waitUntil } from "../../system/schedule.ts";
import { readWide, win32 } from "./win32.ts";

const GW_OWNER = 4;
const SW_RESTORE = 9;
const VK_MENU = 0x12;
const KEYEVENTF_KEYUP = 0x2;
const maxTitleUnits = 512;
const maxWindows = 4_096;
const settleMs = 150;

/** The windows that a user can switch to; the most recently used one last. */
export function listWindows(): WindowInfo[] {
  const system = win32();
  const foreground = system.GetForegroundWindow();
  const windows: WindowInfo[] = [];
  // In order from the top.
  let window = system.FindWindowExW(0n, 0n, null, null);
  for (let count = 0; window !== 0n && count < maxWindows; count++) {
    if (system.IsWindowVisible(window) && system.GetWindow(window, GW_OWNER) === 0n) {
      const pid = Buffer.alloc(4);
      const title = Buffer.alloc(maxTitleUnits * 2);
      system.GetWindowThreadProcessId(window, pid);
      // The desktop, the taskbar and parts of other windows have no title.
      if (system.GetWindowTextW(window, title, maxTitleUnits) > 0) {
        const active = window === foreground;
        windows.push({ id: String(window), pid: pid.readUInt32LE(0), title: readWide(title), active });
      }
    }
    window = system.FindWindowExW(0n, window, null, null);
  }
  return windows.reverse();
}

/**
 * Returns whether the window has the keyboard now. Windows lets a program take it only if the user has just used that
 * program, so this tries several ways: https://learn.microsoft.com/en-us/windows/win32/api/winuser/nf-winuser-setforegroundwindow
 */
export async function activateWindow(id: string): Promise<boolean> {
  if (!/^[1-9]\d{0,19}$/.test(id)) return false;
  const system = win32();
  const window = BigInt(id);
  const isForeground = (): boolean => system.GetForegroundWindow() === window;
  if (system.IsIconic(window)) system.ShowWindow(window, SW_RESTORE);
  if (isForeground()) return true;
  for (const attempt of [switchToWindow, attachAndRaise, pressAltAndRaise]) {
    attempt(window);
    if (await waitUntil(isForeground, { atMostMs: settleMs, everyMs: 10 })) return true;
  }
  return false;
}

function switchToWindow(window: bigint): void {
  win32().SwitchToThisWindow(window, 1);
  win32().SetForegroundWindow(window);
}

/** A thread that shares the input of the foreground thread has its rights. */
function attachAndRaise(window: bigint): void {
  const system = win32();
  const foregroundThread = system.GetWindowThreadProcessId(system.GetForegroundWindow(), null);
  const ownThread = system.GetCurrentThreadId();
  const isAttached =
    foregroundThread !== 0 &&
    foregroundThread !== ownThread &&
    system.AttachThreadInput(ownThread, foregroundThread, 1) !== 0;
  system.BringWindowToTop(window);
  system.SetForegroundWindow(window);
  if (isAttached) system.AttachThreadInput(ownThread, foregroundThread, 0);
}

/** Windows lets a program take the keyboard after a key press. */
function pressAltAndRaise(window: bigint): void {
  const system = win32();
  system.keybd_event(VK_MENU, 0, 0, 0n);
  system.SetForegroundWindow(window);
  system.keybd_event(VK_MENU, 0, KEYEVENTF_KEYUP, 0n);
  system.SetForegroundWindow(window);
}
