/** The sinks: what follows the state. Those that show something come first, then those that write down what happened. */
import { agents as everyAgent, listVariables } from "../agents/index.ts";
import { type Alerts, createAlerts } from "../alerts/index.ts";
import { createPageFocus, type PageFocus } from "../alerts/page-focus.ts";
import { type Answers, createAnswers } from "../answers/index.ts";
import { createOtherChanges, type OtherChanges } from "../answers/other-changes.ts";
import type { ClockReading } from "../core/session/event.ts";
import { settle } from "../core/session/settle.ts";
import type { TraySink } from "../desktop/tray/sink.ts";
import { createHistory, type History } from "../history/index.ts";
import { createPastContext } from "../history/past-state.ts";
import { createPreferenceKeeper, type PreferenceKeeper } from "../preferences/index.ts";
import { maskText } from "../secrets/index.ts";
import { readInstallRecord } from "../setup/install-record.ts";
import { ofOwnSessions } from "../state/followers.ts";
import type { EventStream } from "../streams/event-stream.ts";
import { createEventStream } from "../streams/event-stream.ts";
import { createLifecycleStream } from "../streams/lifecycle-stream.ts";
import { dropUntrustedSecrets } from "../system/app-environment.ts";
import { schedule, scheduleTogether } from "../system/schedule.ts";
import { createWorkGuard, type WorkGuard } from "../workguard/index.ts";
import { openAlertState } from "./alert-state.ts";
import { createAwake } from "./awake.ts";
import type { Base } from "./base.ts";
import { type Channels, createChannels } from "./channels.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { Desktop } from "./desktop.ts";
import { createFilesAcrossMachines, type FilesAcrossMachines } from "./files-across-machines.ts";
import { type AppMachines, createAppMachines } from "./machines.ts";
import { createMemoryRelease } from "./release-memory.ts";
import { createRenderLoop, type RenderLoop } from "./render-loop.ts";
import { type AppRules, createAppRules } from "./rules.ts";
import { type AppSessionList, createSessionList } from "./session-list.ts";
import type { AppState } from "./state.ts";
import { type AppStreamServer, createStreamServer } from "./stream-server.ts";
import { type AppUpdateCheck, createUpdateCheck } from "./update-check.ts";
import { createGuardCommand, createGuardHooksKeeper, type GuardHooksKeeper } from "./work-guard.ts";

/** Tray, alerts and channels, and what they need to know about the user. */
interface ShowingSinks {
  readonly renderLoop: RenderLoop;
  readonly preferences: PreferenceKeeper;
  readonly alerts: Alerts;
  readonly pageFocus: PageFocus;
  readonly channels: Channels;
  readonly connection: Connection;
  readonly guardHooks: GuardHooksKeeper;
  readonly tray: TraySink;
  readonly updates: AppUpdateCheck;
  /** What menu and dashboard show: what the user can fix. */
  notices(): readonly string[];
  /** Everything else that is wrong. */
  problems(): readonly string[];
  stopShowing(): Promise<void>;
}

/** History, streams and the work guard. */
interface RecordingSinks {
  readonly sessionList: AppSessionList;
  readonly history: History;
  readonly events: EventStream;
  readonly workGuard: WorkGuard;
}

export interface Sinks extends ShowingSinks, RecordingSinks {
  readonly answers: Answers;
  readonly machines: AppMachines;
  readonly rules: AppRules;
  readonly filesAcrossMachines: FilesAcrossMachines;
  readonly streamServer: AppStreamServer;
  /** Writes down what the last events ended. Call it after the sources have stopped. */
  stopRecording(): Promise<void>;
}

const noChannelsFromHook =
  "no channel is used, because a hook has started beckon in the folder of BECKON_HOME. Run: beckon restart";

export function createSinks(base: Base, state: AppState, desktop: Desktop): Sinks {
  const { store, followers, transitions } = state;
  const rules = createAppRules(base, state);
  const otherChanges = createOtherChanges(base.clock);
  const answers = createAnswers({
    agents: base.agents,
    path: base.paths.answerLog,
    key: base.decisionKey,
    home: base.home,
    clock: base.clock,
    config: base.config,
    get: store.get,
    sessions: state.sessionsNow,
    dispatch: store.dispatch,
    onChange: followers.onRefresh,
    onAskEnded: transitions.onAskEnded,
    rules: rules.judge,
    otherChanges,
    onError: base.onError,
  });
  const filesAcrossMachines = createFilesAcrossMachines(base, state);
  const machines = createAppMachines(base, state, answers, filesAcrossMachines);
  const showing = createShowingSinks(base, state, desktop, answers, machines);
  const recording = createRecordingSinks(base, state, machines, showing, otherChanges);
  const { renderLoop, preferences, channels, connection, guardHooks, updates } = showing;
  const { history, events, workGuard } = recording;
  rules.start(history);
  const memory = createMemoryRelease();
  const awake = createAwake({ ...base, sessions: state.sessionsNow });
  const streamServer = createStreamServer(base);
  const stream = createLifecycleStream({
    server: streamServer,
    path: () => base.env.BECKON_STREAM_PATH || base.config().stream.path,
    clock: base.clock,
    schedule,
    onProblem: base.onProblem,
  });
  // Alerts and tray follow through the render loop, which start.ts adds them to once there is a desktop.
  followers.add(
    preferences,
    answers,
    ofOwnSessions(rules),
    machines,
    connection,
    state.snapshot,
    memory,
    history,
    events,
    { ...ofOwnSessions(stream), onSettingsChanged: streamServer.update },
    channels,
    ofOwnSessions(workGuard),
    filesAcrossMachines,
    guardHooks,
    updates,
    awake,
    renderLoop,
  );
  workGuard.start();

  return {
    ...showing,
    ...recording,
    answers,
    machines,
    rules,
    filesAcrossMachines,
    streamServer,
    problems: () => [
      ...rules.problems(),
      ...showing.problems(),
      ...history.problems(),
      ...streamServer.problems(),
    ],
    async stopShowing() {
      answers.pending.stop();
      memory.stop?.();
      awake.stop();
      workGuard.stop?.();
      filesAcrossMachines.stop();
      await Promise.all([machines.stop(), showing.stopShowing()]);
    },
    async stopRecording() {
      answers.stop();
      transitions.stop();
      stream.stop?.();
      await streamServer.stop();
      await history.stop();
      state.snapshot.stop();
    },
  };
}

function createShowingSinks(
  base: Base,
  state: AppState,
  desktop: Desktop,
  { logWriter, pending }: Answers,
  { requests, look, isAlertedElsewhere, locateUser, problems: machineProblems }: AppMachines,
): ShowingSinks {
  const { paths, env, home, clock, config, configFile, table, agents, onProblem } = base;
  const { store, spool, followers } = state;
  /** Nobody sees an ask that a rule answers. */
  const sessions = (at: ClockReading) => pending.withoutAnswering(store.sessions(at));
  const renderLoop = createRenderLoop({ clock, sessions, onProblem });
  const alertState = openAlertState(paths, onProblem);
  const preferences = createPreferenceKeeper({
    clock,
    sessions: store.sessions,
    config,
    saved: alertState.saved.preferences,
    createSaver: alertState.createPart("preferences"),
    onSet: followers.onRefresh,
  });
  const pageFocus = createPageFocus({ clock, onChange: followers.onRefresh });
  /** What alerts on the desktop and in channels are computed from. */
  const source = {
    clock,
    sessions,
    config,
    details: requests.details,
    home,
    terminals: desktop.terminals,
    look,
    isPageFocused: pageFocus.isFocused,
    readPresence: desktop.readPresence,
    isCaughtUp: spool.isCaughtUp,
    onProblem,
  };
  const alerts = createAlerts({
    ...source,
    locateUser,
    preferences,
    saved: alertState.saved.shown,
    createSaver: alertState.createPart("shown"),
    agentName: desktop.actions.agentName,
    savedCrossings: alertState.saved.crossings,
    createCrossingSaver: alertState.createPart("crossings"),
    refresh: followers.onRefresh,
    onShown: logWriter.shown,
    onSuppressed: logWriter.notShown,
  });
  const channels = createChannels({
    ...source,
    paths,
    env: dropUntrustedSecrets(env, listVariables(table)),
    // A project could name a folder with channels of its own, which would get everything and could answer.
    disabledReason: base.options.isFromHook && env.BECKON_HOME ? noChannelsFromHook : null,
    get(ref) {
      const session = store.get(ref);
      // Settled first: that can open an ask.
      return session && (pending.withoutAnswering([settle(session, clock().t)])[0] ?? null);
    },
    preferences: preferences.current,
    maskedDetails: requests.maskedDetails,
    answer: requests.answer,
    isAlertedElsewhere,
    async readLastResponse(session) {
      const path = await desktop.actions.findTranscript(session);
      const response = path && (await agents.get(session.agent)?.readLastResponse?.(path));
      return response ? maskText(response) : null;
    },
    onDelivery: logWriter.delivered,
    // Other machines want to know whether they work.
    onChange: followers.onRefresh,
  });
  const connection = createConnection({ table, agents, env, sessions: state.sessionsNow() });
  const guardHooks = createGuardHooksKeeper({
    table,
    paths,
    env,
    config,
    onChange: (sentence) => base.log("info", sentence),
    onProblem,
  });
  const updates = createUpdateCheck(base, renderLoop.refresh);
  const notices = () => [...guardHooks.problems(), ...configFile.problems(), ...channels.problems()];
  const tray = desktop.createTray({
    config,
    preferences: preferences.current,
    details: requests.details,
    unconnected: connection.unconnected,
    problems: () => [...notices(), ...machineProblems(), ...updates.notices()],
    refresh: renderLoop.refresh,
    clock,
    showMessage: alerts.showMessage,
    onProblem,
  });
  return {
    renderLoop,
    preferences,
    alerts,
    pageFocus,
    channels,
    connection,
    guardHooks,
    tray,
    updates,
    notices,
    problems: () => [
      ...guardHooks.problems(),
      ...configFile.problems(),
      ...(alertState.problem === null ? [] : [alertState.problem]),
      ...spool.problems(),
      ...channels.problems(),
      ...machineProblems(),
    ],
    async stopShowing() {
      renderLoop.stop();
      updates.stop();
      preferences.stop?.();
      await Promise.all([alerts.stop(), tray.stop(), channels.stop()]);
    },
  };
}

function createRecordingSinks(
  base: Base,
  state: AppState,
  { requests }: AppMachines,
  { preferences, renderLoop }: ShowingSinks,
  otherChanges: OtherChanges,
): RecordingSinks {
  const { paths, env, clock, config, defaultProvider, onProblem } = base;
  const { store, sessionsNow } = state;
  const sessionList = createSessionList({ store, requests, preferences, clock, config });
  const history = createHistory({
    path: paths.history,
    journal: paths.journal,
    position: state.journalPosition,
    defaultProvider,
    agents: base.table === everyAgent ? undefined : base.table,
    sessions: sessionsNow,
    get: store.get,
    context: () => createPastContext(preferences.current(), config()),
    groupOf: (key) => sessionList.get(key)?.group ?? "ended",
    config,
    clock,
    onProblem,
  });
  state.keepAfter(history.recordedTo);
  const events = createEventStream({
    now: () => clock().at,
    sessions: sessionList.all,
    findSession: sessionList.get,
    quiet: preferences.quiet,
    history,
    schedule,
    startRendering: renderLoop.add,
  });
  const formatCommand = createGuardCommand(env);
  const workGuard = createWorkGuard({
    paths,
    agents: base.agents,
    defaultProvider,
    config,
    clock,
    sessions: sessionsNow,
    get: store.get,
    dispatch: store.dispatch,
    publish: state.publish,
    schedule: scheduleTogether,
    command: () => formatCommand(readInstallRecord(paths)?.binary ?? null),
    otherChanges,
    onProblem,
  });
  return { sessionList, history, events, workGuard };
}
