/**
 * The work guard: edits belong to a port, a named piece of work in a project. ports.ts is what ports are, store.ts
 * keeps them on disk and book-reader.ts notices changes, decide.ts answers the agents' hooks. What happens is
 * recorded by streams/session-event.ts.
 * This file connects them to the sessions.
 *
 * It never blocks by mistake: an edit is refused only if the settings ask for it, the ports could be read, and a port could be
 * started now.
 */

import { rmSync } from "node:fs";
import { openEnvelope } from "../agents/envelope.ts";
import type { LoadedAgents } from "../agents/index.ts";
import type { Config } from "../core/config/config.ts";
import {
  createGuardScope,
  findGuardSettings,
  findLongest,
  type GuardSettings,
} from "../core/config/work-guard.ts";
import type { Schedule, SessionChange, Sink, Transition } from "../core/interfaces/index.ts";
import type { HookOutput, PortView, SessionEvent } from "../core/interfaces/wire.ts";
import type { JsonRecord } from "../core/json.ts";
import {
  type AgentEvent,
  type Change,
  type ClockReading,
  createInternalEvent,
  type Place,
  type SessionPort,
} from "../core/session/event.ts";
import { stateOf } from "../core/session/phase.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { resolvePath } from "../core/text/paths.ts";
import { computeFingerprint } from "../core/view/session-view.ts";
import { ignoreErrors, writePrivateFile } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { createEventFinder, createSessionEvent, createTransitionEvents } from "../streams/session-event.ts";
import { isAlive } from "../system/processes.ts";
import { createBookReader } from "./book-reader.ts";
import { decide, needsPort } from "./decide.ts";
import { createEditTracker } from "./edits.ts";
import { createEndEvents, keyOfPort } from "./ended-ports.ts";
import {
  findPort,
  findProject,
  findRun,
  listPorts,
  listPortViews,
  type PortBook,
  portStatus,
  type SessionIdentity,
  summarizePort,
} from "./ports.ts";
import { addRealPaths } from "./project.ts";
import type { StorePaths } from "./store.ts";

export interface WorkGuardOptions {
  readonly paths: StorePaths & Pick<Paths, "guardScope">;
  readonly agents: LoadedAgents;
  readonly defaultProvider: string;
  readonly config: () => Config;
  readonly clock: () => ClockReading;
  readonly sessions: () => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly dispatch: (event: AgentEvent) => void;
  readonly publish: (transition: Extract<Transition, { kind: "session-event" }>) => void;
  readonly schedule: Schedule;
  /** How beckon is called in the agent's shell. */
  readonly command: () => string;
  readonly onProblem: (text: string) => void;
}

export interface WorkGuard extends Sink {
  /** Reads the ports and assigns them to sessions. */
  start(): void;
  /** Answers a hook. A text says what is wrong with the body. `isDryRun`: nothing is recorded. */
  check(body: JsonRecord, isDryRun?: boolean): HookOutput | string;
  /** The ports of all projects: those that run, then the open ones, then those that ended last. */
  listPorts(): readonly PortView[];
}

/** An edited file, and the project and settings that count for it. */
interface LocatedEdit {
  readonly path: string | null;
  readonly project: string | null;
  readonly settings: GuardSettings;
}

/** `beckon port` changes the file. */
const pollMs = 1_000;

export function createWorkGuard(options: WorkGuardOptions): WorkGuard {
  const { paths, clock, agents } = options;
  const finder = createEventFinder();
  const reader = createBookReader({ paths, listShared, onProblem: options.onProblem });
  const edits = createEditTracker();
  let cancelPoll: (() => void) | null = null;
  let eventCount = 0;
  let canonicalProjects: { readonly of: unknown; readonly settings: Config["workGuard"] } | null = null;

  function settings(): Config["workGuard"] {
    const { workGuard } = options.config();
    if (canonicalProjects?.of !== workGuard)
      canonicalProjects = { of: workGuard, settings: addRealPaths(workGuard) };
    return canonicalProjects.settings;
  }

  /** Hooks read it, so that they leave at once where they need not ask. One that is missing makes them ask. */
  function writeScope(): void {
    try {
      const scope = createGuardScope(settings());
      if (scope === null) rmSync(paths.guardScope, { force: true });
      else writePrivateFile(paths.guardScope, `${JSON.stringify(scope)}\n`);
    } catch {
      ignoreErrors(() => rmSync(paths.guardScope, { force: true }));
    }
  }

  /** Projects that keep their ports in a file of their own. Only folders that the user named: in the settings, or with `beckon port`. */
  function listShared({ projects }: PortBook): string[] {
    const current = settings();
    return [...new Set([...Object.keys(current.projects), ...Object.keys(projects)])].filter(
      (folder) => findGuardSettings(current, folder).store === "project",
    );
  }

  function refresh(): void {
    const before = reader.refresh();
    if (before === null) return;
    const live = options.sessions().filter(({ ended }) => !ended);
    const reported = new Set(live.flatMap(({ port }) => (port ? [keyOfPort(port.project, port.id)] : [])));
    for (const session of live) assignPort(session);
    publish(null, createEndEvents(before, reader.book(), reported, clock().at));
  }

  function pollLater(): void {
    cancelPoll = options.schedule(() => {
      refresh();
      pollLater();
    }, pollMs);
  }

  const projectOfFolder = (folder: string, fallback: string): string =>
    findProject(reader.book(), Object.keys(settings().projects), folder, fallback);

  function projectOf({ cwd, firstCwd }: Pick<Session, "cwd" | "firstCwd">): string | null {
    const folder = cwd ?? firstCwd;
    return folder === null ? null : projectOfFolder(folder, firstCwd ?? folder);
  }

  const settingsOf = (session: Session): GuardSettings => findGuardSettings(settings(), projectOf(session));

  function findActive(project: string | null, identity: SessionIdentity): SessionPort | null {
    const run = project === null ? null : findRun(reader.book(), project, identity, isAlive);
    const port = run && findPort(reader.book(), run.project, run.port);
    if (!run || !port || port.endedAt !== null) return null;
    return { id: port.id, title: port.title, project: run.project, since: run.startedAt };
  }

  function dispatch({ agent, sessionId }: Session, change: Change): void {
    const now = clock();
    options.dispatch(
      createInternalEvent(`guard-${++eventCount}-${now.t}`, now, { agent, sessionId }, change),
    );
  }

  /** Tells the session which port its edits belong to, if that has changed. */
  function assignPort(session: Session): void {
    if (reader.book().runs.length === 0 && session.port === null) return;
    const active = findActive(projectOf(session), identify(session, session.place));
    const { port } = session;
    if (active?.id === port?.id && active?.project === port?.project && active?.title === port?.title) return;
    // A port that was started before the session counts from the session's start.
    const since = Math.max(active?.since ?? 0, session.startedAt);
    dispatch(session, { kind: "port", port: active && { ...active, since } });
  }

  function publish(
    session: Pick<Session, "agent" | "sessionId"> | null,
    events: readonly SessionEvent[],
  ): void {
    const key = session ? sessionKeyOf(session) : "";
    for (const event of events) options.publish({ kind: "session-event", key, event });
  }

  /** Asked at every event, so the usual case is checked first: nobody has turned the guard on. */
  function isTracked(session: Session): boolean {
    if (session.port !== null) return true;
    const { mode, projects } = options.config().workGuard;
    const isOff = mode === "off" && isEmptyRecord(projects);
    return !isOff && settingsOf(session).mode !== "off";
  }

  /** An edit that happened while no port ran: in a project that only warns, or while beckon could not answer. */
  function recordUntracked(session: Session, { event }: SessionChange): void {
    const { change } = event;
    if (change.kind !== "tool-end" || change.outcome !== "ok" || change.editPaths === undefined) return;
    if (session.port !== null) return;
    const path = change.editPaths.find((file) => isUntracked(locateEdit(session, file)));
    if (path === undefined) return;
    dispatch(session, { kind: "untracked-edit", tool: change.tool, path, isBlocked: false });
  }

  /** The project whose settings and ports count for a file: the one that it is in, if that has settings of its own. */
  function locateEdit(session: Pick<Session, "cwd" | "firstCwd">, file: string | null): LocatedEdit {
    const folder = session.cwd ?? session.firstCwd;
    const path = file === null ? null : resolvePath(folder ?? "/", file);
    const current = settings();
    const own = path === null ? null : findLongest(Object.keys(current.projects), path);
    const project = own === null ? projectOf(session) : projectOfFolder(own, own);
    return { path, project, settings: findGuardSettings(current, project) };
  }

  function check(body: JsonRecord, isDryRun = false): HookOutput | string {
    const now = clock();
    const message = openEnvelope(body, options.defaultProvider, now.host);
    const agent = message && agents.get(message.provider);
    if (!message || !agent) return "not a hook's event of an agent that beckon knows";
    const request = agent.readGuardRequest?.(message.payload) ?? null;
    if (request === null) return "no hook_event_name or hook_type in the payload";
    const { sessionId, edit, isStart } = request;
    const session = sessionId === null ? null : options.get({ agent: message.provider, sessionId });
    const folders = {
      cwd: request.cwd ?? session?.cwd ?? null,
      firstCwd: session?.firstCwd ?? request.cwd,
    };
    refresh();
    const { place: hookPlace } = message.meta;
    const ownPlace = agent.findOwnPlace ? agent.findOwnPlace(hookPlace) : hookPlace;
    const place = ownPlace ?? session?.place ?? null;
    const identity = identify({ agent: message.provider, sessionId, firstCwd: folders.firstCwd }, place);
    // Of several files, one decides that needs a port and has none.
    const located = (edit?.paths ?? []).map((file) => locateEdit(folders, file));
    const needing = located.filter(isUntracked);
    const decisive = needing.find((file) => findActive(file.project, identity) === null) ?? needing[0];
    const { path, project, settings: own } = decisive ?? located[0] ?? locateEdit(folders, null);
    const active = findActive(project, identity);
    const port = active && findPort(reader.book(), active.project, active.id);
    const output = decide({
      settings: own,
      project,
      isStart,
      edit: edit && { tool: edit.tool, path },
      active: port && active && summarizePort(reader.book(), active.project, port),
      open: project === null ? [] : listOpenPorts(project),
      command: options.command(),
      session: {
        session_id: sessionId,
        fingerprint: identity.fingerprint,
        loaded_docs: (session?.documents ?? []).map(({ path: file, kind: type }) => ({ path: file, type })),
        session_state: session ? stateOf(session, now) : "unknown",
        tokens_used: session?.context?.used ?? 0,
        token_budget: own.tokenBudget ?? session?.context?.window ?? 0,
      },
    });
    if (isStart && !isDryRun && sessionId !== null)
      recordContext({ agent: message.provider, sessionId, port: active }, output);
    if (edit === null || output.decision !== "block") return output;
    if (!reader.canBlock(project)) return { ...output, decision: "approve", reason: "" };
    if (session && !isDryRun)
      dispatch(session, { kind: "untracked-edit", tool: edit.tool, path, isBlocked: true });
    return output;
  }

  function listOpenPorts(project: string) {
    return listPorts(reader.book(), project).filter(
      (port) => portStatus(reader.book(), project, port) !== "ended",
    );
  }

  /** What the model is told counts as loaded context. */
  function recordContext(
    session: Pick<Session, "agent" | "sessionId" | "port">,
    { metadata }: HookOutput,
  ): void {
    const text = metadata.additional_context;
    if (text === undefined) return;
    const { at, t } = clock();
    const context = { id: `guard-context-${++eventCount}-${t}`, at, session };
    publish(session, [
      createSessionEvent("context_loaded", context, { summary: text, details: { source: "beckon" } }),
    ]);
  }

  return {
    name: "work guard",
    start() {
      writeScope();
      refresh();
      for (const session of options.sessions()) if (!session.ended) assignPort(session);
      pollLater();
    },
    check,
    onChange(reported) {
      const { session, event } = reported;
      if (isProbe(session)) return;
      // What follows changes the session again: the sinks after this one must see this change first.
      if (
        event.change.kind !== "port" &&
        event.change.kind !== "untracked-edit" &&
        reader.book().runs.length > 0
      )
        queueMicrotask(() => {
          const current = options.get(session);
          if (current && !current.ended) assignPort(current);
        });
      if (!isTracked(session) && reported.before?.port == null) return;
      const change = edits.addPaths(reported);
      queueMicrotask(() => recordUntracked(session, change));
      publish(session, finder.onChange(change, settingsOf(session)));
    },
    onTransition(transition) {
      if (transition.kind === "session-event") return;
      if ("session" in transition && (isProbe(transition.session) || !isTracked(transition.session))) return;
      if (transition.kind === "departed") finder.forget(transition.key);
      const session = "session" in transition ? transition.session : null;
      publish(session, createTransitionEvents(transition));
    },
    listPorts() {
      refresh();
      return listPortViews(reader.book());
    },
    onSettingsChanged() {
      writeScope();
      reader.forget();
      refresh();
    },
    stop() {
      cancelPoll?.();
      ignoreErrors(() => rmSync(paths.guardScope, { force: true }));
    },
  };
}

function isEmptyRecord(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

const isUntracked = ({ path, project, settings: { mode, ignore } }: LocatedEdit): boolean =>
  mode !== "off" && needsPort(project, path, ignore);

/** `place` is the newest that is known: a resumed session has another process than before. */
function identify(
  session: { readonly agent: string; readonly sessionId: string | null; readonly firstCwd: string | null },
  place: Place | null,
): SessionIdentity {
  const { agent, sessionId, firstCwd } = session;
  return {
    agent,
    sessionId,
    fingerprint: computeFingerprint({ place, firstCwd }),
    pid: place?.pid ?? null,
    procStart: place?.procStart ?? null,
    terminalSessionId: place?.terminalSessionId ?? null,
  };
}
