/** The running app's part of `beckon doctor`. */
import { version } from "../../package.json";
import type { Config } from "../core/config/config.ts";
import { findQuietMode } from "../core/config/quiet.ts";
import type { Terminals } from "../core/ports.ts";
import { sessionKeyOf, sessionKeyOfAlert } from "../core/session/keys.ts";
import { isProbeAlert } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import type { FocusOutcome } from "../core/view/focus-text.ts";
import type { MenuItem } from "../core/view/view.ts";
import { type AppReport, desktopVariables, type ProbeReport } from "../setup/doctor/report.ts";
import { minuteOfDay } from "../system/clock.ts";
import type { PresenterReport } from "./presenter-report.ts";

export interface ReportGiven {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isHeadless: boolean;
  readonly about: PresenterReport;
  readonly config: Config;
  readonly problems: readonly string[];
  readonly probes: readonly Session[];
  /** null: nobody asked how far a click would get. */
  readonly reach: Terminals["reach"] | null;
  /** Wall time. */
  readonly at: number;
}

export async function createDoctorReport(given: ReportGiven): Promise<AppReport> {
  const { env, about, config, at } = given;
  const now = { at, minuteOfDay: minuteOfDay(at) };
  return {
    version,
    isHeadless: given.isHeadless,
    env: Object.fromEntries(desktopVariables.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    tray: about.tray,
    title: about.view?.title ?? null,
    notifier: about.notifier,
    isSilenced: about.isSilenced,
    quiet: findQuietMode(about.wishes.quietUntil, config.quietHours, now),
    alertsOn: config.alerts.blocked,
    problems: given.problems,
    probes: await Promise.all(probesOf(given).map((session) => probeOf(session, given))),
  };
}

/** Also those that are over, while their alert is still there. */
function probesOf({ probes, about }: ReportGiven): readonly string[] {
  const shown = about.onScreen.flatMap(({ key }) => (isProbeAlert(key) ? [sessionKeyOfAlert(key)] : []));
  return [...new Set([...probes.map(sessionKeyOf), ...shown])];
}

async function probeOf(key: string, { about, probes, reach }: ReportGiven): Promise<ProbeReport> {
  const { view, onScreen, held } = about;
  const isIts = (alert: string) => sessionKeyOfAlert(alert) === key;
  const alert = onScreen.find((one) => isIts(one.key));
  const session = probes.find((one) => sessionKeyOf(one) === key);
  return {
    session: key,
    isCounted: view !== null && view.icon.count > 0 && isListed(view.items, key),
    alert: alert ? { handle: alert.handle } : null,
    held: [...held].find(([one]) => isIts(one))?.[1] ?? null,
    reach: reach && session ? await reachOf(session, reach) : null,
  };
}

async function reachOf(session: Session, reach: Terminals["reach"]): Promise<FocusOutcome | null> {
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
