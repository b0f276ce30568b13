/** `beckon click LINK`: what Windows starts when a toast is clicked. */
import { wide } from "./layout.ts";
import { toastClickedMessage, windowClassName } from "./messages.ts";
import { idIn } from "./toast.ts";
import { win32 } from "./win32.ts";

/**
 * Hands the toast's id to every beckon of this person's that shows a tray; the one that made it knows it. False: nobody is
 * there, or it is no link of ours: any page in a browser can have this started, with any text.
 */
export function handOver(args: readonly string[]): boolean {
  const id = args.length === 1 ? idIn(args[0] ?? "") : null;
  if (id === null) return false;
  const system = win32();
  const message = system.RegisterWindowMessageW(wide(toastClickedMessage));
  const className = wide(windowClassName);
  const halves = [BigInt(`0x${id.slice(0, 16)}`), BigInt(`0x${id.slice(16)}`)] as const;
  let isHandedOver = false;
  let window = system.FindWindowExW(0n, 0n, className, null);
  while (window !== 0n) {
    const pid = Buffer.alloc(4);
    system.GetWindowThreadProcessId(window, pid);
    // The click was ours to act on: without this word the app may not bring a terminal to the front.
    system.AllowSetForegroundWindow(pid.readUInt32LE(0));
    isHandedOver = system.PostMessageW(window, message, halves[0], halves[1]) !== 0 || isHandedOver;
    window = system.FindWindowExW(0n, window, className, null);
  }
  return isHandedOver;
}
