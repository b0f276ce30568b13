/** The desktop's adapters, chosen and connected. They are loaded when they are first needed. */

import { version } from "../../package.json";
import { findAgent } from "../agents/index.ts";
import type { Alerts } from "../alerts/index.ts";
import type { UserAction } from "../core/config/user-action.ts";
import type { Notifier, NotifierReport, ReadPresence, Terminals } from "../core/interfaces/index.ts";
import type { MenuFacts } from "../core/view/menu/menu.ts";
import { createDesktopParts, hasDesktop } from "../desktop/index.ts";
import { createTraySink, type TraySink, type TraySinkOptions } from "../desktop/tray/sink.ts";
import { ensureOwnFolder } from "../storage/files.ts";
import { waitAtMost } from "../system/schedule.ts";
import type { Base } from "./base.ts";
import type { NavigationOptions } from "./navigation.ts";
import type { UserActionsOptions } from "./user-actions.ts";

/** How long doctor waits for a desktop that is still being opened. */
const openingMs = 1_000;

export interface DesktopTrayOptions extends Omit<TraySinkOptions, "facts" | "home"> {
  readonly unconnected: () => MenuFacts["unconnected"];
  readonly problems: () => readonly string[];
}

export interface OpenDesktopOptions {
  readonly tray: TraySink;
  readonly alerts: Pick<Alerts, "addNotifier">;
  readonly onAction: (action: UserAction) => void;
}

/** What user actions need of this system. They work without a desktop as far as they can. */
type SystemActions = Pick<
  UserActionsOptions & NavigationOptions,
  "version" | "findTranscript" | "openFile" | "openPage" | "openList" | "copy" | "agentName" | "connect"
>;

export interface Desktop {
  /** Neither icon nor notifications can be shown. */
  readonly isHeadless: boolean;
  readonly terminals: Terminals;
  readonly readPresence: ReadPresence;
  readonly actions: SystemActions;
  createTray(options: DesktopTrayOptions): TraySink;
  /** Resolves when icon and notifications are there, or cannot be shown. */
  open(options: OpenDesktopOptions): Promise<void>;
  notifierReport(): Promise<(NotifierReport & { readonly isSilenced: boolean | null }) | null>;
}

export function createDesktop({
  options: { isDemo = false },
  paths,
  env,
  home,
  table,
  agents,
}: Base): Desktop {
  const parts = createDesktopParts(env);
  const agentName = (id: string): string => findAgent(id, table)?.name ?? id;
  let opening: Promise<unknown> = Promise.resolve();
  let notifier: Notifier | null = null;
  return {
    isHeadless: !hasDesktop(env),
    terminals: parts.terminals,
    readPresence: parts.readPresence,
    actions: {
      version,
      findTranscript: async ({ agent, transcriptPath: path }) =>
        path === null ? null : ((await agents.get(agent)?.findTranscript(path, env)) ?? null),
      openFile: parts.openFile,
      openPage: parts.openPage,
      async openList() {
        ensureOwnFolder(paths.helpers);
        return parts.openList(paths.helpers);
      },
      copy: parts.copy,
      agentName,
      async connect(id) {
        const [{ connectAgent }, { exec }] = await Promise.all([
          import("../setup/connect-agent.ts"),
          import("../system/exec.ts"),
        ]);
        return connectAgent(id, { agents: table, paths, env, exec, version });
      },
    },
    createTray: ({ unconnected, problems, ...options }) =>
      createTraySink({
        ...options,
        home,
        facts: () => ({
          version,
          isDemo,
          dashboard: true,
          agentName,
          unconnected: unconnected(),
          problems: problems(),
        }),
      }),
    open({ tray, alerts, onAction }) {
      const folder = paths.helpers;
      const open = async () => {
        ensureOwnFolder(folder);
        await Promise.all([
          parts.preload(),
          tray.open({ open: parts.openTray, folder, onAction }),
          alerts.addNotifier({
            name: "desktop",
            onAction,
            async open(events) {
              notifier = await parts.openNotifier({ ...events, folder });
              return notifier;
            },
          }),
        ]);
      };
      const opened = open();
      opening = opened.catch(() => {});
      return opened;
    },
    async notifierReport() {
      await waitAtMost(openingMs, opening);
      if (!notifier) return null;
      const [report, isSilenced] = await Promise.all([
        notifier.report(),
        waitAtMost(openingMs / 2, notifier.isSilenced()),
      ]);
      return { ...report, isSilenced: isSilenced ?? null };
    },
  };
}
