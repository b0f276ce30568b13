/** Keeps the machine from sleeping by itself: one file per system. Whatever holds it ends with beckon, also after kill -9. */
import type { Exec } from "../../core/interfaces/index.ts";
import type { AwakeSystem } from "./awake-system.ts";

export async function openAwakeSystem(
  exec: Exec,
  platform: NodeJS.Platform = process.platform,
): Promise<AwakeSystem> {
  switch (platform) {
    case "darwin":
      return (await import("./macos.ts")).createMacAwake(exec);
    case "win32":
      return (await import("./windows.ts")).createWindowsAwake();
    default:
      return (await import("./linux.ts")).createLinuxAwake();
  }
}
