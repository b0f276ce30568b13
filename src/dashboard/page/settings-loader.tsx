/** The settings panel, which is loaded when it is first opened, with what it needs of the page. */
import { h } from "preact";
import { callApi } from "./api.ts";
import { Part } from "./load-part.tsx";
import type { SettingsHost } from "./settings-store.ts";
import { showMessage } from "./state.ts";

const host: SettingsHost = { callApi, showMessage };

export const SettingsPanel = () => (
  <Part script="settings" what="settings">
    {h("beckon-settings", {
      ref: (element: unknown) => {
        if (element !== null) (element as { host: SettingsHost }).host = host;
      },
    })}
  </Part>
);
