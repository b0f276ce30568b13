/** The settings panel, which is loaded when it is first opened, with what it needs of the page. */
import { callApi } from "./api.ts";
import { HostedPart } from "./load-part.tsx";
import type { SettingsHost } from "./settings-store.ts";
import { showMessage } from "./state.ts";

const host: SettingsHost = { callApi, showMessage };

export const SettingsPanel = () => <HostedPart script="settings" what="settings" host={host} />;
