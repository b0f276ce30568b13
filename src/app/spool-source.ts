/** The spool as a source: events that hooks wrote to disk while beckon was down or slow. */
import type { Agent } from "../agents/agent.ts";
import { openEnvelope } from "../agents/envelope.ts";
import { findAgent } from "../agents/index.ts";
import type { Source } from "../core/interfaces/index.ts";
import { limits } from "../core/limits.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import type { Ingest } from "../ingest/index.ts";
import { clearDroppedEvents, describeDroppedEvents, readDroppedEvents } from "../storage/full-spool.ts";
import type { Paths } from "../storage/paths.ts";
import { openSpool } from "../storage/spool.ts";
import type { SpoolSession } from "../storage/spool-lines.ts";
import type { SpoolPosition } from "../storage/spool-position.ts";

export interface SpoolSource extends Source {
  position(): SpoolPosition | null;
  /**
   * For an event that arrived while the spool is being read: takes the spooled events of its session first, which are older.
   * null if nothing has to be taken.
   */
  takeOlder(text: string): Promise<void> | null;
  /** False while older events of the session may still be in the spool. `session` is `agent:sessionId`. */
  isCaughtUp(session: string): boolean;
  /** Sentences for the user. */
  problems(): readonly string[];
}

export interface SpoolSourceOptions {
  readonly paths: Pick<Paths, "spool" | "spoolDropped">;
  readonly position: SpoolPosition | null;
  readonly table: readonly Agent[];
  /** The agent of a payload that names none. */
  readonly defaultProvider: string;
  readonly ingest: Ingest;
  readonly onTaken: (count: number) => void;
  readonly onProblem: (text: string) => void;
  readonly onError: (text: string) => void;
}

const stillReading = "beckon is still reading what happened while it was not running. The list may be old.";

export function createSpoolSource(options: SpoolSourceOptions): SpoolSource {
  const { ingest, onError } = options;
  const findSession = (text: string) => identifySession(text, options.table, options.defaultProvider);
  /** Sessions whose events were taken ahead of the others. */
  const sessionsAhead = new Set<string>();
  const dropped = readDroppedEvents(options.paths);
  const dropProblems = dropped ? [describeDroppedEvents(dropped)] : [];
  let isRead = false;
  const spool = openSpool(options.paths.spool, {
    position: options.position,
    maxLineBytes: limits.maxBodyBytes * 2,
    findSession,
    async accept(text, next) {
      const result = await ingest.accept(text, next);
      if (result.outcome === "accepted") return "accepted";
      if (result.outcome === "not-stored") return "retry";
      onError(`a spooled event was rejected: ${result.reason}`);
      return "rejected";
    },
    onError,
  });

  async function takeSession(session: SpoolSession): Promise<void> {
    void spool.poll();
    await spool.takeFirst(session);
    sessionsAhead.add(session.key);
  }

  return {
    name: "spool",
    async start() {
      for (const problem of dropProblems) options.onProblem(problem);
      clearDroppedEvents(options.paths);
      const count = await spool.poll();
      isRead = true;
      sessionsAhead.clear();
      options.onTaken(count);
    },
    position: spool.position,
    takeOlder(text) {
      const session = isRead ? null : findSession(text);
      return session && takeSession(session);
    },
    isCaughtUp: (session) => isRead || sessionsAhead.has(session),
    problems: () => (isRead ? dropProblems : [...dropProblems, stillReading]),
    async stop() {
      // An event older than the last snapshot could not be put in its place after the next start. While everything is still being
      // read, the next start goes on from here.
      if (isRead) await spool.poll();
      await spool.stop();
    },
  };
}

function identifySession(
  text: string,
  table: readonly Agent[],
  defaultProvider: string,
): SpoolSession | null {
  try {
    const message = openEnvelope(JSON.parse(text), defaultProvider, null);
    if (!message) return null;
    const id = findAgent(message.provider, table)?.forwarding.identify(message.payload).sessionId;
    if (typeof id !== "string" || id === "") return null;
    return {
      key: sessionKeyOf({ agent: message.provider, sessionId: id }),
      mark: JSON.stringify(id).slice(1, -1),
    };
  } catch {
    return null;
  }
}
