/** Checks the icon: how it is shown and by which program, or why it is not. */
import { createFindings, type Finding } from "../../agents/finding.ts";
import { type AppReport, notTried } from "./report.ts";

const finding = createFindings("icon", "icon");

const extension =
  "Install the GNOME extension “AppIndicator and KStatusNotifierItem Support” (https://extensions.gnome.org/extension/615/); the icon then appears by itself";

export function checkIcon(report: AppReport | null, platform: NodeJS.Platform): Finding[] {
  if (report === null) return [finding("info", "untried", notTried)];
  const { tray, env, isHeadless } = report;
  if (isHeadless) {
    return [
      finding(
        "info",
        "headless",
        "none, because beckon runs without a desktop",
        "See your sessions with: beckon status. For alerts on your phone: beckon channel add phone",
      ),
    ];
  }
  if (tray === null) {
    return [
      finding(
        "fail",
        "none",
        "none, because there was no tray when beckon started",
        suggestTray(env, platform),
      ),
    ];
  }
  const by = tray.host === null ? "" : `, shown by ${tray.host}`;
  if (tray.missing !== null) {
    return [finding("fail", "missing", `not shown${by}: ${tray.missing}`, suggestTray(env, platform))];
  }
  const shown = finding("ok", "shown", `${tray.way}${by}`);
  if (platform !== "darwin") return [shown];
  return [
    shown,
    finding(
      "info",
      "hidden",
      "macOS 26 and later can hide menu-bar items without notice",
      "If you do not see it: System Settings → Menu Bar → Allow in the Menu Bar",
    ),
  ];
}

function suggestTray(env: AppReport["env"], platform: NodeJS.Platform): string {
  if (platform !== "linux") return "Restart beckon: beckon restart. See also its log";
  if (/\bGNOME\b/i.test(env.XDG_CURRENT_DESKTOP ?? "")) return extension;
  return "Add a tray (“system tray”, “status notifier”) to your panel; the icon then appears by itself. On GNOME, install the AppIndicator extension";
}
