/** Notifications: who shows them, what they can do, and what keeps them back. */
import { createFindings, type Finding } from "../../agents/finding.ts";
import { type AppReport, notTried } from "./report.ts";

const finding = createFindings("notifications", "notifications");

/** What it means that the server cannot do it. */
const without: readonly (readonly [ability: string, state: "warn" | "info", text: string])[] = [
  ["actions", "warn", "they cannot be clicked: go to a session with the icon's menu, or beckon focus --next"],
  ["body", "warn", "they show their title only"],
  ["sound", "info", "the server plays no sounds: beckon plays them itself"],
  ["persistence", "info", "the server keeps no list of past ones: beckon status shows who waits"],
];

const others: Readonly<Record<string, string>> = {
  "notify-send":
    "they are shown by notify-send, since beckon itself does not get at the session bus: no buttons",
  balloons: "Windows shows no toasts for beckon: balloons instead, one at a time",
  "node-notifier": "the helper (osascript) does not stay up: node-notifier shows them, without buttons",
};

export function notificationFindings(report: AppReport | null, clock: (at: number) => string): Finding[] {
  if (report === null) return [finding("info", "untried", notTried)];
  const { notifier, isHeadless } = report;
  if (isHeadless) return [finding("info", "headless", "none: beckon runs without a desktop")];
  if (notifier === null) {
    return [finding("fail", "none", "none: beckon found nobody who could show them", startOne)];
  }
  if (notifier.missing !== null)
    return [finding("fail", "missing", notifier.missing, startOne), ...kept(report, clock)];
  const { way, server, abilities } = notifier;
  const can = (abilities ?? []).filter((ability) => without.some(([known]) => known === ability));
  const words = can.length > 0 ? ` (${can.join(", ")})` : "";
  const lacks = without.filter(([ability]) => abilities !== null && !abilities.includes(ability));
  const other = others[way];
  return [
    finding("ok", "server", `${server ?? way}${words}`),
    ...(other ? [finding("info", "way", other)] : []),
    ...lacks.map(([ability, state, text]) => finding(state, `no-${ability}`, text)),
    ...kept(report, clock),
  ];
}

const startOne =
  "Start or install a notification service (dunst, mako, xfce4-notifyd, …); beckon finds it by itself";

/** What the person has asked for themselves, and may have forgotten. */
function kept({ isSilenced, quiet, alertsOn }: AppReport, clock: (at: number) => string): Finding[] {
  const end = quiet?.until == null ? "until you turn it off" : `until ${clock(quiet.until)}`;
  return [
    ...(alertsOn
      ? []
      : [
          finding(
            "warn",
            "off",
            "alerts are off in the settings",
            'Set "alerts": {"blocked": true} in config.json',
          ),
        ]),
    ...(isSilenced
      ? [
          finding(
            "warn",
            "silenced",
            "your desktop is set to do not disturb: beckon shows no alerts",
            "Switch it off there",
          ),
        ]
      : []),
    ...(quiet
      ? [
          finding(
            "warn",
            "quiet",
            quiet.by === "you"
              ? `quiet ${end}: beckon shows no alerts`
              : `quiet hours ${end}: beckon shows no alerts`,
            quiet.by === "you" ? "The icon's menu: Quiet → Off" : "Change quietHours in config.json",
          ),
        ]
      : []),
  ];
}
