import type { UserAction } from "../../core/config/user-action.ts";
import type { NativeMenu } from "./menu.ts";

export interface Balloon {
  readonly key: string;
  readonly title: string;
  readonly text: string;
  readonly sound: boolean;
}

/** All there should be on the screen. */
export interface ShownView {
  /** An .ico file; null: no icon, unless a balloon needs one to hang on. */
  readonly icon: Uint8Array | null;
  readonly tip: string;
  readonly menu: NativeMenu;
  readonly balloon: Balloon | null;
}

export type ToThread = { readonly kind: "show"; readonly shown: ShownView } | { readonly kind: "stop" };

export type FromThread =
  | { readonly kind: "ready"; readonly window: bigint }
  /** The last "show" is on the screen: the next may come. */
  | { readonly kind: "shown" }
  | { readonly kind: "chosen"; readonly action: UserAction }
  | { readonly kind: "balloon"; readonly key: string; readonly what: "clicked" | "expired" }
  /** `beckon click` was started by the click on a toast. */
  | { readonly kind: "toast-clicked"; readonly id: string }
  | { readonly kind: "problem"; readonly text: string }
  | { readonly kind: "stopped" }
  | { readonly kind: "died"; readonly why: string };

export const windowClassName = "beckon.tray";
/** Registered by name, so that `beckon click` finds the same number. Its two parameters are the toast's id. */
export const toastClickedMessage = "beckon.toast-clicked";
/** WM_APP + n: private to our window. */
export const wakeMessage = 0x8001;
export const trayMessage = 0x8002;
