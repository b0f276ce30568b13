/** A Worker that owns the tray's window: an open menu has its own message loop, which would block the receiver. */
import { JSCallback, ptr } from "bun:ffi";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { MF_POPUP, type NativeRow } from "./menu.ts";
import {
  type BalloonEvent,
  type FromThread,
  type ShownView,
  type ToThread,
  toastClickedMessage,
  trayMessage,
  wakeMessage,
  windowClassName,
} from "./thread-messages.ts";
import { createTaskbarIcon } from "./tray-icon.ts";
import {
  createWindowClass,
  findDefaultProcedure,
  messageBytes,
  setWindowProcedure,
  toWide,
  win32,
} from "./win32.ts";

declare const self: Worker;

const WM_NULL = 0x0;
const WM_CONTEXTMENU = 0x7b;
const WM_MBUTTONUP = 0x208;
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

/** How often it asks the taskbar whether it still has the icon: a restarted explorer.exe does not. */
const checkMs = 2_000;

const send = (message: FromThread): void => self.postMessage(message);

/** Sent instead of thrown: Bun prints kilobytes of source for an uncaught error in a minified binary. */
function die(error: unknown): never {
  send({ kind: "died", reason: String(error) });
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
  let isIconShown = true;
  let isMenuOpen = false;
  let isStopped = false;
  let failure: unknown = null;

  // Sharp icons on every screen. This affects only this thread.
  system.SetThreadDpiAwarenessContext(perMonitorAware);
  const toastClicked = system.RegisterWindowMessageW(toWide(toastClickedMessage));
  const window = createWindow();
  const taskbarIcon = createTaskbarIcon(window);
  const procedure = new JSCallback(onWindowMessage, { args: ["u64", "u32", "u64", "u64"], returns: "i64" });
  setWindowProcedure(window, BigInt(procedure.ptr ?? 0));
  send({ kind: "ready", window });
  setImmediate(loop);

  /** Waits in Windows for messages, and gives JavaScript a turn after each batch. */
  function loop(): void {
    try {
      system.MsgWaitForMultipleObjectsEx(0, null, checkMs, QS_ALLINPUT, MWMO_INPUTAVAILABLE);
      const message = Buffer.alloc(messageBytes);
      while (system.PeekMessageW(message, 0n, 0, 0, PM_REMOVE)) {
        system.TranslateMessage(message);
        system.DispatchMessageW(message);
      }
      readInbox();
      restoreIcon();
      if (failure !== null) throw failure;
    } catch (error) {
      cleanUp();
      die(error);
    }
    if (!isStopped) setImmediate(loop);
    else {
      cleanUp();
      send({ kind: "stopped" });
      process.exit(0);
    }
  }

  /** Called by Windows, also while a menu is open. It must not throw. */
  function onWindowMessage(target: bigint, kind: number, first: bigint, second: bigint): bigint {
    try {
      if (kind === wakeMessage) readInbox();
      else if (kind === trayMessage) onTrayEvent(Number(second & 0xffffn), first);
      else if (kind === toastClicked) send({ kind: "toast-clicked", id: formatToastId(first, second) });
      else return system.DefWindowProcW(target, kind, first, second);
    } catch (error) {
      failure ??= error;
    }
    return 0n;
  }

  /** The last view counts. While a menu is open, the icon changes and the menu does not. */
  function readInbox(): void {
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
      send({ kind: "shown" });
    }
  }

  function show(wanted: ShownView): void {
    const wasShown = isIconShown;
    isIconShown = taskbarIcon.show(wanted);
    if (wasShown && !isIconShown) {
      send({ kind: "problem", text: "no taskbar takes the tray icon: beckon tries again every 2 s" });
    }
  }

  let checkedAt = performance.now();
  function restoreIcon(): void {
    if (shown === null || performance.now() - checkedAt < checkMs) return;
    checkedAt = performance.now();
    if (!isIconShown || !taskbarIcon.isShown()) show(shown);
  }

  /** The window first: if Windows called into a thread that has ended, the whole app would crash. */
  function cleanUp(): void {
    setWindowProcedure(window, findDefaultProcedure());
    taskbarIcon.remove();
    system.DestroyWindow(window);
    procedure.close();
    inbox.close();
  }

  function onTrayEvent(event: number, anchor: bigint): void {
    const action =
      event === NIN_SELECT ? shown?.leftClick : event === WM_MBUTTONUP ? shown?.middleClick : null;
    if (action) send({ kind: "chosen", action });
    else if (event === WM_CONTEXTMENU || event === NIN_SELECT || event === NIN_KEYSELECT) {
      if (!isMenuOpen) openMenu(toSigned(anchor), toSigned(anchor >> 16n));
    } else if (event === NIN_BALLOONUSERCLICK) onBalloon("clicked");
    else if (event === NIN_BALLOONTIMEOUT) onBalloon("expired");
  }

  function onBalloon(event: BalloonEvent): void {
    const key = shown?.balloon?.key;
    if (key !== undefined) send({ kind: "balloon", key, event });
  }

  /** Returns when the user has chosen a row or closed the menu. */
  function openMenu(x: number, y: number): void {
    if (shown === null || shown.menu.rows.length === 0) return;
    const { rows, actions } = shown.menu;
    const menu = createMenu(rows);
    isMenuOpen = true;
    // Without the focus a click elsewhere would not close the menu; without the WM_NULL below the next one might not open:
    // https://learn.microsoft.com/en-us/windows/win32/api/winuser/nf-winuser-trackpopupmenu
    system.SetForegroundWindow(window);
    const flags = TPM_RIGHTBUTTON | TPM_NONOTIFY | TPM_RETURNCMD;
    const command = system.TrackPopupMenuEx(menu, flags, x, y, window, null);
    isMenuOpen = false;
    system.PostMessageW(window, WM_NULL, 0n, 0n);
    system.DestroyMenu(menu);
    const action = actions[command - 1];
    if (action !== undefined) send({ kind: "chosen", action });
  }

  /** Destroying a menu destroys its submenus. */
  function createMenu(rows: readonly NativeRow[]): bigint {
    const menu = system.CreatePopupMenu();
    for (const { flags, label, command, children } of rows) {
      const target = flags & MF_POPUP ? createMenu(children) : BigInt(command);
      system.AppendMenuW(menu, flags, target, toWide(label));
    }
    return menu;
  }
}

function createWindow(): bigint {
  const system = win32();
  const module = system.GetModuleHandleW(null);
  const name = toWide(windowClassName);
  // A class outlives its thread, so it must not refer to the thread's code. A restarted thread finds it registered.
  system.RegisterClassExW(createWindowClass(findDefaultProcedure(), module, ptr(name)));
  const window = system.CreateWindowExW(0, name, toWide("beckon"), 0, 0, 0, 0, 0, 0n, 0n, module, null);
  if (window === 0n) throw new Error("Windows did not create the tray's window");
  return window;
}

const toSigned = (value: bigint): number => Number(BigInt.asIntN(16, value));

const formatToastId = (first: bigint, second: bigint): string =>
  [first, second].map((half) => half.toString(16).padStart(16, "0")).join("");
