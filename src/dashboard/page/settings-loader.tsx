/** Loads the settings panel when it is first opened, and gives it what it needs of the page. */
import { signal } from "@preact/signals";
import { h } from "preact";
import { useEffect } from "preact/hooks";
import { callApi } from "./api.ts";
import type { SettingsHost } from "./settings-store.ts";
import { showMessage } from "./state.ts";

const host: SettingsHost = { callApi, showMessage };
const hasFailed = signal(false);
let isRequested = false;

/** With a hash, like the page's other files: another program could have left one of that name in the browser's cache. */
function loadScript(): void {
  if (isRequested) return;
  isRequested = true;
  const script = document.createElement("script");
  script.type = "module";
  script.src = "/settings.js";
  script.integrity = document.querySelector<HTMLMetaElement>('meta[name="settings-hash"]')?.content ?? "";
  script.addEventListener("error", () => {
    isRequested = false;
    hasFailed.value = true;
    script.remove();
  });
  document.head.append(script);
}

export function SettingsPanel() {
  useEffect(() => {
    hasFailed.value = false;
    loadScript();
  }, []);
  if (hasFailed.value)
    return <p class="off">The settings could not be loaded. Open the page again: beckon open</p>;
  return h("beckon-settings", {
    ref: (element: unknown) => {
      if (element !== null) (element as { host: SettingsHost }).host = host;
    },
  });
}
