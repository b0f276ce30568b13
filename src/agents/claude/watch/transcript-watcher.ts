/** Decides when the transcript of a session is read, and makes events of what it says. */
import { forgetOldest } from "../../../core/forget-oldest.ts";
import { limits } from "../../../core/limits.ts";
import type { Session } from "../../../core/session/session.ts";
import type { WatchContext } from "../../agent.ts";
import { type EmitChange, isNews, toMoment } from "../../watch/index.ts";
import { createTranscriptReader, findTranscript } from "./transcripts.ts";

export interface TranscriptWatcherOptions
  extends Pick<WatchContext, "env" | "clock" | "findSession" | "mask" | "onError"> {
  readonly emit: EmitChange;
}

export interface TranscriptWatcher {
  /** Where the end of a turn has no response, the transcript has it. */
  noteTurnEnd(session: Session, hasResponse: boolean): void;
  /** Debounced: a Stop can come before the read that its prompt asked for. */
  readSoon(session: Session): void;
  /** For what a turn has used so far: a read that is due earlier is enough. */
  readLater(session: Session): void;
  /** Older CLIs write no status: Esc shows in the transcript only. */
  readUnseen(sessions: readonly Session[]): void;
  stop(): void;
}

/** How many transcripts one check reads, of sessions without a status file. With more, the checks take turns. */
const readAtOnce = 100;
/** The transcript lags behind the hooks. */
const transcriptLagMs = 300;
/** How often a transcript is read while a turn calls tools, for what it has used so far. */
const usageIntervalMs = 5_000;
/** Reads that are due within this time of each other share a timer, and with it one look at what is due. */
const wakeUpIntervalMs = 50;
/** The pause between two slices of a long transcript: a gigabyte takes half a minute and a tenth of one processor. */
const slicePauseMs = 100;

export function watchTranscripts(options: TranscriptWatcherOptions): TranscriptWatcher {
  const { env, clock, findSession, mask, emit, onError } = options;
  const reader = createTranscriptReader();
  /** Sessions whose transcript is to be read, and when. */
  const due = new Map<string, { session: Session; atMs: number }>();
  /** Sessions whose last turn ended without its response: CLIs before 2.1.47 leave it to the transcript. */
  const withoutResponse = new Set<string>();
  let wakeUp: { readonly timer: ReturnType<typeof setTimeout>; readonly atMs: number } | null = null;
  let isStopped = false;
  let nextUnseen = 0;

  async function readTranscript(session: Session): Promise<void> {
    const path = session.transcriptPath && (await findTranscript(session.transcriptPath, env));
    const facts = path ? await reader.read(path) : null;
    if (!facts) return;
    const { interruptedAt, lastResponse, isBehind, ...others } = facts;
    const title = others.title ? { title: mask(others.title) } : {};
    // The Stop hook has the response earlier and in full, if it has it.
    const isMissing =
      session.lastResponse === null || (withoutResponse.has(session.sessionId) && !session.turn.running);
    const response = isMissing && lastResponse ? { lastResponse: mask(lastResponse) } : {};
    const known = new Set(session.children.map(({ agentId }) => agentId));
    const children = others.children?.filter(({ agentId }) => known.has(agentId)) ?? [];
    const enrichment = { ...others, ...title, ...response, children };
    // Nothing else of the session: it may have changed while the file was read.
    const subject = { agent: "claude", sessionId: session.sessionId };
    if (isNews(session, enrichment)) emit(subject, clock(), { kind: "enriched", with: enrichment });
    const isUnseen = session.file === null && interruptedAt !== null && interruptedAt > session.turn.at;
    if (isUnseen) emit(subject, toMoment(clock(), interruptedAt), { kind: "interrupted" });
    if (isBehind) readAfter(slicePauseMs, session);
    else if (path && findSession(session.sessionId)?.ended) {
      reader.forget(path);
      withoutResponse.delete(session.sessionId);
    }
  }

  function readAfter(delayMs: number, session: Session): void {
    if (!session.transcriptPath || isStopped) return;
    due.set(session.sessionId, { session, atMs: performance.now() + delayMs });
    wakeAfter(delayMs);
  }

  function wakeAfter(delayMs: number): void {
    const atMs = performance.now() + delayMs;
    if (wakeUp && wakeUp.atMs <= atMs) return;
    if (wakeUp) clearTimeout(wakeUp.timer);
    wakeUp = { timer: setTimeout(readDue, delayMs), atMs };
  }

  function readDue(): void {
    wakeUp = null;
    const now = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [id, { session, atMs }] of due) {
      if (atMs - now > 1) {
        nextMs = Math.min(nextMs, atMs - now);
        continue;
      }
      due.delete(id);
      readTranscript(findSession(id) ?? session).catch((error) =>
        onError(`could not read the transcript of ${id}: ${error}`),
      );
    }
    if (nextMs < Number.POSITIVE_INFINITY) wakeAfter(Math.max(nextMs, wakeUpIntervalMs));
  }

  return {
    noteTurnEnd({ sessionId }, hasResponse) {
      withoutResponse.delete(sessionId);
      if (!hasResponse) withoutResponse.add(sessionId);
      forgetOldest(withoutResponse, limits.maxSessions);
    },
    readSoon: (session) => readAfter(transcriptLagMs, session),
    readLater(session) {
      if (!due.has(session.sessionId)) readAfter(usageIntervalMs, session);
    },
    readUnseen(sessions) {
      const unseen = sessions.filter(
        (s) => !s.ended && s.file === null && (s.turn.running || s.asks.some((ask) => ask.kind !== "idle")),
      );
      if (nextUnseen >= unseen.length) nextUnseen = 0;
      for (const session of unseen.slice(nextUnseen, nextUnseen + readAtOnce))
        readAfter(transcriptLagMs, session);
      nextUnseen += readAtOnce;
    },
    stop() {
      isStopped = true;
      if (wakeUp) clearTimeout(wakeUp.timer);
    },
  };
}
