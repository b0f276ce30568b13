/** The messages between the app (taskbar.ts) and the thread that owns the tray's window (tray-thread.ts). */
import type { UserAction } from "../../core/config/user-action.ts";
import type { NativeMenu } from "./menu.ts";

export interface Balloon {
  readonly key: string;
  readonly title: string;
  readonly text: string;
  readonly sound: boolean;
}

/** Everything that should be on the screen. */
export interface ShownView {
  /** An .ico file; null for no icon, unless a balloon needs one. */
  readonly icon: Uint8Array | null;
  readonly tip: string;
  readonly menu: NativeMenu;
  /** What a left click does; null if it opens the menu. */
  readonly leftClick: UserAction | null;
  readonly middleClick: UserAction | null;
  readonly balloon: Balloon | null;
}

export type ToThread = { readonly kind: "show"; readonly shown: ShownView } | { readonly kind: "stop" };

export type FromThread =
  | { readonly kind: "ready"; readonly window: bigint }
  /** The last "show" is on the screen, so the next one can be sent. */
  | { readonly kind: "shown" }
  | { readonly kind: "chosen"; readonly action: UserAction }
  | { readonly kind: "balloon"; readonly key: string; readonly event: BalloonEvent }
  /** The user clicked on a toast, and `beckon click` forwarded its id. */
  | { readonly kind: "toast-clicked"; readonly id: string }
  | { readonly kind: "problem"; readonly text: string }
  | { readonly kind: "stopped" }
  | { readonly kind: "died"; readonly reason: string };

export type BalloonEvent = "clicked" | "expired";

export const windowClassName = "beckon.tray";
/** Registered by name, so that `beckon click` gets the same number. Its two parameters are the toast's id. */
export const toastClickedMessage = "beckon.toast-clicked";
/** WM_APP + n: private to our window. */
export const wakeMessage = 0x8001;
export const trayMessage = 0x8002;
