/**
 * Composition: the only room that knows every other. `startApp` is the list of what beckon is made of. Each part is made from those
 * above it, and publishes to what follows it through `state.followers`. It listens before it reads the spool.
 */
import { version } from "../../package.json";
import { createPageAccess } from "../api/page-access.ts";
import { ofOwnSessions } from "../state/followers.ts";
import { errorCode } from "../storage/files.ts";
import { limitForeignConnections } from "../system/connection-limit.ts";
import { createSecret, removeEndpoint, writeEndpoint } from "../system/endpoint.ts";
import { waitAtMost } from "../system/schedule.ts";
import { listenForRequests } from "./api.ts";
import { type AppOptions, type Base, openBase } from "./base.ts";
import { createDesktop } from "./desktop.ts";
import { createAppFleets } from "./fleet.ts";
import { createLinkServer, createOwnerOptions } from "./link.ts";
import { createNavigation } from "./navigation.ts";
import { createAppPrompts } from "./prompts.ts";
import { createSinks } from "./sinks.ts";
import { createSources } from "./sources.ts";
import { openState } from "./state.ts";
import { createUserActions } from "./user-actions.ts";

export type { AppOptions } from "./base.ts";

export interface App {
  readonly url: string;
  /** There is no desktop: neither icon nor notifications are shown. */
  readonly isHeadless: boolean;
  /** Resolves when the user chooses Quit, or a request with the token asks for it. */
  readonly quit: Promise<"user" | "request">;
  stop(): Promise<void>;
}

/** How long `startApp` waits for the sources once the API listens. */
const maxSourcesMs = 250;
/**
 * How long the first list of sessions waits for them. Between two spooled events the API answers, so a session would be listed
 * without its prompts. A longer spool is not waited for: the list then says that it may be old.
 */
const maxFirstListMs = 1_000;

/** Resolves with null if another beckon uses this state folder. */
export async function startApp(options: AppOptions): Promise<App | null> {
  const base = await openBase(options);
  if (!base) return null;
  const { paths, clock, onProblem, onError } = base;
  const state = openState(base);
  const desktop = createDesktop(base);
  const sinks = createSinks(base, state, desktop);
  const { alerts, preferences, renderLoop, tray } = sinks;
  const sources = createSources(base, state, desktop, sinks);
  const navigation = createNavigation({
    ...desktop.actions,
    terminals: desktop.terminals,
    locate: sources.locate,
    clock,
    sessions: state.store.sessions,
    preferences: preferences.current,
    config: base.config,
    selectPane: sinks.machines.selectPane,
  });
  const prompts = createAppPrompts(base, state, sinks, sources);
  state.followers.add(ofOwnSessions(prompts));
  sinks.channels.connectPrompts(prompts.forChannels);
  const createOwner = () => createOwnerOptions(base, state, desktop, sinks, navigation, prompts);
  const link = createLinkServer(state, sinks, createOwner);
  const fleets = createAppFleets(base, state, desktop, sinks, createOwner);

  const close = async (): Promise<void> => {
    state.stopPruning();
    base.configFile.stop();
    await sinks.stopShowing();
    await sources.stop();
    prompts.stop?.();
    // Last, so that what the sources just dispatched is written down.
    await sinks.stopRecording();
    state.close();
    base.lock.release();
  };

  const quit = Promise.withResolvers<"user" | "request">();
  const listReady = Promise.withResolvers<void>();
  const pageAccess = createPageAccess({
    token: base.token,
    startSecret: createSecret(),
    now: () => clock().at,
    createSecret,
  });
  const api = await listenForRequests({
    base,
    state,
    desktop,
    sinks,
    navigation,
    pageAccess,
    link,
    fleets,
    prompts,
    listReady: listReady.promise,
    quit: () => quit.resolve("request"),
  }).catch(async (error) => {
    await close();
    throw error;
  });
  const url = `http://127.0.0.1:${api.port}`;
  try {
    announce(base, url);
  } catch (error) {
    await api.stop();
    await close();
    throw error;
  }
  base.log(
    "info",
    `listening on ${url}: ${state.sessionsNow().length} sessions, ${state.replayedEvents} events from the journal`,
  );
  sinks.guardHooks.update();
  const stopLimiting = limitForeignConnections(api.port, onProblem);
  const sourcesStarted = sources.start().catch((error) => onError(`a source could not be started: ${error}`));
  void sinks.machines
    .start(sinks.history)
    .then(fleets.update)
    .catch((error) => onError(`machines could not be linked: ${error}`));
  void waitAtMost(maxFirstListMs, sourcesStarted).then(() => listReady.resolve());

  // Opened in the background.
  if (!desktop.isHeadless) {
    const runUserAction = createUserActions({
      ...desktop.actions,
      navigation,
      setPreference: preferences.set,
      showMessage: alerts.showMessage,
      requests: sinks.machines.requests,
      configPath: paths.config,
      url,
      createPageUrl: () => pageAccess.createUrl(api.port),
      quit: () => quit.resolve("user"),
      onProblem,
    });
    renderLoop.add(alerts);
    // Before that, the icon would count asks that ended long ago.
    void sourcesStarted.then(() => renderLoop.add(tray));
    desktop
      .open({ tray, alerts, onAction: runUserAction })
      .catch((error) => onError(`the desktop could not be reached: ${error}`));
  }

  // A spool of usual length is read before the user is told that beckon runs, so that the first list is complete.
  await waitAtMost(maxSourcesMs, sourcesStarted);
  let stopping: Promise<void> | null = null;
  return {
    url,
    isHeadless: desktop.isHeadless,
    quit: quit.promise,
    stop() {
      stopping ??= (async () => {
        removeEndpoint(paths);
        sinks.events.stop();
        link.stop();
        await fleets.stop();
        stopLimiting();
        await api.stop();
        await close();
        base.log("info", "stopped");
      })();
      return stopping;
    },
  };
}

/** Lets hooks and commands find this app. */
function announce({ paths, decisionKey }: Base, url: string): void {
  try {
    writeEndpoint(paths, { url, pid: process.pid, key: decisionKey, version });
  } catch (cause) {
    throw new Error(
      `beckon cannot write ${paths.endpoint} (${errorCode(cause)}), so hooks cannot find it. Is the folder writable, and the disk not full?`,
      { cause },
    );
  }
}
