/** Everything about answers, wired: the lines that hooks hold, and what is written down of them. */
import type { Here } from "./agents/envelope.ts";
import type { Config } from "./core/config.ts";
import { sessionKey } from "./core/event.ts";
import { createHeld, type Held } from "./held.ts";
import { createRecorder, type Recorder } from "./record.ts";
import { openDecisions, readDecisions } from "./storage/decisions.ts";
import { maskText } from "./storage/secrets.ts";
import type { Store } from "./store.ts";

export interface AnsweringOptions {
  /** Where answers are written down. */
  readonly path: string;
  /** Decisions are proved with it. */
  readonly key: string;
  readonly store: Store;
  readonly clock: () => Here;
  readonly config: () => Config;
  readonly onChange: () => void;
  readonly onError: (text: string) => void;
}

export interface Answers {
  readonly held: Held;
  readonly record: Recorder;
  stop(): void;
  /** Writes down what the last events ended. */
  flush(): void;
}

const pruneMs = 60 * 60_000;

export function createAnswering(options: AnsweringOptions): Answers {
  const { path, key, store, clock, config, onChange, onError } = options;
  const retentionDays = () => config().keep.journalDays;
  const decisions = openDecisions(path, { retentionDays, onError });
  const record = createRecorder({
    decisions,
    before: () => readDecisions(path),
    mask: maskText,
    now: () => clock().at,
    find: (key) =>
      store.sessions(clock()).find(({ agent, sessionId }) => sessionKey(agent, sessionId) === key) ?? null,
  });
  const held = createHeld({
    key,
    clock,
    get: store.get,
    dispatch: store.dispatch,
    config,
    onVerdict: record.verdict,
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
    held,
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
