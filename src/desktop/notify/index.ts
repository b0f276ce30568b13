/** The notifiers of each system, the best first. Each system loads only its own. */
import type { OpenNotifier } from "../../core/ports.ts";

/**
 * | system | way | click | buttons | seen |
 * |---|---|---|---|---|
 * | Linux | org.freedesktop.Notifications over D-Bus | yes | yes | run here: xfce4-notifyd 0.7.3, dunst 1.9.0, GNOME Shell 43.9 |
 * | Linux, no way to the bus | notify-send, libnotify 0.8 or later | yes | no | run here: 0.8.1 |
 * | Windows | toasts by PowerShell, else balloons | yes | no | balloons run under Wine |
 * | macOS | panels of beckon's own | yes | no | by documentation |
 * | macOS, where osascript fails | node-notifier | yes | no | by documentation |
 */
async function waysHere(): Promise<readonly OpenNotifier[]> {
  if (process.platform === "linux") {
    const [{ openFreedesktopNotifier }, { openNotifySend }] = await Promise.all([
      import("./freedesktop.ts"),
      import("./notify-send.ts"),
    ]);
    return [(options) => openFreedesktopNotifier(options), (options) => openNotifySend(options)];
  }
  if (process.platform === "win32") return [(await import("./windows.ts")).openWindowsNotifier];
  if (process.platform === "darwin") return [(await import("./macos.ts")).openMacNotifier];
  return [];
}

export const openNotifier: OpenNotifier = async (options) => {
  for (const open of await waysHere()) {
    const notifier = await open(options);
    if (notifier !== null) return notifier;
  }
  options.onProblem(
    "no alerts: no desktop here that could show them. `beckon status` and `beckon focus --next` work without one.",
  );
  return null;
};
