/** What the running app reports to `beckon doctor`: GET /api/doctor. */
import type { Quiet } from "../../core/config/quiet.ts";
import type { NotifierReport, TrayReport } from "../../core/interfaces/index.ts";
import type { FocusOutcome } from "../../core/terminals/terminal.ts";
import type { StreamServerReport } from "./stream.ts";

export interface ProbeReport {
  readonly session: string;
  /** The tray's menu lists it, and its icon counts it. */
  readonly isCounted: boolean;
  /** Its alert is on the screen, according to the notifier. Null if it is not. */
  readonly alert: { readonly handle: string | null } | null;
  /** Why its alert is not shown. Null if it is. */
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
  /** Whether alerts for blocked sessions are turned on. */
  readonly alertsOn: boolean;
  readonly problems: readonly string[];
  /** null without `stream.url`. */
  readonly stream: StreamServerReport | null;
  readonly probes: readonly ProbeReport[];
}

/** The text of checks that need a running app. */
export const notTried = "not checked, because beckon is not running";

export const desktopVariables = [
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "XDG_CURRENT_DESKTOP",
  "SSH_CONNECTION",
] as const;

/** Null if the body is not a report. */
export function readReport(body: unknown): AppReport | null {
  const { version, probes, env } = Object(body) as Partial<AppReport>;
  return typeof version === "string" && Array.isArray(probes) && typeof env === "object" && env !== null
    ? (body as AppReport)
    : null;
}
