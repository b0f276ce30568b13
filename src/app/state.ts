/** The state, restored at start from the snapshot and the journal after it, and saved again as it changes. */
import { defaultAgent, type LoadedAgents } from "../agents/index.ts";
import type { Config } from "../core/config/config.ts";
import { limits } from "../core/limits.ts";
import type { Sink } from "../core/ports.ts";
import type { ClockReading } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import type { SessionEvent } from "../core/wire.ts";
import { createIngest, type Ingest } from "../ingest/index.ts";
import { maskJson } from "../secrets/index.ts";
import { decodeState, encodeState } from "../state/saved-state.ts";
import { createStore, type Store } from "../state/store.ts";
import { type JournalPosition, openJournal } from "../storage/journal/index.ts";
import { createSessionEventBody } from "../storage/journal/session-event.ts";
import type { Paths } from "../storage/paths.ts";
import { createSaver } from "../storage/saver.ts";
import { loadSnapshot, saveSnapshot } from "../storage/snapshot.ts";
import type { SpoolPosition } from "../storage/spool.ts";

export interface StateOptions {
  readonly agents: LoadedAgents;
  readonly paths: Paths;
  readonly clock: () => ClockReading;
  readonly config: () => Config;
  /** The agent of a payload that names none. */
  readonly defaultProvider: string | undefined;
  readonly onProblem: (text: string) => void;
  readonly onError: (text: string) => void;
}

export interface AppState {
  readonly store: Store;
  readonly ingest: Ingest;
  /** Everything before it is in the journal, and was dispatched. */
  readonly journalPosition: () => JournalPosition;
  /** How far the spool was read; null if never. */
  readonly spoolPosition: SpoolPosition | null;
  readonly replayedEvents: number;
  /** Journals what the work guard recorded, so that the history has it after a kill or a rebuild. */
  journalSessionEvent(key: string, event: SessionEvent): void;
  /** Saves the state soon after each change. */
  createSnapshotSink(spoolPosition: () => SpoolPosition | null): Sink;
  close(): void;
}

export function openState({
  agents,
  paths,
  clock,
  config,
  defaultProvider,
  onProblem,
  onError,
}: StateOptions): AppState {
  const store = createStore(onError);
  const retentionDays = () => config().keep.journalDays;
  const journal = openJournal(paths.journal, { retentionDays, onError });
  const ingest = createIngest({
    agents,
    journal,
    mask: maskJson,
    clock,
    defaultProvider: defaultProvider || defaultAgent,
    dispatch: store.dispatch,
    onError,
  });

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

  return {
    store,
    ingest,
    journalPosition: journal.position,
    spoolPosition,
    replayedEvents: replayed.lines,
    journalSessionEvent(key, event) {
      const { at, t, boot } = clock();
      const entry = { id: event.id, at, t, boot, key: event.id, text: createSessionEventBody(key, event) };
      // The history is sent the event too, and a journal that cannot be written is reported with the hooks' events.
      journal.append(entry).catch(() => {});
    },
    createSnapshotSink(currentSpoolPosition) {
      const save = (): void => {
        const covered = journal.position();
        const now = clock();
        const state = {
          journal: covered,
          spool: currentSpoolPosition(),
          sessions: store.sessions(now).filter((session) => !isProbe(session)),
          eventWindows: store.eventWindows(now).filter(({ recent }) => !recent.some(isProbe)),
        };
        saveSnapshot(paths, encodeState(state, now));
        journal.rotate(covered);
      };
      const saver = createSaver(save, { onError });
      return {
        name: "snapshot",
        onChange: () => saver.schedule(),
        stop() {
          // Also if nothing changed: the snapshot records until when beckon was running.
          saver.schedule();
          saver.flush();
        },
      };
    },
    close: () => journal.close(),
  };
}
