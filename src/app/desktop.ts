/** The adapters of the desktop, chosen and wired. Where there is no desktop, clicks by the command line work all the same. */
import { version } from "../../package.json";
import type { LoadedAgents } from "../agents/index.ts";
import { loadAlertState, saveAlertState } from "../alerts/file.ts";
import type { PendingRequests } from "../answers/pending.ts";
import type { AnswerRecorder } from "../answers/record.ts";
import type { Config } from "../core/config/config.ts";
import type { Terminals } from "../core/ports.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { ensurePrivateFolder } from "../storage/files.ts";
import type { Log } from "../storage/log.ts";
import type { Paths } from "../storage/paths.ts";
import { createSaver } from "../storage/saver.ts";
import { homeOf } from "../system/home.ts";
import { createPresenter, type Presenter } from "./presenter.ts";
import type { PresenterReport } from "./presenter-report.ts";
import { createUserActions, type UserActions } from "./user-actions.ts";

/** An alert waits for the answer: 1 to 3 ms, but more on a machine whose agents keep it busy. */
const lookMs = 200;
const openingMs = 1_000;

type Env = Readonly<Record<string, string | undefined>>;

export interface DesktopOptions {
  readonly paths: Paths;
  readonly env: Env;
  readonly agents: LoadedAgents;
  readonly clock: () => ClockReading;
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly config: () => Config;
  readonly problems: () => readonly string[];
  /** Hooks are registered, or have been heard. */
  readonly isConnected: () => boolean;
  readonly url: () => string;
  readonly quit: () => void;
  readonly held: Pick<PendingRequests, "details" | "answer">;
  readonly record: Pick<AnswerRecorder, "shown" | "notShown">;
  readonly log: Log;
}

export interface Desktop {
  readonly desk: Presenter;
  readonly actions: UserActions;
  /** Resolves when icon and alerts are there, or cannot be. */
  open(): Promise<void>;
  /** Who asks right after the start is told when it is there. */
  about(): Promise<PresenterReport>;
  readonly reach: Terminals["reach"];
}

export function createDesktop(options: DesktopOptions): Desktop {
  const { paths, env, clock, sessions, config, log } = options;
  const terminals = whenNeeded(env);
  let opening: Promise<void> = Promise.resolve();
  const onProblem = (text: string) => log("warn", text);
  const desk = createPresenter({
    clock,
    sessions,
    config,
    asked: options.held.details,
    terminals,
    home: homeOf(env),
    facts: () => ({
      version,
      hooksInstalled: options.isConnected(),
      problems: options.problems(),
    }),
    before: loadAlertState(paths.desk),
    // Which alerts are on the screen must be known after a kill too, or they are shown twice.
    keep: (value) =>
      createSaver(() => saveAlertState(paths.desk, value()), {
        quietMs: 30,
        maxMs: 200,
        maxRestMs: 0,
        onError: onProblem,
      }),
    onAction: (action) => actions.click(action),
    onHeld: options.record.notShown,
    onShown: options.record.shown,
    onProblem,
  });
  const actions = createUserActions({
    desk,
    terminals,
    held: options.held,
    clock,
    sessions,
    config,
    configPath: paths.config,
    version,
    url: options.url,
    findTranscript: async ({ agent, transcriptPath: path }) =>
      path === null ? null : ((await options.agents.get(agent)?.findTranscript(path, env)) ?? null),
    openFile: async (path) => (await import("../desktop/open-file.ts")).openFile(path),
    async copy(text) {
      const [{ copy }, { exec }] = await Promise.all([
        import("../desktop/clipboard.ts"),
        import("../system/exec.ts"),
      ]);
      return copy(text, exec, env);
    },
    async connect() {
      const [{ connectClaude }, { exec }] = await Promise.all([
        import("../setup/connect.ts"),
        import("../system/exec.ts"),
      ]);
      return connectClaude({ paths, env, exec, version });
    },
    quit: options.quit,
    onProblem,
  });
  return {
    desk,
    actions,
    reach: terminals.reach,
    async about() {
      await Promise.race([opening.catch(() => {}), Bun.sleep(openingMs)]);
      return desk.about();
    },
    open() {
      opening = openDesk(desk, paths.helpers);
      return opening;
    },
  };
}

async function openDesk(desk: Presenter, folder: string): Promise<void> {
  ensurePrivateFolder(folder);
  const [{ openTray }, { openNotifier }] = await Promise.all([
    import("../desktop/tray/index.ts"),
    import("../desktop/notify/index.ts"),
    // For the first alert, which should not wait for it.
    import("../desktop/terminals/index.ts"),
  ]);
  await desk.open({ tray: openTray, notifier: openNotifier, folder });
}

/** Loaded with the first look or click: measured side by side, a start takes 0.8 of the time without it. */
function whenNeeded(env: Env): Terminals {
  let loading: Promise<Terminals> | null = null;
  const load = () => {
    loading ??= import("../desktop/terminals/index.ts").then(({ createTerminals }) =>
      createTerminals({ env, lookMs }),
    );
    return loading;
  };
  return {
    focus: async (target) => (await load()).focus(target),
    isLooking: async (target) => (await load()).isLooking(target),
    reach: async (target) => (await load()).reach(target),
  };
}

/** Whether it makes sense to look for a panel at all. */
export function hasDesktop(env: Env, platform: NodeJS.Platform = process.platform): boolean {
  if (platform === "win32" || platform === "darwin") return true;
  return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.DBUS_SESSION_BUS_ADDRESS);
}
