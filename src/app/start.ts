/** The composition root: the only file that names concrete adapters. */

import type { Agent } from "../agents/agent.ts";
import { defaultAgent, agents as everyAgent, loadAgents } from "../agents/index.ts";
import { createAnswers } from "../answers/index.ts";
import { listenFrom } from "../api/listen.ts";
import { limits } from "../core/limits.ts";
import { isHookChange } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import { hourMs } from "../core/timing.ts";
import { createIngest, type Ingest } from "../ingest/index.ts";
import { maskJson } from "../secrets/index.ts";
import { maskText } from "../secrets/rules.ts";
import { createConnection } from "../setup/connection.ts";
import { decodeState, encodeState, type SavedState } from "../state/saved-state.ts";
import { createStore } from "../state/store.ts";
import { watchConfig } from "../storage/config-file.ts";
import { ensurePrivateFolder, errorCode } from "../storage/files.ts";
import { openJournal } from "../storage/journal/index.ts";
import { acquireLock } from "../storage/lock.ts";
import { openLog } from "../storage/log.ts";
import type { Paths } from "../storage/paths.ts";
import { createSaver } from "../storage/saver.ts";
import { loadSnapshot, saveSnapshot } from "../storage/snapshot.ts";
import { openSpool, type SpoolPosition } from "../storage/spool.ts";
import { createClock } from "../system/clock.ts";
import { createSecret, loadOrCreateToken, removeEndpoint, writeEndpoint } from "../system/endpoint.ts";
import { watchAgents } from "../watch/index.ts";
import { createDesktop, hasDesktop } from "./desktop.ts";
import { createDoctorReport } from "./doctor-report.ts";
import { runSessionAction } from "./session-actions.ts";
import { createSessionList } from "./session-list.ts";

export interface AppOptions {
  readonly paths: Paths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly port: number;
  /** Also print the log's warnings and errors. */
  readonly echo: boolean;
  /** The agents to understand, if not all of the table. */
  readonly agents?: readonly Agent[];
}

export interface App {
  readonly url: string;
  /** No desktop here: neither icon nor alerts. */
  readonly isHeadless: boolean;
  /** The person chose Quit; or somebody with the token asked. */
  readonly quit: Promise<"person" | "request">;
  stop(): Promise<void>;
}

const pruneMs = 60_000;

/** null: another beckon has this folder. */
export async function startApp(options: AppOptions): Promise<App | null> {
  const { paths, env } = options;
  ensurePrivateFolder(paths.state);
  const lock = acquireLock(paths);
  if (!lock) return null;
  const log = openLog(paths.log, { echo: options.echo });
  const onError = (text: string) => log("error", text);
  const clock = createClock();
  const token = loadOrCreateToken(paths);
  const store = createStore(onError);
  const agents = await loadAgents(options.agents ?? everyAgent);
  const settings = watchConfig(paths.config, () => {
    tellProblems();
    desk.refresh();
    held.recheck();
  });
  const tellProblems = () => {
    for (const problem of settings.problems()) log("warn", problem);
    if (settings.problems().length === 0) log("info", "the settings are read");
  };
  tellProblems();
  const retentionDays = () => settings.config().keep.journalDays;
  const journal = openJournal(paths.journal, { retentionDays, onError });
  const intake = createIngest({
    agents,
    journal,
    mask: maskJson,
    clock,
    defaultProvider: env.BECKON_PROVIDER || defaultAgent,
    dispatch: store.dispatch,
    onError,
  });

  // What was known: the snapshot, and what the journal has after it.
  const loaded = loadSnapshot(paths);
  if (loaded.problem) log("warn", loaded.problem);
  const saved = loaded.value ? decodeState(loaded.value, clock()) : null;
  if (saved) store.restore(saved.sessions, saved.eventWindows);
  if (saved && saved.dropped > 0)
    log("warn", `the snapshot holds ${saved.dropped} sessions that make no sense`);
  let spooled = saved?.spool ?? null;
  const replayed = journal.replay(saved?.journal ?? null, (line) => {
    if (line.spool) spooled = line.spool;
    intake.replay(line);
  });
  intake.rememberIds(journal.recentIds(limits.rememberedIds));

  // What is true now: files and processes.
  const watching = watchAgents({
    agents,
    env,
    clock,
    sessions: () => store.sessions(clock()),
    get: store.get,
    dispatch: store.dispatch,
    mask: maskText,
    onError,
  });

  const save = (): void => {
    const covered = journal.position();
    const now = clock();
    const sessions = store.sessions(now).filter((session) => !isProbe(session));
    const value: SavedState = {
      journal: covered,
      spool: spool.position(),
      sessions,
      eventWindows: store.eventWindows(now).filter(({ recent }) => !recent.some(isProbe)),
    };
    saveSnapshot(paths, encodeState(value, now));
    journal.rotate(covered);
  };
  const saver = createSaver(save, { onError });
  const quit = Promise.withResolvers<"person" | "request">();
  const isRegistered = createConnection(env);
  let isHeard = store.sessions(clock()).some((session) => session.prompted !== null);
  const isConnected = () => isHeard || isRegistered();
  let url = "";
  const key = createSecret();
  const {
    pending: held,
    record,
    ...answering
  } = createAnswers({
    agents,
    path: paths.decisions,
    key,
    store,
    clock,
    config: settings.config,
    onChange: () => desk.refresh(),
    onError,
  });
  const { desk, actions, open, about, reach } = createDesktop({
    paths,
    env,
    agents,
    clock,
    sessions: (now) => store.sessions(now),
    config: settings.config,
    problems: settings.problems,
    isConnected,
    url: () => url,
    quit: () => quit.resolve("person"),
    held,
    record,
    log,
  });
  store.subscribe((session, event) => {
    isHeard ||= isHookChange(event.change) && !isProbe(event);
    saver.schedule();
    desk.refresh();
    watching.follow(session, event);
  });

  // What happened while nobody listened: taken in order, before anything new counts.
  const spool = openSpool(paths.spool, {
    position: spooled,
    maxLineBytes: limits.maxBodyBytes * 2,
    accept: (text, next) => takeSpooled(intake, text, next, onError),
    onError,
  });
  const taken = await spool.poll();
  watching.scan();
  const prune = () => {
    const { completedHours, completedMax } = settings.config().keep;
    store.prune(clock(), { completedMs: completedHours * hourMs, completedMax });
  };
  prune();
  const pruning = setInterval(prune, pruneMs);

  const isHeadless = !hasDesktop(env);
  const report = async (withReach: boolean) =>
    createDoctorReport({
      env,
      isHeadless,
      about: await about(),
      config: settings.config(),
      problems: settings.problems(),
      probes: store.sessions(clock()).filter(isProbe),
      reach: withReach ? reach : null,
      at: clock().at,
    });

  async function close(): Promise<void> {
    clearInterval(pruning);
    answering.stop();
    settings.stop();
    await desk.stop();
    // What is older than what was saved could not be put in its place any more.
    await spool.poll();
    await spool.stop();
    watching.stop();
    answering.flush();
    // Also where nothing changed: it tells until when beckon was there.
    saver.schedule();
    saver.flush();
    journal.close();
    lock?.release();
  }

  const receiver = await listenFrom(options.port, {
    token,
    stop: () => quit.resolve("request"),
    accept: (text) => intake.accept(text),
    sessions: createSessionList({
      store,
      held,
      desk,
      clock,
      config: settings.config,
      problems: settings.problems,
      isConnected,
    }),
    act: (name, deed, given) => runSessionAction({ store, clock, desk, actions, held }, name, deed, given),
    lines: held,
    doctor: (wants) => report(wants.has("reach")),
    onError,
  }).catch(async (error) => {
    await close();
    throw error;
  });
  url = `http://127.0.0.1:${receiver.port}`;
  try {
    writeEndpoint(paths, { url, pid: process.pid, key });
  } catch (cause) {
    await receiver.stop();
    await close();
    throw new Error(
      `beckon cannot write ${paths.endpoint} (${errorCode(cause)}), and nobody would find it. Is the folder writable, and the disk not full?`,
      { cause },
    );
  }
  log(
    "info",
    `listening on ${url}: ${store.sessions(clock()).length} sessions, ${replayed.lines} events from the journal, ${taken} from the spool`,
  );

  if (!isHeadless) open().catch((error) => onError(`the desktop could not be reached: ${error}`));

  let stopping: Promise<void> | null = null;
  return {
    url,
    isHeadless,
    quit: quit.promise,
    stop() {
      stopping ??= (async () => {
        removeEndpoint(paths);
        await receiver.stop();
        await close();
        log("info", "stopped");
      })();
      return stopping;
    },
  };
}

async function takeSpooled(
  intake: Ingest,
  text: string,
  next: SpoolPosition,
  onError: (text: string) => void,
): Promise<"accepted" | "rejected" | "retry"> {
  const { status, error } = await intake.accept(text, next);
  if (status === 200) return "accepted";
  if (status === 503) return "retry";
  onError(`a spooled event was refused: ${error}`);
  return "rejected";
}
