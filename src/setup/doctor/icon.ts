/** The icon: which way it is shown, by whom, or why it is not. */
import { about, type Finding, untried } from "../../agents/finding.ts";
import type { AppReport } from "./report.ts";

const tell = about("icon", "icon");

const extension =
  "Install the GNOME extension “AppIndicator and KStatusNotifierItem Support” (https://extensions.gnome.org/extension/615/); the icon then comes by itself";

export function iconFindings(report: AppReport | null, platform: NodeJS.Platform): Finding[] {
  if (report === null) return [tell("info", "untried", untried)];
  const { tray, env, isHeadless } = report;
  if (isHeadless) {
    return [
      tell(
        "info",
        "headless",
        "none: beckon runs without a desktop",
        "See your sessions with: beckon status",
      ),
    ];
  }
  if (tray === null) {
    return [
      tell("fail", "none", "none: there was no place for it when beckon started", placeFor(env, platform)),
    ];
  }
  const by = tray.host === null ? "" : `, shown by ${tray.host}`;
  if (tray.missing !== null) {
    return [tell("fail", "missing", `not on the screen${by}: ${tray.missing}`, placeFor(env, platform))];
  }
  const shown = tell("ok", "shown", `${tray.way}${by}`);
  if (platform !== "darwin") return [shown];
  return [
    shown,
    tell(
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
