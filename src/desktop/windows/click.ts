/** `beckon click LINK`: Windows starts it when the user clicks on a toast. */
import { toastClickedMessage, windowClassName } from "./thread-messages.ts";
import { parseToastLink } from "./toasts.ts";
import { toWide, win32 } from "./win32.ts";

/**
 * Sends the toast's id to every running beckon of this user with a tray; only the one that made the toast knows the id.
 * Returns false if none runs, or if it is not one of our links: any web page can open `beckon:` with any text.
 */
export function forwardToastClick(args: readonly string[]): boolean {
  const id = args.length === 1 ? parseToastLink(args[0] ?? "") : null;
  if (id === null) return false;
  const system = win32();
  const message = system.RegisterWindowMessageW(toWide(toastClickedMessage));
  const className = toWide(windowClassName);
  const halves = [BigInt(`0x${id.slice(0, 16)}`), BigInt(`0x${id.slice(16)}`)] as const;
  let isForwarded = false;
  let window = system.FindWindowExW(0n, 0n, className, null);
  while (window !== 0n) {
    const pid = Buffer.alloc(4);
    system.GetWindowThreadProcessId(window, pid);
    // The user's click allows this process to bring a window to the front: this passes the permission on to the app.
    system.AllowSetForegroundWindow(pid.readUInt32LE(0));
    isForwarded = system.PostMessageW(window, message, halves[0], halves[1]) !== 0 || isForwarded;
    window = system.FindWindowExW(0n, window, className, null);
  }
  return isForwarded;
}
