/** The tray as a sink: the icon, its tooltip and its menu, computed from the state and shown by the system's tray. */
import type { Config } from "../../core/config/config.ts";
import type { Preferences } from "../../core/config/preferences.ts";
import { computeQuietHours } from "../../core/config/quiet.ts";
import type { UserAction } from "../../core/config/user-action.ts";
import type { OpenTray, Sink, Tray, TrayReport } from "../../core/interfaces/index.ts";
import type { FindAskDetails } from "../../core/session/ask-details.ts";
import type { Moment } from "../../core/session/event.ts";
import { createMenu, type MenuFacts } from "../../core/view/menu/menu.ts";
import type { TrayView } from "../../core/view/view.ts";
import { formatLocalTime } from "../../system/clock.ts";
import { waitAtMost } from "../../system/schedule.ts";
import { createClickCheck } from "./click-check.ts";

export interface TraySinkOptions {
  readonly config: () => Config;
  readonly preferences: () => Preferences;
  readonly details: FindAskDetails;
  readonly facts: () => Pick<
    MenuFacts,
    "unconnected" | "version" | "isDemo" | "dashboard" | "problems" | "agentName"
  >;
  readonly home: string;
  readonly refresh: () => void;
  readonly clock: () => Moment;
  /** Shows the user a short message. */
  readonly showMessage: (title: string, text: string) => void;
  readonly onProblem: (text: string) => void;
}

export interface TraySink extends Sink {
  /** Resolves when the icon is there, or cannot be shown. */
  open(options: {
    readonly open: OpenTray;
    readonly folder: string;
    readonly onAction: (action: UserAction) => void;
  }): Promise<void>;
  /** What the tray shows now; null before the first view, and without a tray. */
  view(): TrayView | null;
  report(): Promise<TrayReport | null>;
  stop(): Promise<void>;
}

/** A tray that is still being opened at stop is given this long. */
const openingMs = 500;

export function createTraySink(options: TraySinkOptions): TraySink {
  let tray: Tray | null = null;
  let shownView: TrayView | null = null;
  let opening: Promise<void> = Promise.resolve();
  let isStopped = false;
  const clicks = createClickCheck(options);

  return {
    name: "tray",
    render({ sessions, now }) {
      if (!tray) return null;
      const config = options.config();
      const hours = computeQuietHours(config.quietHours, now);
      const facts: MenuFacts = {
        ...options.facts(),
        home: options.home,
        formatTime: (at) => formatLocalTime(at, now.at),
        quietHoursEnd: hours?.isOn ? hours.changesAt : null,
      };
      const preferences = options.preferences();
      const view = createMenu({
        sessions,
        preferences,
        config,
        now,
        facts,
        findDetails: options.details,
        confirming: clicks.confirming(now),
      });
      tray.show(view);
      clicks.onShown(view.items, now);
      shownView = view;
      return findEarliest(view.nextChange, clicks.nextChange(now));
    },
    open({ open, folder, onAction }) {
      const onClick = (action: UserAction): void => {
        const accepted = clicks.accept(action);
        if (accepted) onAction(accepted);
      };
      const isDemo = options.facts().isDemo === true;
      opening = open({ folder, isDemo, onProblem: options.onProblem, onAction: onClick }).then(
        async (opened) => {
          if (isStopped) return opened?.stop();
          tray = opened;
          options.refresh();
        },
      );
      return opening;
    },
    view: () => shownView,
    report: async () => (await tray?.report()) ?? null,
    async stop() {
      isStopped = true;
      // A tray that is still being opened stops itself as soon as it is there.
      await waitAtMost(openingMs, opening);
      await tray?.stop();
    },
  };
}

function findEarliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
