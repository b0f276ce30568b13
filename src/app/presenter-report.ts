/** What is shown, and by whom: for `beckon doctor`. */

import type { AlertReconciler, ShownAlert } from "../alerts/reconcile.ts";
import type { Preferences } from "../core/config/preferences.ts";
import type { Notifier, NotifierReport, Tray, TrayReport } from "../core/ports.ts";
import type { TrayView } from "../core/view/view.ts";

export interface PresenterReport {
  readonly tray: TrayReport | null;
  readonly view: TrayView | null;
  readonly notifier: NotifierReport | null;
  readonly isSilenced: boolean | null;
  readonly onScreen: readonly ShownAlert[];
  /** By alert: why it is not shown. */
  readonly held: ReadonlyMap<string, string>;
  readonly wishes: Preferences;
}

export interface PresenterState extends Pick<PresenterReport, "view" | "held" | "wishes"> {
  readonly tray: Tray | null;
  readonly notifier: Notifier | null;
  readonly alerter: AlertReconciler | null;
}

const askMs = 500;

export async function createPresenterReport({
  tray,
  notifier,
  alerter,
  ...rest
}: PresenterState): Promise<PresenterReport> {
  const [trayAbout = null, notifierAbout = null, isSilenced = null] = await Promise.all([
    tray?.about(),
    notifier?.about(),
    Promise.race([notifier?.isSilenced(), Bun.sleep(askMs).then(() => null)]),
  ]);
  return {
    ...rest,
    tray: trayAbout,
    notifier: notifierAbout,
    isSilenced,
    onScreen: alerter?.onScreen() ?? [],
  };
}
