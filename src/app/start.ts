/**
 * Composition: the only room that knows every other. `startApp` puts beckon together in phases, and each phase uses only
 * what an earlier one has made: files, state, sinks, sources, the API, the desktop. It listens before it reads the spool.
 */
import { version } from "../../package.json";
import type { Agent } from "../agents/agent.ts";
import { defaultAgent, agents as everyAgent, listVariables, loadAgents } from "../agents/index.ts";
import { createAlerts } from "../alerts/index.ts";
import { createAnswers } from "../answers/index.ts";
import { createPageAccess } from "../api/page-access.ts";
import { listenFrom } from "../api/server.ts";
import type { Sink, Source } from "../core/ports.ts";
import { type AgentEvent, createSessionKey } from "../core/session/event.ts";
import { sessionKeyOf } from "../core/session/keys.ts";
import { isProbe } from "../core/session/probe.ts";
import { hourMs } from "../core/timing.ts";
import { findDeadPredecessors } from "../core/view/groups.ts";
import { hasDesktop } from "../desktop/index.ts";
import { createHistory } from "../history/index.ts";
import { maskText } from "../secrets/index.ts";
import { readInstallRecord } from "../setup/record.ts";
import { createTransitionFinder } from "../state/transitions.ts";
import { watchConfig } from "../storage/config-file.ts";
import { ensurePrivateFolder, errorCode } from "../storage/files.ts";
import { loadJsonState, saveJsonState } from "../storage/json-state.ts";
import { acquireLock } from "../storage/lock.ts";
import { openLog } from "../storage/log.ts";
import type { Paths } from "../storage/paths.ts";
import { createSaver } from "../storage/saver.ts";
import { clearStateFolder } from "../storage/state-folder.ts";
import { createEventStream, createLifecycleStream } from "../streams/index.ts";
import { dropUntrustedSecrets } from "../system/app-environment.ts";
import { createClock } from "../system/clock.ts";
import { limitForeignConnections } from "../system/connection-limit.ts";
import { signDecision } from "../system/decision-signature.ts";
import { createSecret, loadOrCreateToken, removeEndpoint, writeEndpoint } from "../system/endpoint.ts";
import { exec } from "../system/exec.ts";
import { homeOf } from "../system/folders.ts";
import { schedule, scheduleTogether } from "../system/schedule.ts";
import { isOwnConnection } from "../system/sockets.ts";
import { watchAgents } from "../watch/index.ts";
import { createWorkGuard } from "../workguard/index.ts";
import { createChannels } from "./channels.ts";
import { createConnection } from "./connection.ts";
import { createDesktop } from "./desktop.ts";
import { createDoctorReport } from "./doctor-report.ts";
import { readQuiet, setQuiet } from "./quiet.ts";
import { createMemoryRelease } from "./release-memory.ts";
import { createRenderLoop } from "./render-loop.ts";
import { runSessionAction } from "./session-actions.ts";
import { createSessionList } from "./session-list.ts";
import { createSpoolSource } from "./spool-source.ts";
import { openState } from "./state.ts";
import { applyStatusLine } from "./status-line.ts";
import { createUserActions } from "./user-actions.ts";
import { createGuardCommand, createGuardHooksKeeper } from "./work-guard.ts";

export interface AppOptions {
  readonly paths: Paths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly port: number;
  /** Also print the log's warnings and errors. */
  readonly echo: boolean;
  /** A hook has started it, with variables that a project's settings may have set. */
  readonly isFromHook?: boolean;
  /** The agents to understand; all of the table if absent. */
  readonly agents?: readonly Agent[];
}

export interface App {
  readonly url: string;
  /** There is no desktop: neither icon nor notifications are shown. */
  readonly isHeadless: boolean;
  /** Resolves when the user chooses Quit, or a request with the token asks for it. */
  readonly quit: Promise<"user" | "request">;
  stop(): Promise<void>;
}

const pruneMs = 60_000;
/** How long `startApp` waits for the sources once the API listens. */
const maxSourcesMs = 250;
/**
 * How long the first list of sessions waits for them. Between two spooled events the API answers, so a session would be listed
 * without its prompts. A longer spool is not waited for: the list then says that it may be old.
 */
const maxFirstListMs = 1_000;

const noChannelsFromHook =
  "no channel is used, because a hook has started beckon in the folder of BECKON_HOME. Run: beckon restart";

/** Resolves with null if another beckon uses this state folder. */
export async function startApp(options: AppOptions): Promise<App | null> {
  const { paths, env } = options;

  // 1. Files: one app per state folder, its log, its token and the user's settings.
  ensurePrivateFolder(paths.state);
  const lock = acquireLock(paths);
  if (!lock) return null;
  const cleared = clearStateFolder(paths);
  const log = openLog(paths.log, { echo: options.echo });
  const onError = (text: string) => log("error", text);
  const onProblem = (text: string) => log("warn", text);
  for (const sentence of cleared) onProblem(sentence);
  const clock = createClock();
  const token = loadOrCreateToken(paths);
  const decisionKey = createSecret();
  const pageAccess = createPageAccess({
    token,
    startSecret: createSecret(),
    now: () => clock().at,
    createSecret,
  });
  const quit = Promise.withResolvers<"user" | "request">();
  const onSettingsChanged: (() => void)[] = [];
  const settings = watchConfig(paths.config, () => {
    for (const listener of onSettingsChanged) listener();
  });
  const logSettings = () => {
    for (const problem of settings.problems()) onProblem(problem);
    if (settings.problems().length === 0) log("info", "the settings are read");
  };
  logSettings();
  onSettingsChanged.push(logSettings);
  const { config } = settings;
  const table = options.agents ?? everyAgent;
  const agents = await loadAgents(table);

  // 2. State: the snapshot, and what the journal has after it.
  const state = openState({
    agents,
    paths,
    clock,
    config,
    defaultProvider: env.BECKON_PROVIDER,
    onProblem,
    onError,
  });
  const { store, ingest } = state;
  const sessionsNow = () => store.sessions(clock());

  const spool = createSpoolSource({
    paths,
    position: state.spoolPosition,
    table,
    defaultProvider: env.BECKON_PROVIDER,
    ingest,
    onTaken(count) {
      if (count > 0) log("info", `${count} events from the spool`);
    },
    onProblem,
    onError,
  });
  const problems = () => [
    ...guardHooks.problems(),
    ...settings.problems(),
    ...(alertState.problem === null ? [] : [alertState.problem]),
    ...spool.problems(),
    ...history.problems(),
    ...channels.problems(),
  ];
  /** What menu and dashboard show: what the user can fix. */
  const listNotices = () => [...guardHooks.problems(), ...settings.problems(), ...channels.problems()];

  // 3. Sinks: everything that follows the state.
  const renderLoop = createRenderLoop({ clock, sessions: store.sessions, onProblem });
  const refresh = () => {
    renderLoop.refresh();
    channels.refresh();
  };
  const answers = createAnswers({
    agents,
    path: paths.answerLog,
    key: decisionKey,
    home: homeOf(env),
    clock,
    config,
    get: store.get,
    sessions: sessionsNow,
    dispatch: store.dispatch,
    onChange: refresh,
    onAskEnded: (end) => transitions.onAskEnded(end),
    onError,
  });
  const { pending, recorder } = answers;
  const desktop = createDesktop({ paths, env, table, agents });
  const alertState = loadJsonState(paths.alertState);
  if (alertState.problem !== null) onProblem(alertState.problem);
  const alerts = createAlerts({
    clock,
    sessions: store.sessions,
    config,
    details: pending.details,
    home: homeOf(env),
    terminals: desktop.terminals,
    readPresence: desktop.readPresence,
    isCaughtUp: spool.isCaughtUp,
    saved: alertState.value,
    // Which alerts are shown must be known after a kill too, or they are shown twice.
    createSaver: (value) =>
      createSaver(() => saveJsonState(paths.alertState, value()), {
        quietMs: 30,
        maxDelayMs: 200,
        maxPauseMs: 0,
        onError: onProblem,
      }),
    refresh,
    onShown: recorder.shown,
    onSuppressed: recorder.notShown,
    onProblem,
  });
  const channels = createChannels({
    paths,
    env: dropUntrustedSecrets(env, listVariables(table)),
    // A project could name a folder with channels of its own, which would get everything and could answer.
    disabledReason: options.isFromHook && env.BECKON_HOME ? noChannelsFromHook : null,
    clock,
    sessions: store.sessions,
    get: store.get,
    config,
    preferences: alerts.preferences,
    details: pending.details,
    maskedDetails: pending.maskedDetails,
    answer: pending.answer,
    readPresence: desktop.readPresence,
    terminals: desktop.terminals,
    isCaughtUp: spool.isCaughtUp,
    async readLastResponse(session) {
      const path = await desktop.actions.findTranscript(session);
      const response = path && (await agents.get(session.agent)?.readLastResponse?.(path));
      return response ? maskText(response) : null;
    },
    home: homeOf(env),
    onDelivery: recorder.delivered,
    onProblem,
    onChange: renderLoop.refresh,
  });
  const connection = createConnection({ table, agents, env, sessions: sessionsNow() });
  const tray = desktop.createTray({
    config,
    preferences: alerts.preferences,
    details: pending.details,
    unconnected: connection.unconnected,
    problems: listNotices,
    refresh: renderLoop.refresh,
    clock,
    showMessage: alerts.showMessage,
    onProblem,
  });
  let url = "";
  const actions = createUserActions({
    ...desktop.actions,
    alerts,
    pending,
    terminals: desktop.terminals,
    locate: (session) => watch.locate(session),
    clock,
    sessions: store.sessions,
    config,
    configPath: paths.config,
    url: () => url,
    createPageUrl: () => pageAccess.createUrl(Number(new URL(url).port)),
    quit: () => quit.resolve("user"),
    onProblem,
  });
  const snapshot = state.createSnapshotSink(spool.position);
  const memory = createMemoryRelease();
  const sessionList = createSessionList({
    store,
    pending,
    preferences: alerts.preferences,
    clock,
    config,
    problems,
    unconnected: connection.unconnected,
  });
  const history = createHistory({
    path: paths.history,
    journal: paths.journal,
    position: state.journalPosition,
    defaultProvider: env.BECKON_PROVIDER || defaultAgent,
    agents: table === everyAgent ? undefined : table,
    sessions: sessionsNow,
    groupOf: (key) => sessionList.get(key)?.group ?? "ended",
    config,
    now: () => clock().at,
    onProblem,
  });
  const events = createEventStream({
    now: () => clock().at,
    sessions: sessionList.all,
    findSession: sessionList.get,
    quiet: () => readQuiet({ ...alerts, config, clock }),
    history,
    schedule,
    onFirstClient: () => renderLoop.add(events),
  });
  const stream = createLifecycleStream({
    path: () => env.BECKON_STREAM_PATH || config().stream.path,
    onProblem,
  });
  const guardHooks = createGuardHooksKeeper({
    agents: table,
    paths,
    env,
    config,
    onChange: (sentence) => log("info", sentence),
    onProblem,
  });
  const formatCommand = createGuardCommand(env);
  const workGuard = createWorkGuard({
    paths,
    agents,
    defaultProvider: env.BECKON_PROVIDER || defaultAgent,
    config,
    clock,
    sessions: sessionsNow,
    get: store.get,
    dispatch: store.dispatch,
    publish(transition) {
      state.journalSessionEvent(transition.key, transition.event);
      for (const sink of sinks) sink.onTransition?.(transition);
    },
    schedule: scheduleTogether,
    command: () => formatCommand(readInstallRecord(paths)?.binary ?? null),
    onProblem,
  });
  const sinks: readonly Sink[] = [
    answers,
    connection,
    snapshot,
    alerts,
    tray,
    memory,
    history,
    events,
    stream,
    channels,
    workGuard,
  ];
  onSettingsChanged.push(
    renderLoop.refresh,
    pending.recheck,
    history.onSettingsChanged,
    channels.onSettingsChanged,
    workGuard.onSettingsChanged,
    guardHooks.update,
  );

  // 4. Sources. They start once the API listens.
  /** What the agents' files say about sessions whose older events are still in the spool. */
  const newer: AgentEvent[] = [];
  const watch = watchAgents({
    agents,
    env,
    clock,
    sessions: () => sessionsNow().filter((session) => spool.isCaughtUp(sessionKeyOf(session))),
    get: store.get,
    dispatch(event) {
      if (spool.isCaughtUp(createSessionKey(event.agent, event.sessionId))) store.dispatch(event);
      else newer.push(event);
    },
    mask: maskText,
    onError,
    exec,
    listWindows: desktop.terminals.listWindows,
    holdRequest: pending.holdWatched,
    findProgram: async (agent) => readInstallRecord(paths)?.programs[agent] ?? null,
  });
  const sources: readonly Source[] = [spool, watch];
  const transitions = createTransitionFinder({
    clock,
    get: store.get,
    schedule,
    onTransition(transition) {
      for (const sink of sinks) sink.onTransition?.(transition);
    },
  });
  transitions.restore(sessionsNow());
  store.subscribe((session, event, before) => {
    const change = { session, event, before };
    transitions.onChange(session, event.at);
    if (event.change.kind === "session-start") {
      for (const dead of findDeadPredecessors(sessionsNow(), session))
        alerts.setPreference({ do: "dismiss", session: sessionKeyOf(dead) });
    }
    for (const sink of sinks) sink.onChange?.(change);
    for (const source of sources) source.onChange?.(change);
    renderLoop.refresh();
  });
  workGuard.start();
  const prune = () => {
    const { completedHours, completedMax } = config().keep;
    const dropped = store.prune(clock(), { completedMs: completedHours * hourMs, completedMax });
    for (const key of dropped) transitions.onDeparted(key);
  };
  const pruning = setInterval(prune, pruneMs);
  let isClosing = false;

  /** What happened while beckon was not running first, in order; then what the agents' files say now. */
  async function startSources(): Promise<void> {
    await spool.start();
    for (const event of newer.splice(0)) store.dispatch(event);
    if (isClosing) return;
    await watch.start();
    prune();
    renderLoop.refresh();
  }

  async function close(): Promise<void> {
    isClosing = true;
    clearInterval(pruning);
    settings.stop();
    renderLoop.stop();
    pending.stop();
    memory.stop?.();
    workGuard.stop?.();
    await Promise.all([alerts.stop(), tray.stop(), channels.stop()]);
    for (const source of sources) await source.stop();
    // Last, so that what the sources just dispatched is written down.
    await answers.stop?.();
    transitions.stop();
    await history.stop();
    await snapshot.stop?.();
    state.close();
    lock?.release();
  }

  // 5. The API.
  const listReady = Promise.withResolvers<void>();
  const isHeadless = !hasDesktop(env);
  const api = await listenFrom(options.port, {
    token,
    pageAccess,
    pageFacts: () => ({
      version,
      agents: Object.fromEntries(table.map(({ id, name }) => [id, name])),
      unconnected: connection.unconnected().map(({ name }) => name),
      problems: listNotices(),
    }),
    loadPage: async () => (await import("../dashboard/index.ts")).loadPage(),
    isOwnUser: isOwnConnection,
    stop: () => quit.resolve("request"),
    accept(text) {
      const older = spool.takeOlder(text);
      return older ? older.then(() => ingest.accept(text)) : ingest.accept(text);
    },
    sessions: sessionList,
    listReady: listReady.promise,
    history,
    events,
    act: (name, action, body) =>
      runSessionAction({ store, clock, alerts, actions, pending }, name, action, body),
    setQuiet: (body) => setQuiet({ ...alerts, config, clock }, body),
    checkGuard: workGuard.check,
    listPorts: workGuard.listPorts,
    sign: (request, text) => signDecision(decisionKey, request, text),
    readStatusLine: (body) => applyStatusLine({ agents, store, clock }, body),
    hold: pending,
    channels: channels.report,
    testChannel: channels.test,
    doctor: async (wants) =>
      createDoctorReport({
        env,
        isHeadless,
        tray: await tray.report(),
        view: tray.view(),
        notifier: await desktop.notifierReport(),
        alerts: alerts.report(),
        quiet: readQuiet({ ...alerts, config, clock }),
        config: config(),
        problems: problems(),
        probes: sessionsNow().filter(isProbe),
        reach: wants.has("reach") ? desktop.terminals.dryRunFocus : null,
      }),
    onError,
  }).catch(async (error) => {
    await close();
    throw error;
  });
  url = `http://127.0.0.1:${api.port}`;
  try {
    writeEndpoint(paths, { url, pid: process.pid, key: decisionKey });
  } catch (cause) {
    await api.stop();
    await close();
    throw new Error(
      `beckon cannot write ${paths.endpoint} (${errorCode(cause)}), so hooks cannot find it. Is the folder writable, and the disk not full?`,
      { cause },
    );
  }
  log(
    "info",
    `listening on ${url}: ${sessionsNow().length} sessions, ${state.replayedEvents} events from the journal`,
  );
  guardHooks.update();
  const stopLimiting = limitForeignConnections(api.port, onProblem);
  const sourcesStarted = startSources().catch((error) => onError(`a source could not be started: ${error}`));
  void Promise.race([sourcesStarted, Bun.sleep(maxFirstListMs)]).then(() => listReady.resolve());

  // 6. The desktop, opened in the background.
  if (!isHeadless) {
    renderLoop.add(alerts);
    // Before that, the icon would count asks that ended long ago.
    void sourcesStarted.then(() => renderLoop.add(tray));
    desktop
      .open({ tray, alerts, onAction: actions.click })
      .catch((error) => onError(`the desktop could not be reached: ${error}`));
  }

  // A spool of usual length is read before the user is told that beckon runs, so that the first list is complete.
  await Promise.race([sourcesStarted, Bun.sleep(maxSourcesMs)]);
  let stopping: Promise<void> | null = null;
  return {
    url,
    isHeadless,
    quit: quit.promise,
    stop() {
      stopping ??= (async () => {
        removeEndpoint(paths);
        events.stop();
        stopLimiting();
        await api.stop();
        await close();
        log("info", "stopped");
      })();
      return stopping;
    },
  };
}
