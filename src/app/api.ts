/** The API: what each route asks of the rest of the app. */
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { version } from "../../package.json";
import type { PageAccess } from "../api/page-access.ts";
import { type ApiServer, listenFrom, listenOnSocket, type SettingsRequests } from "../api/server.ts";
import { isProbe } from "../core/session/probe.ts";
import { findMachineDifference } from "../setup/versions.ts";
import { ignoreErrors } from "../storage/files.ts";
import { signDecision } from "../system/decision-signature.ts";
import { isOwnConnection } from "../system/sockets.ts";
import type { Base } from "./base.ts";
import type { Desktop } from "./desktop.ts";
import type { AppFleets } from "./fleet.ts";
import type { LinkServer } from "./link.ts";
import type { AppMachines } from "./machines.ts";
import type { Navigation } from "./navigation.ts";
import type { AppPrompts } from "./prompts.ts";
import { runSessionAction, setQuiet } from "./session-actions.ts";
import { createListFacts } from "./session-list.ts";
import type { Sinks } from "./sinks.ts";
import type { AppState } from "./state.ts";
import { applyStatusLine } from "./status-line.ts";

interface RequestOptions {
  readonly base: Base;
  readonly state: AppState;
  readonly desktop: Desktop;
  readonly sinks: Sinks;
  readonly navigation: Navigation;
  readonly pageAccess: PageAccess;
  readonly link: LinkServer;
  readonly fleets: AppFleets;
  readonly prompts: AppPrompts;
  /** The list of sessions waits for it after a start. */
  readonly listReady: Promise<void>;
  /** Quits the app soon. */
  readonly quit: () => void;
}

/** Loaded when the panel is opened. */
function createSettingsRequests(
  { base, desktop, sinks }: RequestOptions,
  port: () => number,
): SettingsRequests {
  const load = () => import("./settings.ts");
  const options = { base, channels: sinks.channels.report, port };
  return {
    read: async () => (await load()).readSettings(options),
    save: async (body) => (await load()).savePageSettings(options, body),
    open: async () =>
      desktop.isHeadless
        ? `there is no desktop. The file is ${base.paths.config}`
        : (await load()).openConfigFile(base.paths.config, desktop.actions.openFile),
  };
}

const describeTeams = (teams: readonly string[]) => (teams.length === 0 ? {} : { teams });

/** One line for each linked machine with another version. They work together, so it is not a problem for the menu. */
const listOtherVersions = ({ report }: Pick<AppMachines, "report">): readonly string[] =>
  report().flatMap(({ name, state, version: there }) => {
    const difference = state === "linked" ? findMachineDifference(name, there, version) : null;
    return difference === null ? [] : [`${difference.text}. Run: ${difference.fix}`];
  });

export async function listenForRequests(options: RequestOptions): Promise<ApiServer> {
  const { base, state, desktop, sinks, navigation } = options;
  const { agents, table, clock, config, decisionKey, env } = base;
  const { store } = state;
  const { answers, alerts, channels, connection, preferences, tray, workGuard } = sinks;
  const { pending } = answers;
  const listening: ApiServer = await listenFrom(base.options.port, {
    token: base.token,
    pageAccess: options.pageAccess,
    pageFacts: () => ({
      version,
      agents: Object.fromEntries(table.map(({ id, name }) => [id, name])),
      unconnected: connection.unconnected().map(({ name }) => name),
      problems: sinks.notices(),
      ...(base.options.isDemo ? { isDemo: true } : {}),
      ...(sinks.machines.report().length === 0 ? {} : { machines: sinks.machines.report() }),
      ...describeTeams(options.fleets.teamNames()),
    }),
    reportPageFocus: sinks.pageFocus.report,
    loadPage: async () => (await import("../dashboard/index.ts")).loadPage(),
    isOwnUser: isOwnConnection,
    stop: options.quit,
    accept: state.accept,
    sessions: {
      ...sinks.sessionList,
      more: () =>
        createListFacts({
          preferences,
          config,
          problems: () => [...sinks.problems(), ...listOtherVersions(sinks.machines)],
          unconnected: connection.unconnected,
        }),
    },
    listReady: options.listReady,
    history: {
      ...sinks.history,
      findMoment: async (at) =>
        (await import("./moment.ts")).addPastAlerts(await sinks.history.findMoment(at), base.paths.answerLog),
    },
    readTranscript: async (key, at, before) =>
      (await import("./transcript.ts")).readTranscript(
        { agents, store, history: sinks.history, env },
        key,
        at,
        before,
      ),
    events: sinks.events,
    act: (name, action, body) =>
      runSessionAction(
        {
          store,
          clock,
          preferences,
          navigation,
          requests: sinks.machines.requests,
          prompts: options.prompts,
          rules: sinks.rules,
        },
        name,
        action,
        body,
      ),
    setQuiet: (body) => setQuiet(preferences, body),
    checkGuard: workGuard.check,
    listWorkPorts: workGuard.listPorts,
    sign: (request, text) => signDecision(decisionKey, request, text),
    readStatusLine: (body) => applyStatusLine({ agents, store, clock }, body),
    pending,
    settings: createSettingsRequests(options, () => listening.port),
    channels: channels.report,
    testChannel: channels.test,
    machines: sinks.machines.report,
    prompts: options.prompts,
    rules: sinks.rules,
    teams: options.fleets.teams,
    retryMachine: sinks.machines.retry,
    link: options.link,
    fleets: options.fleets,
    doctor: async (wants) =>
      (await import("./doctor-report.ts")).createDoctorReport({
        env,
        isHeadless: desktop.isHeadless,
        tray: await tray.report(),
        view: tray.view(),
        notifier: await desktop.notifierReport(),
        alerts: alerts.report(),
        quiet: preferences.quiet(),
        config: config(),
        problems: sinks.problems(),
        stream: sinks.streamServer.report(),
        probes: state.sessionsNow().filter(isProbe),
        reach: wants.has("reach") ? desktop.terminals.dryRunFocus : null,
      }),
    onError: base.onError,
  });
  const stopSocket = openHookSocket(base, state);
  return {
    port: listening.port,
    stop: async () => void (await Promise.all([stopSocket(), listening.stop()])),
  };
}

/** macOS allows 104 bytes with the zero at the end, Linux 108. */
const maxSocketPathBytes = 103;

/** Where it cannot be opened, as on some network disks, hooks use the port. */
function openHookSocket({ paths: { hookSocket: path } }: Base, { accept }: AppState): () => Promise<void> {
  if (process.platform === "win32" || Buffer.byteLength(path) > maxSocketPathBytes) return async () => {};
  const remove = () =>
    ignoreErrors(() => {
      if (lstatSync(path).isSocket()) rmSync(path, { force: true });
    });
  // This process has the folder's lock: a socket that is there was left behind by one that crashed.
  remove();
  try {
    const server = listenOnSocket(path, accept);
    chmodSync(path, 0o600);
    return async () => {
      remove();
      await server.stop();
    };
  } catch {
    remove();
    return async () => {};
  }
}
