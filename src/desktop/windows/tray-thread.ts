/** A Worker that owns the tray's window: an open menu has a message loop of its own, and would stop the receiver. */
import { JSCallback, ptr } from "bun:ffi";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { createTrayArea } from "./icon.ts";
import { messageBytes, wide, windowClass } from "./layout.ts";
import { MF_POPUP, type NativeRow } from "./menu.ts";
import {
  type FromThread,
  type ShownView,
  type ToThread,
  toastClickedMessage,
  trayMessage,
  wakeMessage,
  windowClassName,
} from "./messages.ts";
import { addressOfDefWindowProc, setProcedure, win32 } from "./win32.ts";

declare const self: Worker;

const WM_NULL = 0x0;
const WM_CONTEXTMENU = 0x7b;
const NIN_SELECT = 0x400;
const NIN_KEYSELECT = 0x401;
const NIN_BALLOONTIMEOUT = 0x404;
const NIN_BALLOONUSERCLICK = 0x405;
const TPM_RIGHTBUTTON = 0x2;
const TPM_NONOTIFY = 0x80;
const TPM_RETURNCMD = 0x100;
const QS_ALLINPUT = 0x4ff;
const MWMO_INPUTAVAILABLE = 0x4;
const PM_REMOVE = 0x1;
const perMonitorAware = 0xfffffffffffffffcn;

/** How often the taskbar is asked whether it still has the icon: explorer.exe dies and comes again without it. */
const checkMs = 2_000;

const say = (message: FromThread): void => self.postMessage(message);

/** Said rather than thrown: what Bun tells of an error in a minified binary is kilobytes of source. */
function die(error: unknown): never {
  say({ kind: "died", why: String(error) });
  process.exit(1);
}

self.onmessage = ({ data }: MessageEvent<{ port: MessagePort }>) => {
  try {
    run(data.port);
  } catch (error) {
    die(error);
  }
};

function run(inbox: MessagePort): void {
  const system = win32();
  let shown: ShownView | null = null;
  let isThere = true;
  let isMenuOpen = false;
  let isStopped = false;
  let broken: unknown = null;

  // Sharp on every screen; only this thread.
  system.SetThreadDpiAwarenessContext(perMonitorAware);
  const toastClicked = system.RegisterWindowMessageW(wide(toastClickedMessage));
  const window = createWindow();
  const area = createTrayArea(window);
  const procedure = new JSCallback(hear, { args: ["u64", "u32", "u64", "u64"], returns: "i64" });
  setProcedure(window, BigInt(procedure.ptr ?? 0));
  say({ kind: "ready", window });
  setImmediate(live);

  /** Sleeps in Windows until there is a message; then, for a moment, lets JavaScript have its turn. */
  function live(): void {
    try {
      system.MsgWaitForMultipleObjectsEx(0, null, checkMs, QS_ALLINPUT, MWMO_INPUTAVAILABLE);
      const message = Buffer.alloc(messageBytes);
      while (system.PeekMessageW(message, 0n, 0, 0, PM_REMOVE)) {
        system.TranslateMessage(message);
        system.DispatchMessageW(message);
      }
      takeIn();
      keepThere();
      if (broken !== null) throw broken;
    } catch (error) {
      leave();
      die(error);
    }
    if (!isStopped) setImmediate(live);
    else {
      leave();
      say({ kind: "stopped" });
      process.exit(0);
    }
  }

  /** Windows calls it, also from within an open menu. Nothing may be thrown from here. */
  function hear(target: bigint, kind: number, first: bigint, second: bigint): bigint {
    try {
      if (kind === wakeMessage) takeIn();
      else if (kind === trayMessage) onTray(Number(second & 0xffffn), first);
      else if (kind === toastClicked) say({ kind: "toast-clicked", id: idOf(first, second) });
      else return system.DefWindowProcW(target, kind, first, second);
    } catch (error) {
      broken ??= error;
    }
    return 0n;
  }

  /** The last word counts. While a menu is open the icon changes, the menu does not. */
  function takeIn(): void {
    for (;;) {
      const received = receiveMessageOnPort(inbox) as { message: ToThread } | undefined;
      if (received === undefined) return;
      if (received.message.kind === "stop") {
        isStopped = true;
        if (isMenuOpen) system.EndMenu();
        return;
      }
      shown = received.message.shown;
      show(shown);
      say({ kind: "shown" });
    }
  }

  function show(wanted: ShownView): void {
    const wasThere = isThere;
    isThere = area.show(wanted);
    if (wasThere && !isThere) {
      say({ kind: "problem", text: "there is no taskbar that takes an icon: tried again every 2 s" });
    }
  }

  let checked = performance.now();
  function keepThere(): void {
    if (shown === null || performance.now() - checked < checkMs) return;
    checked = performance.now();
    if (!isThere || !area.isThere()) show(shown);
  }

  /** The window first: it would call into a thread that is no more, and take the whole app with it. */
  function leave(): void {
    setProcedure(window, addressOfDefWindowProc());
    area.remove();
    system.DestroyWindow(window);
    procedure.close();
    inbox.close();
  }

  function onTray(event: number, anchor: bigint): void {
    if (event === WM_CONTEXTMENU || event === NIN_SELECT || event === NIN_KEYSELECT) {
      if (!isMenuOpen) openMenu(signed(anchor), signed(anchor >> 16n));
    } else if (event === NIN_BALLOONUSERCLICK) onBalloon("clicked");
    else if (event === NIN_BALLOONTIMEOUT) onBalloon("expired");
  }

  function onBalloon(what: "clicked" | "expired"): void {
    const key = shown?.balloon?.key;
    if (key !== undefined) say({ kind: "balloon", key, what });
  }

  /** Until something is chosen or it is closed. */
  function openMenu(x: number, y: number): void {
    if (shown === null || shown.menu.rows.length === 0) return;
    const { rows, actions } = shown.menu;
    const menu = build(rows);
    isMenuOpen = true;
    // Without the focus a click elsewhere would not close it, and without a message after it the next one might not open.
    system.SetForegroundWindow(window);
    const flags = TPM_RIGHTBUTTON | TPM_NONOTIFY | TPM_RETURNCMD;
    const command = system.TrackPopupMenuEx(menu, flags, x, y, window, null);
    isMenuOpen = false;
    system.PostMessageW(window, WM_NULL, 0n, 0n);
    system.DestroyMenu(menu);
    const action = actions[command - 1];
    if (action !== undefined) say({ kind: "chosen", action });
  }

  /** Destroying a menu destroys those inside. */
  function build(rows: readonly NativeRow[]): bigint {
    const menu = system.CreatePopupMenu();
    for (const { flags, label, command, children } of rows) {
      const target = flags & MF_POPUP ? build(children) : BigInt(command);
      system.AppendMenuW(menu, flags, target, wide(label));
    }
    return menu;
  }
}

function createWindow(): bigint {
  const system = win32();
  const module = system.GetModuleHandleW(null);
  const name = wide(windowClassName);
  // A class outlives its thread, so none of the thread's code may be in it; one that starts again finds it there.
  system.RegisterClassExW(windowClass(addressOfDefWindowProc(), module, ptr(name)));
  const window = system.CreateWindowExW(0, name, wide("beckon"), 0, 0, 0, 0, 0, 0n, 0n, module, null);
  if (window === 0n) throw new Error("Windows gave no window for the tray");
  return window;
}

const signed = (value: bigint): number => Number(BigInt.asIntN(16, value));

const idOf = (first: bigint, second: bigint): string =>
  [first, second].map((half) => half.toString(16).padStart(16, "0")).join("");
