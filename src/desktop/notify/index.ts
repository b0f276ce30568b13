/** Desktop notifications: one file for each way to show them. Each system loads only its own. */
import type { OpenNotifier } from "../../core/interfaces/index.ts";

/**
 * Returns the ways of this system, the best one first.
 *
 * | system | way | click | buttons | tested |
 * |---|---|---|---|---|
 * | Linux | org.freedesktop.Notifications over D-Bus | yes | yes | xfce4-notifyd 0.7.3, dunst 1.9.0, GNOME Shell 43.9 |
 * | Linux without access to the bus | notify-send, libnotify 0.8 or later | yes | yes | 0.8.1 |
 * | Windows | toasts by PowerShell | yes | yes | by documentation |
 * | Windows where PowerShell is restricted | node-notifier's SnoreToast | yes | no | by documentation: it crashes under Wine |
 * | Windows without toasts | balloons | yes | no | under Wine |
 * | macOS | beckon's own panels | yes | yes | by documentation |
 */
async function findWays(): Promise<readonly OpenNotifier[]> {
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
  for (const open of await findWays()) {
    const notifier = await open(options);
    if (notifier !== null) return notifier;
  }
  options.onProblem(
    "no desktop notifications: there is no desktop here. `beckon status` and `beckon focus --next` work without one.",
  );
  return null;
};
