/** The windows on the desktop, and how one comes to the front. */
import type { WindowInfo } from "../terminals/plan.ts";
import { textIn } from "./layout.ts";
import { lineageOf } from "./processes.ts";
import { win32 } from "./win32.ts";

const GW_OWNER = 4;
const SW_RESTORE = 9;
const VK_MENU = 0x12;
const KEYEVENTF_KEYUP = 0x2;
const maxTitleUnits = 512;
const maxWindows = 4_096;
const settleMs = 150;

/** Those that a person can switch to; the most recently used last. */
export function listWindows(): WindowInfo[] {
  const system = win32();
  const front = system.GetForegroundWindow();
  const found: WindowInfo[] = [];
  // From the top down.
  let window = system.FindWindowExW(0n, 0n, null, null);
  for (let count = 0; window !== 0n && count < maxWindows; count++) {
    if (system.IsWindowVisible(window) && system.GetWindow(window, GW_OWNER) === 0n) {
      const pid = Buffer.alloc(4);
      const title = Buffer.alloc(maxTitleUnits * 2);
      system.GetWindowThreadProcessId(window, pid);
      // Without a title it is the desktop, the taskbar, or part of something else.
      if (system.GetWindowTextW(window, title, maxTitleUnits) > 0) {
        const active = window === front;
        found.push({ id: String(window), pid: pid.readUInt32LE(0), title: textIn(title), active });
      }
    }
    window = system.FindWindowExW(0n, window, null, null);
  }
  return found.reverse();
}

/** Whether it has the keyboard now. Windows lets only those take it whom the person has just dealt with: so, by degrees. */
export async function activateWindow(id: string): Promise<boolean> {
  if (!/^[1-9]\d{0,19}$/.test(id)) return false;
  const system = win32();
  const window = BigInt(id);
  const isFront = (): boolean => system.GetForegroundWindow() === window;
  if (system.IsIconic(window)) system.ShowWindow(window, SW_RESTORE);
  if (isFront()) return true;
  for (const attempt of [switchTo, asTheOneInFront, asIfAltWasPressed]) {
    attempt(window);
    if (await soon(isFront)) return true;
  }
  return false;
}

function switchTo(window: bigint): void {
  win32().SwitchToThisWindow(window, 1);
  win32().SetForegroundWindow(window);
}

/** Sharing the input of the thread in front, we count as it. */
function asTheOneInFront(window: bigint): void {
  const system = win32();
  const theirs = system.GetWindowThreadProcessId(system.GetForegroundWindow(), null);
  const ours = system.GetCurrentThreadId();
  const isAttached = theirs !== 0 && theirs !== ours && system.AttachThreadInput(ours, theirs, 1) !== 0;
  system.BringWindowToTop(window);
  system.SetForegroundWindow(window);
  if (isAttached) system.AttachThreadInput(ours, theirs, 0);
}

/** Windows takes a key for the person's own word. */
function asIfAltWasPressed(window: bigint): void {
  const system = win32();
  system.keybd_event(VK_MENU, 0, 0, 0n);
  system.SetForegroundWindow(window);
  system.keybd_event(VK_MENU, 0, KEYEVENTF_KEYUP, 0n);
  system.SetForegroundWindow(window);
}

async function soon(check: () => boolean): Promise<boolean> {
  const until = performance.now() + settleMs;
  while (!check()) {
    if (performance.now() > until) return false;
    await Bun.sleep(10);
  }
  return true;
}

/** The window of the process, or of the nearest of its parents that has one: a terminal's shell has none itself. */
export async function raiseWindowOfPid(pid: number): Promise<"raised" | "refused" | "several" | "none"> {
  const windows = listWindows();
  for (const process of lineageOf(pid)) {
    const theirs = windows.filter((window) => window.pid === process.pid);
    const [only] = theirs;
    if (only === undefined) continue;
    if (theirs.length > 1) return "several";
    return (await activateWindow(only.id)) ? "raised" : "refused";
  }
  return "none";
}
