/**
 * The user's desktop: tray/ (icon and menu), notify/ (notifications), terminals/ (focus), presence/ (whether the user is at
 * the desk) and login/ (start at login), one file per system where they differ. macos/ and windows/ hold what several of
 * these share on one system.
 *
 * This file loads each part when it is first used: measured side by side, a start then takes 0.8 of the time.
 */

import type { OpenNotifier, OpenTray, ReadPresence, Terminals } from "../core/interfaces/index.ts";
import type { Env } from "../system/folders.ts";

/** How long an alert may wait to learn whether its pane is visible: usually 1 to 3 ms, more on a busy machine. */
const visibilityTimeoutMs = 300;

export interface DesktopParts {
  readonly openTray: OpenTray;
  readonly openNotifier: OpenNotifier;
  readonly terminals: Terminals;
  readonly readPresence: ReadPresence;
  /** Returns why the file could not be opened, or null. */
  openFile(path: string): Promise<string | null>;
  /** Opens beckon's page in the browser. Returns why it could not be opened, or null. */
  openPage(url: string): Promise<string | null>;
  /** Opens the list of sessions in a terminal. Returns why it could not be opened, or null. */
  openList(folder: string): Promise<string | null>;
  /** Copies a text to the clipboard. Returns false if that failed. */
  copy(text: string): Promise<boolean>;
  /** Loads what the first alert needs. */
  preload(): Promise<void>;
}

/** Whether it makes sense to look for a panel and a notification service. */
export function hasDesktop(env: Env, platform: NodeJS.Platform = process.platform): boolean {
  if (platform === "win32" || platform === "darwin") return true;
  return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.DBUS_SESSION_BUS_ADDRESS);
}

export function createDesktopParts(env: Env): DesktopParts {
  const loadTerminals = loadOnce(async () => {
    const { createTerminals } = await import("./terminals/index.ts");
    return createTerminals({ env, visibilityTimeoutMs });
  });
  const loadPresence = loadOnce(async () => {
    const [{ createPresence }, { exec }] = await Promise.all([
      import("./presence/index.ts"),
      import("../system/exec.ts"),
    ]);
    return createPresence({ env, exec });
  });
  return {
    openTray: async (options) => (await import("./tray/index.ts")).openTray(options),
    openNotifier: async (options) => (await import("./notify/index.ts")).openNotifier(options),
    terminals: {
      focus: async (target) => (await loadTerminals()).focus(target),
      isPaneVisible: async (target) => (await loadTerminals()).isPaneVisible(target),
      findLogins: async (target) => (await loadTerminals()).findLogins(target),
      dryRunFocus: async (target) => (await loadTerminals()).dryRunFocus(target),
      readLineage: async (pid) => (await loadTerminals()).readLineage(pid),
      listWindows: async () => (await loadTerminals()).listWindows(),
    },
    readPresence: async () => (await loadPresence())(),
    openFile: async (path) => (await import("./open-file.ts")).openFile(path),
    openPage: async (url) => (await import("./open-page.ts")).openPage(url),
    openList: async (folder) => (await import("./open-list.ts")).openList({ env, folder }),
    async copy(text) {
      const [{ copy }, { exec }] = await Promise.all([import("./clipboard.ts"), import("../system/exec.ts")]);
      return copy(text, exec, env);
    },
    async preload() {
      await loadTerminals();
    },
  };
}

function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () => {
    loading ??= load();
    return loading;
  };
}
