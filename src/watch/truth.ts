/** The truth beyond hooks: status files, dead processes and transcripts become the same events as hooks do. */
import { join } from "node:path";
import { statusMove, statusPlace } from "../agents/claude/status.ts";
import type { Here } from "../agents/envelope.ts";
import type { AgentEvent, Moment, Move } from "../core/event.ts";
import type { Session } from "../core/session.ts";
import { findDead } from "./processes.ts";
import { followStatusFiles, type StatusChange } from "./status-files.ts";
import { createTranscriptReader, insideAgentFolder } from "./transcripts.ts";

export interface TruthOptions {
  /** Claude Code's own folder. */
  readonly claudeFolder: string;
  readonly clock: () => Here;
  readonly sessions: () => readonly Session[];
  readonly get: (agent: string, sessionId: string) => Session | null;
  readonly dispatch: (event: AgentEvent, arrived: number) => void;
  readonly onError: (text: string) => void;
}

export interface Truth {
  /** Looks at all files and processes now. */
  look(): void;
  /** An event came: is there more to be read about its session? */
  follow(session: Session, event: AgentEvent): void;
  stop(): void;
}

const lookMs = 1_000;
/** The transcript lags behind the hooks. */
const transcriptLagMs = 300;
let count = 0;

export function createTruth(options: TruthOptions): Truth {
  const { clock, dispatch } = options;
  const reader = createTranscriptReader();
  const roots = [join(options.claudeFolder, "projects")];
  const reading = new Map<string, ReturnType<typeof setTimeout>>();

  function tell(about: About, when: Moment, move: Move): void {
    dispatch(eventOf(about, when, move), clock().t);
  }

  function onStatus({ file, gone }: StatusChange): void {
    const here = clock();
    const about = {
      sessionId: file.sessionId,
      cwd: file.cwd,
      attended: file.attended,
      place: statusPlace(file),
    };
    const move = statusMove(file);
    if (gone) tell(about, here, { kind: "gone", why: "file" });
    else if (move) tell(about, ago(here, file.updatedAt), move);
  }

  async function read(session: Session): Promise<void> {
    const path = session.transcriptPath && (await insideAgentFolder(session.transcriptPath, roots));
    const found = path ? await reader.read(path) : null;
    if (!found) return;
    const { interruptedAt, lastResponse, ...known } = found;
    // Stop says it first and better.
    const more = session.lastResponse === null && lastResponse ? { ...known, lastResponse } : known;
    tell(session, clock(), { kind: "enriched", with: more });
    const unseen = session.file === null && interruptedAt !== null && interruptedAt > session.turn.at;
    if (unseen) tell(session, ago(clock(), interruptedAt), { kind: "interrupted" });
  }

  function readSoon(session: Session): void {
    const key = session.sessionId;
    if (reading.has(key)) return;
    const timer = setTimeout(() => {
      reading.delete(key);
      const now = options.get(session.agent, key) ?? session;
      read(now).catch((error) => options.onError(`could not read the transcript of ${key}: ${error}`));
    }, transcriptLagMs);
    reading.set(key, timer);
  }

  function look(): void {
    const sessions = options.sessions();
    for (const dead of findDead(sessions)) tell(dead, clock(), { kind: "gone", why: "process" });
    // Older CLIs have no status: there Esc shows in the transcript alone.
    for (const session of sessions) {
      const waits = session.turn.running || session.asks.some((ask) => ask.kind !== "idle");
      if (!session.ended && session.file === null && waits && session.transcriptPath) readSoon(session);
    }
  }

  const files = followStatusFiles(join(options.claudeFolder, "sessions"), onStatus, options.onError);
  const timer = setInterval(() => {
    try {
      look();
    } catch (error) {
      options.onError(`could not look at the processes: ${error}`);
    }
  }, lookMs);

  return {
    look() {
      files.scan();
      look();
    },
    follow(session, event) {
      const { kind } = event.move;
      if (session.ended || !session.transcriptPath) return;
      if (kind === "turn-end" || kind === "session-start" || kind === "prompt") readSoon(session);
    },
    stop() {
      clearInterval(timer);
      files.stop();
      for (const pending of reading.values()) clearTimeout(pending);
    },
  };
}

/** A wall time of the past on both clocks. */
function ago(here: Here, at: number | null): Moment {
  if (at === null || at > here.at) return { at: here.at, t: here.t };
  return { at, t: here.t - (here.at - at) };
}

interface About {
  readonly sessionId: string;
  readonly cwd?: string | null;
  readonly attended?: boolean | null;
  readonly place?: AgentEvent["place"];
}

function eventOf(about: About, when: Moment, move: Move): AgentEvent {
  return {
    id: `own-${++count}-${when.t}`,
    at: when.at,
    t: when.t,
    agent: "claude",
    sessionId: about.sessionId,
    agentId: null,
    agentType: null,
    name: move.kind,
    promptId: null,
    cwd: about.cwd ?? null,
    project: null,
    transcriptPath: null,
    place: about.place ?? null,
    attended: about.attended ?? null,
    payloadKey: null,
    move,
  };
}
