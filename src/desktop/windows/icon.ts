/** The icon in the notification area, with its tooltip and balloon. */
import { pictureFor } from "./ico.ts";
import { type NotifyIcon, notifyIconData } from "./layout.ts";
import { type Balloon, type ShownView, trayMessage } from "./messages.ts";
import { win32 } from "./win32.ts";

const NIM_ADD = 0;
const NIM_MODIFY = 1;
const NIM_DELETE = 2;
const NIM_SETVERSION = 4;
const NIF_MESSAGE = 0x1;
const NIF_ICON = 0x2;
const NIF_TIP = 0x4;
const NIF_INFO = 0x10;
const NIF_SHOWTIP = 0x80;
/** The tray's own icon. */
const NIIF_USER = 0x4;
const NIIF_NOSOUND = 0x10;
const SM_CXSMICON = 49;

const noIcon = 0n;
const iconId = 1;

export interface TrayArea {
  /** False: there is no taskbar to show it in. */
  show(shown: ShownView): boolean;
  /** As the taskbar says: it may be another by now. */
  isThere(): boolean;
  remove(): void;
}

export function createTrayArea(window: bigint): TrayArea {
  const system = win32();
  let handle = noIcon;
  let drawn: Uint8Array | null = null;
  let isAdded = false;
  let balloon: Balloon | null = null;

  const tell = (what: number, values: Omit<NotifyIcon, "window" | "id">): boolean =>
    system.Shell_NotifyIconW(what, notifyIconData({ window, id: iconId, ...values })) !== 0;

  /** Destroyed only once the next is shown: the taskbar may still draw it. */
  function redraw(ico: Uint8Array): bigint {
    const old = handle;
    handle = createIcon(ico);
    drawn = ico;
    return old;
  }

  function showIcon({ icon, tip }: ShownView): boolean {
    const old = icon !== null && !isSame(icon, drawn) ? redraw(icon) : noIcon;
    const values = {
      flags: NIF_MESSAGE | NIF_ICON | NIF_TIP | NIF_SHOWTIP,
      callbackMessage: trayMessage,
      icon: handle,
      tip,
    };
    isAdded = isAdded && tell(NIM_MODIFY, values);
    if (!isAdded) {
      isAdded = tell(NIM_ADD, values);
      // Version 4: keyboard and mouse both say "menu", and say where.
      if (isAdded) tell(NIM_SETVERSION, { flags: 0, version: 4 });
      balloon = null;
    }
    if (old !== noIcon) system.DestroyIcon(old);
    return isAdded;
  }

  function showBalloon(wanted: Balloon | null): void {
    if (JSON.stringify(wanted) === JSON.stringify(balloon)) return;
    balloon = wanted;
    // An empty text takes the balloon away.
    const { title = "", text = "", sound = false } = wanted ?? {};
    const flags = NIIF_USER | (sound ? 0 : NIIF_NOSOUND);
    tell(NIM_MODIFY, { flags: NIF_INFO, balloon: { title, text: wanted && !text ? " " : text, flags } });
  }

  function remove(): void {
    if (isAdded) tell(NIM_DELETE, { flags: 0 });
    isAdded = false;
    if (handle !== noIcon) system.DestroyIcon(handle);
    handle = noIcon;
    drawn = null;
  }

  return {
    show(shown) {
      if (shown.icon === null && shown.balloon === null) {
        remove();
        return true;
      }
      const isThere = showIcon(shown);
      if (isThere) showBalloon(shown.balloon);
      return isThere;
    },
    isThere: () => !isAdded || tell(NIM_MODIFY, { flags: 0 }),
    remove,
  };
}

function isSame(a: Uint8Array, b: Uint8Array | null): boolean {
  return b !== null && Buffer.compare(a, b) === 0;
}

/** 0: Windows could not read it, and shows an empty place. */
function createIcon(ico: Uint8Array): bigint {
  const system = win32();
  const size = system.GetSystemMetrics(SM_CXSMICON);
  const picture = pictureFor(ico, size);
  if (picture === null) return noIcon;
  const isIcon = 1;
  const format = 0x30000;
  return system.CreateIconFromResourceEx(picture.bytes, picture.bytes.length, isIcon, format, size, size, 0);
}
