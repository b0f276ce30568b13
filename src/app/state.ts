/**
 * The state: restored at start from the snapshot and the journal after it, fed by ingest, saved again as it changes. What follows it
 * is added to `followers`.
 */
import type { Sink, Transition } from "../core/interfaces/index.ts";
import { limits } from "../core/limits.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import { hourMs } from "../core/timing.ts";
import { createIngest, type Ingest } from "../ingest/index.ts";
import { createLostHooks } from "../ingest/lost-hooks.ts";
import { maskJson } from "../secrets/index.ts";
import { createFollowers, type Followers } from "../state/followers.ts";
import { decodeState, encodeState } from "../state/saved-state.ts";
import { createStore, type Store } from "../state/store.ts";
import { createTransitionFinder, type TransitionFinder } from "../state/transitions.ts";
import { type Journal, type JournalPosition, openJournal } from "../storage/journal/index.ts";
import { createSessionEventBody } from "../storage/journal/session-event.ts";
import { createSaver } from "../storage/saver.ts";
import { loadSnapshot, saveSnapshot } from "../storage/snapshot.ts";
import { schedule } from "../system/schedule.ts";
import type { Base } from "./base.ts";
import { createSpoolSource, type SpoolSource } from "./spool-source.ts";

export interface AppState {
  readonly store: Store;
  readonly sessionsNow: () => readonly Session[];
  /** Takes an event that a hook has sent. Spooled events of its session, which are older, come first. */
  readonly accept: (text: string) => ReturnType<Ingest["accept"]>;
  /** Not started yet. */
  readonly spool: SpoolSource;
  readonly transitions: TransitionFinder;
  readonly followers: Followers;
  /** Everything before it is in the journal, and was dispatched. */
  readonly journalPosition: () => JournalPosition;
  readonly replayedEvents: number;
  /** For what the work guard recorded: journalled, so that the history has it after a kill or a rebuild. */
  publish(transition: Extract<Transition, { kind: "session-event" }>): void;
  /** Drops sessions that ended long ago. It also happens every minute. */
  prune(): void;
  /** For what reads the journal later: what comes after this position is kept for it. */
  keepAfter(position: () => JournalPosition | null): void;
  /** Saves the state soon after each change. */
  readonly snapshot: Sink & { stop(): void };
  stopPruning(): void;
  close(): void;
}

const pruneMs = 60_000;

export function openState(base: Base): AppState {
  const { agents, paths, clock, config, defaultProvider, onProblem, onError } = base;
  const store = createStore(onError);
  const sessionsNow = () => store.sessions(clock());
  const retentionDays = () => config().keep.journalDays;
  const journal = openJournal(paths.journal, { retentionDays, onError });
  const ingest = createIngest({
    agents,
    journal,
    mask: maskJson,
    clock,
    defaultProvider,
    dispatch: store.dispatch,
    onError,
    lostHooks: createLostHooks({ agents, env: base.env, startedAt: clock().at }),
  });
  const restored = restore(base, store, journal, ingest);
  const spool = createSpoolSource({
    paths,
    position: restored.spoolPosition,
    table: base.table,
    defaultProvider,
    ingest,
    onTaken(count) {
      if (count > 0) base.log("info", `${count} events from the spool`);
    },
    onProblem,
    onError,
  });

  const followers = createFollowers();
  const transitions = createTransitionFinder({
    clock,
    get: store.get,
    schedule,
    onTransition: followers.onTransition,
  });
  transitions.restore(sessionsNow());
  store.subscribe((session, event, before) => {
    // First: a follower may find out how an ask ended, which transitions must have seen close.
    transitions.onChange(session, event.at);
    followers.onChange({ session, event, before });
  });
  base.configFile.subscribe(followers.onSettingsChanged);

  function prune(): void {
    const { completedHours, completedMax } = config().keep;
    const dropped = store.prune(clock(), { completedMs: completedHours * hourMs, completedMax });
    for (const key of dropped) transitions.onDeparted(key);
  }
  const pruning = setInterval(prune, pruneMs);
  let recordedTo: () => JournalPosition | null = () => null;

  return {
    store,
    sessionsNow,
    accept(text) {
      const older = spool.takeOlder(text);
      return older ? older.then(() => ingest.accept(text)) : ingest.accept(text);
    },
    spool,
    transitions,
    followers,
    journalPosition: journal.position,
    replayedEvents: restored.replayedEvents,
    publish(transition) {
      const { key, event } = transition;
      const { at, t, boot } = clock();
      const entry = { id: event.id, at, t, boot, key: event.id, text: createSessionEventBody(key, event) };
      // The history is sent the event too, and a journal that cannot be written is reported with the hooks' events.
      journal.append(entry).catch(() => {});
      followers.onTransition(transition);
    },
    prune,
    keepAfter(position) {
      recordedTo = position;
    },
    snapshot: createSnapshotSink(base, store, journal, {
      spool: spool.position,
      recorded: () => recordedTo(),
    }),
    stopPruning: () => clearInterval(pruning),
    close: () => journal.close(),
  };
}

/** Puts the snapshot and the journal after it into the store. */
function restore({ paths, clock, onProblem }: Base, store: Store, journal: Journal, ingest: Ingest) {
  const loaded = loadSnapshot(paths);
  if (loaded.problem) onProblem(loaded.problem);
  const saved = loaded.value ? decodeState(loaded.value, clock()) : null;
  if (saved) store.restore(saved.sessions, saved.eventWindows);
  if (saved && saved.dropped > 0) onProblem(`dropped ${saved.dropped} damaged sessions of the snapshot`);
  let spoolPosition = saved?.spool ?? null;
  const replayed = journal.replay(saved?.journal ?? null, (line) => {
    if (line.spool) spoolPosition = line.spool;
    ingest.replay(line);
  });
  ingest.rememberIds(journal.recentIds(limits.maxRememberedIds));
  return { spoolPosition, replayedEvents: replayed.lines };
}

function createSnapshotSink(
  { paths, clock, onError }: Base,
  store: Store,
  journal: Journal,
  positions: { readonly spool: SpoolSource["position"]; readonly recorded: () => JournalPosition | null },
): AppState["snapshot"] {
  function save(): void {
    const covered = journal.position();
    const now = clock();
    const state = {
      journal: covered,
      spool: positions.spool(),
      sessions: store.sessions(now).filter((session) => !isProbe(session)),
      eventWindows: store.eventWindows(now).filter(({ recent }) => !recent.some(isProbe)),
    };
    saveSnapshot(paths, encodeState(state, now));
    journal.rotate(covered, positions.recorded());
  }
  const saver = createSaver(save, { onError });
  return {
    name: "snapshot",
    onChange: saver.schedule,
    stop() {
      // Also if nothing changed: the snapshot records until when beckon was running.
      saver.schedule();
      saver.flush();
    },
  };
}
