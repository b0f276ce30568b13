/** What the running app reports to `beckon doctor`: GET /api/doctor. */
import { version } from "../../package.json";
import type { AlertsReport } from "../alerts/index.ts";
import type { Config } from "../core/config/config.ts";
import type { Quiet } from "../core/config/quiet.ts";
import type { NotifierReport, Terminals, TrayReport } from "../core/interfaces/index.ts";
import { sessionKeyOfAlert } from "../core/session/keys.ts";
import { isProbeAlert } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import type { FocusOutcome } from "../core/terminals/terminal.ts";
import type { MenuItem, TrayView } from "../core/view/view.ts";
import { type AppReport, desktopVariables, type ProbeReport } from "../setup/doctor/report.ts";

export interface DoctorReportOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isHeadless: boolean;
  readonly tray: TrayReport | null;
  /** What the tray shows. */
  readonly view: TrayView | null;
  readonly notifier: (NotifierReport & { readonly isSilenced: boolean | null }) | null;
  readonly alerts: AlertsReport;
  readonly quiet: Quiet | null;
  readonly config: Config;
  readonly problems: readonly string[];
  readonly stream: AppReport["stream"];
  /** The test sessions of doctor that are open. */
  readonly probes: readonly Session[];
  /** Finds out how far a click would get; null if nobody asked for it. */
  readonly reach: Terminals["dryRunFocus"] | null;
}

export async function createDoctorReport(options: DoctorReportOptions): Promise<AppReport> {
  const { env } = options;
  const { isSilenced = null, ...notifier } = options.notifier ?? {};
  return {
    version,
    isHeadless: options.isHeadless,
    env: Object.fromEntries(desktopVariables.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    tray: options.tray,
    title: options.view?.title ?? null,
    notifier: options.notifier && (notifier as NotifierReport),
    isSilenced,
    quiet: options.quiet,
    alertsOn: options.config.alerts.blocked,
    problems: options.problems,
    stream: options.stream,
    probes: await Promise.all(listProbes(options).map((key) => createProbeReport(key, options))),
  };
}

/** Includes a probe that is over while its alert is still shown. */
function listProbes({ probes, alerts }: DoctorReportOptions): readonly string[] {
  const shown = alerts.shown.flatMap(({ key }) => (isProbeAlert(key) ? [sessionKeyOfAlert(key)] : []));
  return [...new Set([...probes.map(sessionKeyOf), ...shown])];
}

async function createProbeReport(
  key: string,
  { view, alerts, probes, reach }: DoctorReportOptions,
): Promise<ProbeReport> {
  const isOfThis = (alertKey: string) => sessionKeyOfAlert(alertKey) === key;
  const alert = alerts.shown.find((shown) => isOfThis(shown.key));
  const session = probes.find((probe) => sessionKeyOf(probe) === key);
  return {
    session: key,
    isCounted: view !== null && view.icon.count > 0 && isListed(view.items, key),
    alert: alert ? { handle: alert.handle } : null,
    held: [...alerts.suppressed].find(([alertKey]) => isOfThis(alertKey))?.[1] ?? null,
    reach: reach && session ? await findReach(session, reach) : null,
  };
}

async function findReach(session: Session, reach: Terminals["dryRunFocus"]): Promise<FocusOutcome | null> {
  const { place, cwd, title } = session;
  return place && reach({ place, cwd, title });
}

function isListed(items: readonly MenuItem[], session: string): boolean {
  return items.some(
    (item) =>
      item.kind === "entry" &&
      ((item.action?.do === "focus" && item.action.session === session) ||
        isListed(item.children ?? [], session)),
  );
}
