/**
 * The work guard: edits belong to a port, a named piece of work in a project. ports.ts is what ports are, store.ts
 * keeps them on disk, book-reader.ts notices changes and locate.ts finds the one that counts. check.ts and decide.ts answer the
 * agents' hooks. What happens is recorded by streams/session-event.ts. collisions.ts finds files that two sessions have changed. This file
 * connects them to the sessions.
 *
 * It never blocks by mistake: an edit is refused only if the settings ask for it, the ports could be read, and a port could be
 * started now.
 */
import { rmSync } from "node:fs";
import type { Config } from "../core/config/config.ts";
import { createGuardScope } from "../core/config/work-guard.ts";
import type { Schedule, SessionChange, Sink, Transition } from "../core/interfaces/index.ts";
import type { PortView, SessionEvent } from "../core/interfaces/wire.ts";
import { type AgentEvent, type Change, createInternalEvent } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { ignoreErrors, writePrivateFile } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { createEventFinder, createTransitionEvents } from "../streams/session-event.ts";
import { createBookReader } from "./book-reader.ts";
import { createHookCheck, type HookCheck, type HookCheckOptions } from "./check.ts";
import { createCollisionFollower } from "./collision-follower.ts";
import { createEditTracker } from "./edits.ts";
import { createEndEvents, keyOfPort } from "./ended-ports.ts";
import { createLocator, isUntracked } from "./locate.ts";
import { listPortViews } from "./ports.ts";
import { createRealSettings, listShared } from "./project.ts";
import type { StorePaths } from "./store.ts";

export interface WorkGuardOptions extends HookCheckOptions {
  readonly paths: StorePaths & Pick<Paths, "guardScope">;
  readonly config: () => Config;
  readonly sessions: () => readonly Session[];
  readonly dispatch: (event: AgentEvent) => void;
  readonly publish: (transition: Extract<Transition, { kind: "session-event" }>) => void;
  readonly schedule: Schedule;
  readonly onProblem: (text: string) => void;
}

export interface WorkGuard extends Sink {
  /** Reads the ports and assigns them to sessions. */
  start(): void;
  /** Answers a hook. */
  readonly check: HookCheck;
  /** The ports of all projects: those that run, then the open ones, then those that ended last. */
  listPorts(): readonly PortView[];
}

/** `beckon port` changes the file. */
const pollMs = 1_000;

export function createWorkGuard(options: WorkGuardOptions): WorkGuard {
  const { paths, clock } = options;
  const finder = createEventFinder();
  const settings = createRealSettings(options.config);
  const reader = createBookReader({
    paths,
    listShared: (book) => listShared(settings(), book),
    onProblem: options.onProblem,
  });
  const locator = createLocator(settings, reader.book);
  const edits = createEditTracker();
  const collisions = createCollisionFollower({
    ...options,
    setShared: (session, files) =>
      dispatch(session, {
        kind: "shared-files",
        files: [...files, ...session.sharedFiles.filter(({ machine }) => machine !== null)],
      }),
  });
  let cancelPoll: (() => void) | null = null;
  let eventCount = 0;

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

  function dispatch({ agent, sessionId }: Session, change: Change): void {
    const now = clock();
    options.dispatch(
      createInternalEvent(`guard-${++eventCount}-${now.t}`, now, { agent, sessionId }, change),
    );
  }

  /** Tells the session which port its edits belong to, if that has changed. */
  function assignPort(session: Session): void {
    if (reader.book().runs.length === 0 && session.port === null) return;
    const active = locator.findOwnPort(session);
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
    return !isOff && locator.settingsOf(session).mode !== "off";
  }

  /** An edit that happened while no port ran: in a project that only warns, or while beckon could not answer. */
  function recordUntracked(session: Session, { event }: SessionChange): void {
    const { change } = event;
    if (change.kind !== "tool-end" || change.outcome !== "ok" || change.editPaths === undefined) return;
    if (session.port !== null) return;
    const path = change.editPaths.find((file) => isUntracked(locator.locateEdit(session, file)));
    if (path === undefined) return;
    dispatch(session, { kind: "untracked-edit", tool: change.tool, path, isBlocked: false });
  }

  return {
    name: "work guard",
    start() {
      writeScope(paths.guardScope, settings());
      refresh();
      for (const session of options.sessions()) {
        if (session.ended || session.machine !== null) continue;
        assignPort(session);
        // Other machines may not be linked any more.
        const files = session.sharedFiles.filter(({ machine }) => machine === null);
        if (files.length < session.sharedFiles.length) dispatch(session, { kind: "shared-files", files });
      }
      pollLater();
      collisions.start();
    },
    check: createHookCheck(options, { reader, locator, refresh, collisions, dispatch, publish }),
    onChange(reported) {
      const { session, event } = reported;
      if (isProbe(session)) return;
      collisions.onChange(reported);
      // What follows changes the session again: the sinks after this one must see this change first.
      if (
        event.change.kind !== "port" &&
        event.change.kind !== "untracked-edit" &&
        event.change.kind !== "shared-files" &&
        reader.book().runs.length > 0
      )
        queueMicrotask(() => {
          const current = options.get(session);
          if (current && !current.ended) assignPort(current);
        });
      if (!isTracked(session) && reported.before?.port == null) return;
      const change = edits.addPaths(reported);
      queueMicrotask(() => recordUntracked(session, change));
      publish(session, finder.onChange(change, locator.settingsOf(session)));
    },
    onTransition(transition) {
      if (transition.kind === "session-event") return;
      if (transition.kind === "departed") collisions.forget(transition.key);
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
      writeScope(paths.guardScope, settings());
      reader.forget();
      refresh();
    },
    stop() {
      cancelPoll?.();
      collisions.stop();
      ignoreErrors(() => rmSync(paths.guardScope, { force: true }));
    },
  };
}

function isEmptyRecord(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

/** Hooks read it, so that they leave at once where they need not ask. One that is missing makes them ask. */
function writeScope(path: string, settings: Config["workGuard"]): void {
  try {
    const scope = createGuardScope(settings);
    if (scope === null) rmSync(path, { force: true });
    else writePrivateFile(path, `${JSON.stringify(scope)}\n`);
  } catch {
    ignoreErrors(() => rmSync(path, { force: true }));
  }
}
