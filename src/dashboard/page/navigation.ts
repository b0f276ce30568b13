/** Moving around on the page: the details of a session, the search, light and dark. */
import { signal } from "@preact/signals";
import { loadSession } from "./connection.ts";
import { markLooked } from "./looked.ts";
import { readSaved, save } from "./saved.ts";
import { moment, openedKey } from "./state.ts";
import { view } from "./view.ts";

/** What had the focus before a panel was opened; it gets it back. */
let focusedBefore: HTMLElement | null = null;

export function rememberFocus(): void {
  focusedBefore = document.activeElement instanceof HTMLElement ? document.activeElement : null;
}

export function restoreFocus(): void {
  focusedBefore?.focus({ preventScroll: true });
  focusedBefore = null;
}

export function openSession(key: string): void {
  // Its details are those of now.
  if (moment.value !== null) return;
  if (openedKey.value === null) rememberFocus();
  openedKey.value = key;
  markLooked(key);
  loadSession(key);
}

export function closeSession(): void {
  if (openedKey.value === null) return;
  openedKey.value = null;
  restoreFocus();
}

export function openSettings(): void {
  location.hash = "settings";
}

export function closeSettings(): void {
  location.hash = "needs-you";
}

/** The box for the next prompt takes the focus as soon as it is there. */
export const isPromptWanted = signal(false);

export function goToPrompt(key: string): void {
  openSession(key);
  isPromptWanted.value = true;
}

/** The search of the history takes the focus as soon as it is there. */
export const isSearchWanted = signal(false);

export function goToSearch(): void {
  if (view.value === "settings") {
    document.querySelector<HTMLElement>(".set-nav input")?.focus();
    return;
  }
  location.hash = "#history";
  view.value = "history";
  isSearchWanted.value = true;
}

type Theme = "light" | "dark";

const themeName = "theme";
const readTheme = (): Theme | null => {
  const stored = readSaved(themeName);
  return stored === "light" || stored === "dark" ? stored : null;
};

/** null: as the system is. */
const theme = signal<Theme | null>(readTheme());

export function applyTheme(): void {
  if (theme.value === null) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

export function switchTheme(): void {
  const isSystemDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const shown = theme.value ?? (isSystemDark ? "dark" : "light");
  theme.value = shown === "dark" ? "light" : "dark";
  save(themeName, theme.value);
  applyTheme();
}
