/** The tray of each system. Each loads only its own. */
import type { OpenTray } from "../../core/ports.ts";

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
    `no place for an icon: beckon knows none on ${process.platform}. It goes on without one.`,
  );
  return null;
};
