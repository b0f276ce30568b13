import type { LoadedAgents } from "../agents/index.ts";
import type { Config } from "../core/config/config.ts";
import { type ClockReading, createSessionKey } from "../core/session/event.ts";
import { maskText } from "../secrets/rules.ts";
import type { Store } from "../state/store.ts";
import { openAnswerLog, readAnswerLog } from "./log.ts";
import { createPendingRequests, type PendingRequests } from "./pending.ts";
import { type AnswerRecorder, createAnswerRecorder } from "./record.ts";

export interface AnswersOptions {
  readonly agents: LoadedAgents;
  /** Where answers are written down. */
  readonly path: string;
  /** Decisions are proved with it. */
  readonly key: string;
  readonly store: Store;
  readonly clock: () => ClockReading;
  readonly config: () => Config;
  readonly onChange: () => void;
  readonly onError: (text: string) => void;
}

export interface Answers {
  readonly pending: PendingRequests;
  readonly record: AnswerRecorder;
  stop(): void;
  /** Writes down what the last events ended. */
  flush(): void;
}

const pruneMs = 60 * 60_000;

export function createAnswers(options: AnswersOptions): Answers {
  const { agents, path, key, store, clock, config, onChange, onError } = options;
  const retentionDays = () => config().keep.journalDays;
  const decisions = openAnswerLog(path, { retentionDays, onError });
  const record = createAnswerRecorder({
    decisions,
    before: () => readAnswerLog(path),
    mask: maskText,
    now: () => clock().at,
    find: (key) =>
      store.sessions(clock()).find(({ agent, sessionId }) => createSessionKey(agent, sessionId) === key) ??
      null,
  });
  const held = createPendingRequests({
    agents,
    key,
    clock,
    get: store.get,
    dispatch: store.dispatch,
    config,
    onVerdict: record.answered,
    onChange,
    onError,
  });
  const prune = () => decisions.prune(clock().at);
  prune();
  const pruning = setInterval(prune, pruneMs);
  store.subscribe((after, event, before) => {
    held.follow(after);
    record.follow(after, event, before);
  });
  return {
    pending: held,
    record,
    stop() {
      clearInterval(pruning);
      held.stop();
    },
    flush() {
      record.stop();
      decisions.flush();
    },
  };
}
