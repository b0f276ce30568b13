/** What the running app tells `beckon doctor` of itself: GET /api/doctor. */
import type { Quiet } from "../../core/config/quiet.ts";
import type { NotifierReport, TrayReport } from "../../core/ports.ts";
import type { FocusOutcome } from "../../core/view/focus-text.ts";

export interface ProbeReport {
  readonly session: string;
  /** The tray's menu has it, and its icon counts it. */
  readonly isCounted: boolean;
  /** Its alert is on the screen, as far as its notifier says. */
  readonly alert: { readonly handle: string | null } | null;
  /** Why its alert is not shown. */
  readonly held: string | null;
  /** How far a click would get to the terminal that doctor runs in. */
  readonly reach: FocusOutcome | null;
}

export interface AppReport {
  readonly version: string;
  readonly isHeadless: boolean;
  /** The variables that name its desktop. */
  readonly env: Readonly<Record<string, string>>;
  readonly tray: TrayReport | null;
  /** "beckon: 1 needs you" */
  readonly title: string | null;
  readonly notifier: NotifierReport | null;
  readonly isSilenced: boolean | null;
  readonly quiet: Quiet | null;
  /** Are people told of asks at all? */
  readonly alertsOn: boolean;
  readonly problems: readonly string[];
  readonly probes: readonly ProbeReport[];
}

/** The text of findings that only a running app could make. */
export const notTried = "not tried: beckon is not running";

export const desktopVariables = [
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "XDG_CURRENT_DESKTOP",
  "SSH_CONNECTION",
] as const;

/** null: not from a beckon that knows doctor. */
export function readReport(body: unknown): AppReport | null {
  const { version, probes, env } = Object(body) as Partial<AppReport>;
  return typeof version === "string" && Array.isArray(probes) && typeof env === "object" && env !== null
    ? (body as AppReport)
    : null;
}
