/** What is shown, and by whom: for `beckon doctor`. */
import type { TrayView } from "./core/view.ts";
import type { Wishes } from "./core/wishes.ts";
import type { Alerter, OnScreen } from "./desktop/alerter.ts";
import type { Notifier, NotifierAbout, Tray, TrayAbout } from "./ports.ts";

export interface DeskAbout {
  readonly tray: TrayAbout | null;
  readonly view: TrayView | null;
  readonly notifier: NotifierAbout | null;
  readonly isSilenced: boolean | null;
  readonly onScreen: readonly OnScreen[];
  /** By alert: why it is not shown. */
  readonly held: ReadonlyMap<string, string>;
  readonly wishes: Wishes;
}

export interface DeskNow extends Pick<DeskAbout, "view" | "held" | "wishes"> {
  readonly tray: Tray | null;
  readonly notifier: Notifier | null;
  readonly alerter: Alerter | null;
}

const askMs = 500;

export async function aboutDesk({ tray, notifier, alerter, ...rest }: DeskNow): Promise<DeskAbout> {
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
