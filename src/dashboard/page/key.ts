/**
 * The key with which this tab shows beckon that it is its page. It is kept in memory, and in the tab's own storage only while the page
 * is loaded again: other pages at this address, which another program served while beckon was stopped, cannot read it.
 */
import { signal } from "@preact/signals";

const keyName = "page-key";

let key = "";

/** A page that was opened with a code has its key in a meta element. */
export function takeKey(): void {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="page-key"]');
  key = meta?.content || (sessionStorage.getItem(keyName) ?? "");
  meta?.remove();
  sessionStorage.removeItem(keyName);
  addEventListener("pagehide", () => sessionStorage.setItem(keyName, key));
  addEventListener("pageshow", () => sessionStorage.removeItem(keyName));
  // What the address has counts once, so it would not work again.
  if (location.search !== "") history.replaceState(null, "", location.pathname + location.hash);
}

export function setKey(renewed: string): void {
  key = renewed;
}

/** beckon has no service worker: another program's reads what this page sends and gets. */
const hasWorker = (): boolean => (navigator.serviceWorker?.controller ?? null) !== null;

export const isIntercepted = signal(hasWorker());
navigator.serviceWorker?.addEventListener("controllerchange", () => {
  isIntercepted.value = hasWorker();
});

export const pageHeaders = (): Record<string, string> => (hasWorker() ? {} : { "x-beckon-page": key });
