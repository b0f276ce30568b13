/** The icon: which way it is shown, by whom, or why it is not. */
import { createFindings, type Finding } from "../../agents/finding.ts";
import { type AppReport, notTried } from "./report.ts";

const finding = createFindings("icon", "icon");

const extension =
  "Install the GNOME extension “AppIndicator and KStatusNotifierItem Support” (https://extensions.gnome.org/extension/615/); the icon then comes by itself";

export function iconFindings(report: AppReport | null, platform: NodeJS.Platform): Finding[] {
  if (report === null) return [finding("info", "untried", notTried)];
  const { tray, env, isHeadless } = report;
  if (isHeadless) {
    return [
      finding(
        "info",
        "headless",
        "none: beckon runs without a desktop",
        "See your sessions with: beckon status",
      ),
    ];
  }
  if (tray === null) {
    return [
      finding("fail", "none", "none: there was no place for it when beckon started", placeFor(env, platform)),
    ];
  }
  const by = tray.host === null ? "" : `, shown by ${tray.host}`;
  if (tray.missing !== null) {
    return [finding("fail", "missing", `not on the screen${by}: ${tray.missing}`, placeFor(env, platform))];
  }
  const shown = finding("ok", "shown", `${tray.way}${by}`);
  if (platform !== "darwin") return [shown];
  return [
    shown,
    finding(
      "info",
      "hidden",
      "macOS 26 and later can hide menu-bar items, and tells nobody",
      "If you do not see it: System Settings → Menu Bar → Allow in the Menu Bar",
    ),
  ];
}

function placeFor(env: AppReport["env"], platform: NodeJS.Platform): string {
  if (platform !== "linux") return "Restart beckon: beckon stop, then beckon start. Its log says more";
  if (/\bGNOME\b/i.test(env.XDG_CURRENT_DESKTOP ?? "")) return extension;
  return "Add a tray (“system tray”, “status notifier”) to your panel or bar; the icon then comes by itself. On GNOME: the AppIndicator extension";
}
