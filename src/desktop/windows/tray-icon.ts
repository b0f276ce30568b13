/** The icon in the taskbar's notification area, with its tooltip and balloon. */
import { type Balloon, type ShownView, trayMessage } from "./thread-messages.ts";
import { createNotifyIconData, type NotifyIcon, win32 } from "./win32.ts";

const NIM_ADD = 0;
const NIM_MODIFY = 1;
const NIM_DELETE = 2;
const NIM_SETVERSION = 4;
const NIF_MESSAGE = 0x1;
const NIF_ICON = 0x2;
const NIF_TIP = 0x4;
const NIF_INFO = 0x10;
const NIF_SHOWTIP = 0x80;
/** The balloon shows the tray's own icon. */
const NIIF_USER = 0x4;
const NIIF_NOSOUND = 0x10;
const SM_CXSMICON = 49;

const noIcon = 0n;
const iconId = 1;

export interface TaskbarIcon {
  /** Returns false if there is no taskbar to show it in. */
  show(shown: ShownView): boolean;
  /** Asks the taskbar, which may have been restarted. */
  isShown(): boolean;
  remove(): void;
}

export function createTaskbarIcon(window: bigint): TaskbarIcon {
  const system = win32();
  let handle = noIcon;
  let drawn: Uint8Array | null = null;
  let isAdded = false;
  let balloon: Balloon | null = null;

  const notify = (message: number, values: Omit<NotifyIcon, "window" | "id">): boolean =>
    system.Shell_NotifyIconW(message, createNotifyIconData({ window, id: iconId, ...values })) !== 0;

  /** Returns the old handle, to be destroyed when the new icon is shown: the taskbar may still draw it. */
  function replaceIcon(ico: Uint8Array): bigint {
    const old = handle;
    handle = createIcon(ico);
    drawn = ico;
    return old;
  }

  function showIcon({ icon, tip }: ShownView): boolean {
    const old = icon !== null && !isSame(icon, drawn) ? replaceIcon(icon) : noIcon;
    const values = {
      flags: NIF_MESSAGE | NIF_ICON | NIF_TIP | NIF_SHOWTIP,
      callbackMessage: trayMessage,
      icon: handle,
      tip,
    };
    isAdded = isAdded && notify(NIM_MODIFY, values);
    if (!isAdded) {
      isAdded = notify(NIM_ADD, values);
      // In version 4 keyboard and mouse both open the menu, and its position is sent. Each new icon has to ask for it:
      // https://learn.microsoft.com/windows/win32/api/shellapi/nf-shellapi-shell_notifyicona
      if (isAdded) notify(NIM_SETVERSION, { flags: 0, version: 4 });
      balloon = null;
    }
    if (old !== noIcon) system.DestroyIcon(old);
    return isAdded;
  }

  function showBalloon(wanted: Balloon | null): void {
    if (JSON.stringify(wanted) === JSON.stringify(balloon)) return;
    balloon = wanted;
    // An empty text removes the balloon.
    const { title = "", text = "", sound = false } = wanted ?? {};
    const flags = NIIF_USER | (sound ? 0 : NIIF_NOSOUND);
    notify(NIM_MODIFY, { flags: NIF_INFO, balloon: { title, text: wanted && !text ? " " : text, flags } });
  }

  function remove(): void {
    if (isAdded) notify(NIM_DELETE, { flags: 0 });
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
      const isIconShown = showIcon(shown);
      if (isIconShown) showBalloon(shown.balloon);
      return isIconShown;
    },
    isShown: () => !isAdded || notify(NIM_MODIFY, { flags: 0 }),
    remove,
  };
}

function isSame(a: Uint8Array, b: Uint8Array | null): boolean {
  return b !== null && Buffer.compare(a, b) === 0;
}

/** Returns 0 if Windows cannot read it: the icon is then empty. */
function createIcon(ico: Uint8Array): bigint {
  const system = win32();
  const size = system.GetSystemMetrics(SM_CXSMICON);
  const picture = selectPicture(ico, size);
  if (picture === null) return noIcon;
  const isIcon = 1;
  const format = 0x30000;
  return system.CreateIconFromResourceEx(picture.bytes, picture.bytes.length, isIcon, format, size, size, 0);
}

export interface IcoPicture {
  readonly size: number;
  /** A bitmap or a PNG, as CreateIconFromResourceEx takes it. */
  readonly bytes: Uint8Array;
}

/** Returns the pictures of an .ico file, none if it is damaged. */
export function readIcoPictures(ico: Uint8Array): IcoPicture[] {
  const view = new DataView(ico.buffer, ico.byteOffset, ico.byteLength);
  if (ico.length < 6 || view.getUint16(0, true) !== 0 || view.getUint16(2, true) !== 1) return [];
  const pictures: IcoPicture[] = [];
  for (let index = 0; index < view.getUint16(4, true); index++) {
    const entry = 6 + index * 16;
    if (entry + 16 > ico.length) break;
    const start = view.getUint32(entry + 12, true);
    const end = start + view.getUint32(entry + 8, true);
    // 0 stands for 256.
    if (end <= ico.length) pictures.push({ size: ico[entry] || 256, bytes: ico.subarray(start, end) });
  }
  return pictures;
}

/** Returns the picture of that size, else the next larger one, else the largest one. */
export function selectPicture(ico: Uint8Array, size: number): IcoPicture | null {
  const bySize = readIcoPictures(ico).sort((a, b) => a.size - b.size);
  return bySize.find((picture) => picture.size >= size) ?? bySize.at(-1) ?? null;
}
