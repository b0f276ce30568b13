/**
 * Answers: requests that wait for the user, the one place where an answer becomes a decision, and the log of who answered
 * what. The agents' own folders know how a decision is written.
 */
import type { LoadedAgents } from "../agents/index.ts";
import type { Config } from "../core/config/config.ts";
import type { AskEnd, Sink } from "../core/interfaces/index.ts";
import type { AgentEvent, ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import type { RuleJudge } from "../rules/judge.ts";
import { maskJson, maskText } from "../secrets/index.ts";
import { openAnswerLog, readAnswerLog } from "./log.ts";
import { type AnswerLogWriter, createAnswerLogWriter } from "./log-writer.ts";
import type { OtherChanges } from "./other-changes.ts";
import { createPendingRequests, type PendingRequests } from "./pending.ts";

export interface AnswersOptions {
  readonly agents: LoadedAgents;
  /** The answer log. */
  readonly path: string;
  /** Decisions are signed with it. */
  readonly key: string;
  /** The user's home folder. */
  readonly home: string;
  readonly clock: () => ClockReading;
  readonly config: () => Config;
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly sessions: () => readonly Session[];
  readonly dispatch: (event: AgentEvent) => void;
  /** What can be answered has changed. */
  readonly onChange: () => void;
  readonly onAskEnded: (end: AskEnd) => void;
  readonly rules?: RuleJudge;
  readonly otherChanges?: OtherChanges;
  readonly onError: (text: string) => void;
}

export interface Answers extends Sink {
  readonly pending: PendingRequests;
  readonly logWriter: AnswerLogWriter;
  /** Writes down what the last events ended. Call `pending.stop` first. */
  stop(): void;
}

const pruneMs = 60 * 60_000;

export function createAnswers(options: AnswersOptions): Answers {
  const { agents, path, key, clock, config, get, dispatch, onError } = options;
  const retentionDays = () => config().keep.journalDays;
  const log = openAnswerLog(path, { retentionDays, onError });
  const logWriter = createAnswerLogWriter({
    log,
    readEntries: () => readAnswerLog(path),
    mask: maskText,
    now: () => clock().at,
    onAskEnded: options.onAskEnded,
    findSession: (sessionKey) =>
      options.sessions().find((session) => sessionKeyOf(session) === sessionKey) ?? null,
  });
  const pending = createPendingRequests({
    agents,
    key,
    home: options.home,
    clock,
    get,
    dispatch,
    config,
    ...(options.rules ? { rules: options.rules } : {}),
    ...(options.otherChanges ? { otherChanges: options.otherChanges } : {}),
    onAnswered: logWriter.answered,
    onChange: options.onChange,
    onError,
    maskJson,
  });
  const prune = () => log.prune(clock().at);
  prune();
  const pruning = setInterval(prune, pruneMs);
  return {
    name: "answers",
    pending,
    logWriter,
    onChange(change) {
      // Its own machine decides, and says how its asks ended.
      if (change.session.machine !== null) return;
      pending.follow(change.session);
      logWriter.onChange(change);
    },
    onSettingsChanged: pending.recheck,
    stop() {
      clearInterval(pruning);
      logWriter.stop();
      log.flush();
    },
  };
}
