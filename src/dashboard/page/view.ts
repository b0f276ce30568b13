/** Which part of the page is on the screen. It is in the address, so that Back works. */
import { signal } from "@preact/signals";
import { openedKey } from "./state.ts";

export type View = "sessions" | "history" | "team" | "rules" | "settings";

/** `#settings-alerts` is a part of the settings; every other section belongs to the sessions. */
function readView(): View {
  if (/^#settings\b/.test(location.hash)) return "settings";
  if (location.hash === "#team") return "team";
  if (location.hash === "#rules") return "rules";
  return location.hash === "#history" ? "history" : "sessions";
}

export const view = signal<View>(readView());

/** The section that an address names is on the screen only after the next frame. */
export function followAddress(): void {
  addEventListener("hashchange", () => {
    const before = view.value;
    view.value = readView();
    if (view.value === before) return;
    if (view.value === "settings") openedKey.value = null;
    const id = location.hash.slice(1);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        const section =
          view.value === "sessions" || view.value === "settings" ? document.getElementById(id) : null;
        if (section) section.scrollIntoView();
        else scrollTo(0, 0);
      }),
    );
  });
}
