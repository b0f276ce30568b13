/** The tray icon and its menu: one file for each system, loaded only there. */
import type { OpenTray } from "../../core/interfaces/index.ts";

export const openTray: OpenTray = async (options) => {
  if (process.platform === "linux") {
    const { openLinuxTray } = await import("./linux.ts");
    return openLinuxTray(options);
  }
  if (process.platform === "win32") {
    const { openWindowsTray } = await import("./windows.ts");
    return openWindowsTray(options);
  }
  if (process.platform === "darwin") {
    const { openMacTray } = await import("./macos.ts");
    return openMacTray(options);
  }
  options.onProblem(
    `no tray icon: beckon does not support one on ${process.platform}. beckon goes on without it.`,
  );
  return null;
};
