/** The desktop's adapters, chosen and connected. They are loaded when they are first needed. */
import { version } from "../../package.json";
import type { Agent } from "../agents/agent.ts";
import { findAgent, type LoadedAgents } from "../agents/index.ts";
import type { UserAction } from "../core/config/user-action.ts";
import type { Notifier, NotifierReport, OpenAlertSink, ReadPresence, Terminals } from "../core/ports.ts";
import type { MenuFacts } from "../core/view/menu/menu.ts";
import { createTraySink, type TraySink, type TraySinkOptions } from "../desktop/tray/sink.ts";
import { ensurePrivateFolder } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { homeOf } from "../system/folders.ts";
import type { UserActionsOptions } from "./user-actions.ts";

/** How long an alert may wait to learn whether its pane is visible: usually 1 to 3 ms, more on a busy machine. */
const visibilityMs = 300;
/** How long doctor waits for a desktop that is still being opened. */
const openingMs = 1_000;

type Env = Readonly<Record<string, string | undefined>>;

export interface DesktopOptions {
  readonly paths: Paths;
  readonly env: Env;
  readonly table: readonly Agent[];
  readonly agents: LoadedAgents;
}

export interface DesktopTrayOptions extends Omit<TraySinkOptions, "facts" | "home"> {
  readonly unconnected: () => MenuFacts["unconnected"];
  readonly problems: () => readonly string[];
}

export interface OpenDesktopOptions {
  readonly tray: TraySink;
  readonly addAlertSink: (name: string, open: OpenAlertSink) => Promise<void>;
  readonly onAction: (action: UserAction) => void;
}

export interface Desktop {
  readonly terminals: Terminals;
  readonly readPresence: ReadPresence;
  /** What user actions need of this system. They work without a desktop as far as they can. */
  readonly actions: Pick<
    UserActionsOptions,
    "version" | "findTranscript" | "openFile" | "openList" | "copy" | "agentName" | "connect"
  >;
  createTray(options: DesktopTrayOptions): TraySink;
  /** Resolves when icon and notifications are there, or cannot be shown. */
  open(options: OpenDesktopOptions): Promise<void>;
  notifierReport(): Promise<(NotifierReport & { readonly isSilenced: boolean | null }) | null>;
}

export function createDesktop({ paths, env, table, agents }: DesktopOptions): Desktop {
  const home = homeOf(env);
  let opening: Promise<unknown> = Promise.resolve();
  let notifier: Notifier | null = null;
  return {
    terminals: loadTerminalsWhenNeeded(env),
    readPresence: loadPresenceWhenNeeded(env),
    actions: {
      version,
      findTranscript: async ({ agent, transcriptPath: path }) =>
        path === null ? null : ((await agents.get(agent)?.findTranscript(path, env)) ?? null),
      openFile: async (path) => (await import("../desktop/open-file.ts")).openFile(path),
      async openList() {
        ensurePrivateFolder(paths.helpers);
        const { openList } = await import("../desktop/open-list.ts");
        return openList({ env, folder: paths.helpers });
      },
      async copy(text) {
        const [{ copy }, { exec }] = await Promise.all([
          import("../desktop/clipboard.ts"),
          import("../system/exec.ts"),
        ]);
        return copy(text, exec, env);
      },
      agentName: (id) => findAgent(id, table)?.name ?? id,
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
        facts: () => ({ version, unconnected: unconnected(), problems: problems() }),
      }),
    open({ tray, addAlertSink, onAction }) {
      const folder = paths.helpers;
      const open = async () => {
        ensurePrivateFolder(folder);
        const [{ openTray }, { openNotifier }] = await Promise.all([
          import("../desktop/tray/index.ts"),
          import("../desktop/notify/index.ts"),
          // Loaded now, so that the first alert does not wait for it.
          import("../desktop/terminals/index.ts"),
        ]);
        await Promise.all([
          tray.open({ open: openTray, folder, onAction }),
          addAlertSink("desktop", async (events) => {
            notifier = await openNotifier({ ...events, folder });
            return notifier;
          }),
        ]);
      };
      const opened = open();
      opening = opened.catch(() => {});
      return opened;
    },
    async notifierReport() {
      await Promise.race([opening, Bun.sleep(openingMs)]);
      if (!notifier) return null;
      const [report, isSilenced] = await Promise.all([
        notifier.report(),
        Promise.race([notifier.isSilenced(), Bun.sleep(openingMs / 2).then(() => null)]),
      ]);
      return { ...report, isSilenced };
    },
  };
}

/** Loaded with the first use: measured side by side, a start then takes 0.8 of the time. */
function loadTerminalsWhenNeeded(env: Env): Terminals {
  let loading: Promise<Terminals> | null = null;
  const load = () => {
    loading ??= import("../desktop/terminals/index.ts").then(({ createTerminals }) =>
      createTerminals({ env, visibilityTimeoutMs: visibilityMs }),
    );
    return loading;
  };
  return {
    focus: async (target) => (await load()).focus(target),
    isPaneVisible: async (target) => (await load()).isPaneVisible(target),
    dryRunFocus: async (target) => (await load()).dryRunFocus(target),
  };
}

function loadPresenceWhenNeeded(env: Env): ReadPresence {
  let loading: Promise<ReadPresence> | null = null;
  return async () => {
    loading ??= Promise.all([import("../desktop/presence/index.ts"), import("../system/exec.ts")]).then(
      ([{ createPresence }, { exec }]) => createPresence({ env, exec }),
    );
    return (await loading)();
  };
}

/** Whether it makes sense to look for a panel at all. */
export function hasDesktop(env: Env, platform: NodeJS.Platform = process.platform): boolean {
  if (platform === "win32" || platform === "darwin") return true;
  return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.DBUS_SESSION_BUS_ADDRESS);
}
