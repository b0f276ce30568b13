/** Checks notifications: which program shows them, what it can do, and what suppresses them. */
import { createFindings, type Finding } from "../../agents/finding.ts";
import { type AppReport, notTried } from "./report.ts";

const finding = createFindings("notifications", "notifications");

/** What it means for users if the notification server lacks an ability. */
const missingAbilities: readonly (readonly [ability: string, state: "warn" | "info", text: string])[] = [
  ["actions", "warn", "they cannot be clicked. Go to a session with the icon's menu or beckon focus --next"],
  ["body", "warn", "they show their title only"],
  ["sound", "info", "the server plays no sounds, so beckon plays them"],
  [
    "persistence",
    "info",
    "the server keeps no list of past notifications. beckon status shows what waits for you",
  ],
];

const fallbacks: Readonly<Record<string, string>> = {
  "notify-send": "notify-send shows them, without buttons, because beckon cannot reach the session bus",
  balloons: "Windows shows no toasts for beckon, so it shows balloons, one at a time",
  "node-notifier":
    "node-notifier shows them, without buttons, because PowerShell may not run beckon's script",
};

export function checkNotifications(report: AppReport | null, formatTime: (at: number) => string): Finding[] {
  if (report === null) return [finding("info", "untried", notTried)];
  const { notifier, isHeadless } = report;
  if (isHeadless) return [finding("info", "headless", "none, because beckon runs without a desktop")];
  if (notifier === null) {
    return [finding("fail", "none", "none, because beckon found no notification service", startOne)];
  }
  if (notifier.missing !== null)
    return [
      finding("fail", "missing", notifier.missing, hasServer(notifier.way) ? startOne : null),
      ...findSuppression(report, formatTime),
    ];
  const { way, server, abilities } = notifier;
  const can = (abilities ?? []).filter((ability) => missingAbilities.some(([known]) => known === ability));
  const abilityList = can.length > 0 ? ` (${can.join(", ")})` : "";
  const lacks = missingAbilities.filter(([ability]) => abilities !== null && !abilities.includes(ability));
  const fallback = fallbacks[way];
  return [
    finding("ok", "server", `${server ?? way}${abilityList}`),
    ...(fallback ? [finding("info", "way", fallback)] : []),
    ...lacks.map(([ability, state, text]) => finding(state, `no-${ability}`, text)),
    ...findSuppression(report, formatTime),
  ];
}

/** On Linux a program of the desktop shows them; elsewhere beckon or the system itself. */
const hasServer = (way: string): boolean => way === "D-Bus" || way === "notify-send";

const startOne =
  "Start or install a notification service (dunst, mako, xfce4-notifyd, …); beckon then finds it";

/** What the user turned off, and may have forgotten. */
function findSuppression(
  { isSilenced, quiet, alertsOn }: AppReport,
  formatTime: (at: number) => string,
): Finding[] {
  const end = quiet?.until == null ? "until you turn it off" : `until ${formatTime(quiet.until)}`;
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
            "your desktop is set to do not disturb, so beckon shows no alerts",
            "Turn it off there",
          ),
        ]
      : []),
    ...(quiet
      ? [
          finding(
            "warn",
            "quiet",
            quiet.by === "you"
              ? `quiet ${end}, so beckon shows no alerts`
              : `quiet hours ${end}, so beckon shows no alerts`,
            quiet.by === "you" ? "Choose Quiet → Off in the icon's menu" : "Change quietHours in config.json",
          ),
        ]
      : []),
  ];
}
