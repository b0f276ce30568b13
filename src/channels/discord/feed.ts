/**
 * The session feed: a thread per session in the channel of its project, with its phases, the last response of each turn, and
 * its end. It is not an alert, so no rule of alerts and no level of detail applies to it: `projects` and `forward` do.
 */
import type { Schedule, SessionChange, Transition } from "../../core/interfaces/index.ts";
import type { SpanState } from "../../core/interfaces/wire.ts";
import { asRecord, isRecord } from "../../core/json.ts";
import { isHookChange } from "../../core/session/event.ts";
import { isProbe } from "../../core/session/probe.ts";
import { hasDied, isBlocking, isVisible, projectOf, type Session } from "../../core/session/session.ts";
import { sessionKeyOf, viewKeyOf } from "../../core/session/session-ref.ts";
import { describeReason } from "../../core/session/texts.ts";
import { findRelativePath } from "../../core/text/paths.ts";
import { toSingleLine, truncateEnd } from "../../core/text/text.ts";
import { minuteMs } from "../../core/timing.ts";
import { branchOf } from "../../core/view/session-names.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import type { ChannelState, ServiceSettings } from "../channel.ts";
import { createFeedQueue } from "./feed-queue.ts";
import { createResponseContent, escapeMarkdown } from "./text.ts";
import { createThreadList } from "./threads.ts";

export interface SessionFeedOptions {
  readonly settings: ServiceSettings;
  /** Threads are remembered in it. */
  readonly state: ChannelState;
  readonly schedule: Schedule;
  /** Wall time. */
  readonly now: () => number;
  readonly onProblem: (text: string) => void;
  /** From the transcript, for an agent that does not report it. */
  readonly readLastResponse: (session: Session) => Promise<string | null>;
  /** Resolves with the id of the thread. Can be repeated with the same nonce. */
  readonly createThread: (channel: string, text: string, name: string, nonce: string) => Promise<string>;
  readonly post: (channel: string, content: string, nonce: string) => Promise<void>;
}

/** What the thread of a session shows at its start. */
export type StartedSession = Pick<
  SessionView,
  "provider" | "sessionId" | "cwd" | "project" | "gitBranch" | "title" | "model" | "startSource"
>;

export interface SessionFeed {
  /** Creates the thread of a session in the channel of its project, unless it has one. Does nothing without a channel. */
  onSessionStart(started: StartedSession): Promise<void>;
  /** Resolves with false if the session has no thread, or Discord did not take the message. */
  sendToSessionThread(provider: string, sessionId: string, message: string): Promise<boolean>;
  /** The channel that the settings give to this folder. null if they give it none. */
  findChannel(folder: string | null): string | null;
  onOpened(sessions: readonly Session[]): void;
  onChange(change: SessionChange): void;
  onTransition(transition: Transition): void;
  stop(): Promise<void>;
}

/** "Session ended" is posted whatever `forward` says: a thread without an end would look alive. */
interface Forward {
  readonly phases: boolean;
  readonly responses: boolean;
}

const maxThreadName = 90;
/** A phase that lasts no longer is not posted. The response of a turn comes before "Ready". */
const phaseDelayMs = 500;
/** How long a channel in which no thread can be created is left alone. */
const refusedMs = 10 * minuteMs;
/** A session without an event for longer gets its thread with the next one. */
const recentMs = minuteMs;
const idLength = 8;

export function createSessionFeed(options: SessionFeedOptions): SessionFeed {
  const { settings, schedule } = options;
  const forward = readForward(settings.forward);
  const threads = createThreadList(options.state);
  const queue = createFeedQueue(options);
  /** Threads in which nothing was posted yet: a start that is reported twice does not create another one. */
  const unused = new Set<string>();
  const phases = new Map<string, { posted: string | null; cancel: () => void }>();
  /** Channels in which no thread can be created now. */
  const refused = new Map<string, () => void>();

  const findChannel = (folder: string | null): string | null => findProjectChannel(settings.projects, folder);

  /** `isNew`: the session starts over, so it gets another thread. */
  function startThread(session: StartedSession, isNew: boolean): Promise<boolean> {
    const key = viewKeyOf(session);
    const channel = findChannel(session.cwd);
    if (channel === null || isProbe(session)) return Promise.resolve(false);
    return queue.add(key, false, async () => {
      const old = threads.find(key);
      if (old !== null && (!isNew || unused.has(key))) return true;
      if (refused.has(channel)) return false;
      const nonce = `thread ${key} ${old ?? ""}`;
      const create = () => options.createThread(channel, formatStart(session), nameThread(session), nonce);
      const thread = await queue.attempt("no thread could be created", create, () => refuse(channel));
      if (thread === null) return false;
      threads.save(key, thread);
      unused.add(key);
      return true;
    });
  }

  function refuse(channel: string): void {
    refused.set(
      channel,
      schedule(() => refused.delete(channel), refusedMs),
    );
  }

  function postTo(key: string, content: string, isPhase: boolean, nonce: string): Promise<boolean> {
    if (threads.find(key) === null && !queue.has(key)) return Promise.resolve(false);
    return queue.add(key, isPhase, async () => {
      const thread = threads.find(key);
      if (thread === null) return false;
      unused.delete(key);
      const post = async () => {
        await options.post(thread, content, nonce);
        return true;
      };
      // The user deleted the thread, or the bot may not write there any more.
      const onRefused = () => threads.save(key, null);
      return (await queue.attempt("a message did not get into its thread", post, onRefused)) === true;
    });
  }

  let count = 0;
  /** Differs from post to post, and from those of an earlier run. */
  const runId = crypto.randomUUID();
  const createNonce = (): string => `${runId} ${++count}`;

  function sendToSessionThread(provider: string, sessionId: string, message: string): Promise<boolean> {
    if (message.trim() === "") return Promise.resolve(false);
    return postTo(viewKeyOf({ provider, sessionId }), createResponseContent(message), false, createNonce());
  }

  function setPhase(key: string, text: string, delayMs: number): void {
    const phase = phases.get(key) ?? { posted: null, cancel: () => {} };
    phases.set(key, phase);
    phase.cancel();
    if (phase.posted === text) return;
    phase.cancel = schedule(() => {
      phase.posted = text;
      void postTo(key, escapeMarkdown(text), true, createNonce());
    }, delayMs);
  }

  async function forwardResponse(session: Session, response: string | null): Promise<void> {
    const text = response ?? (await options.readLastResponse(session));
    if (text !== null) await sendToSessionThread(session.agent, session.sessionId, text);
  }

  return {
    findChannel,
    async onSessionStart(started) {
      await startThread(started, isFreshStart(started.startSource));
    },
    sendToSessionThread,
    onOpened(sessions) {
      const since = options.now() - recentMs;
      for (const session of sessions)
        if (!session.ended && session.last.at >= since) void startThread(describeStart(session), false);
    },
    onChange({ session, event, before }) {
      if (session.ended || isProbe(session)) return;
      const { change } = event;
      const isStart = change.kind === "session-start";
      const isNew = isStart && before !== null && isFreshStart(change.source);
      const isKnown = threads.find(sessionKeyOf(session)) !== null;
      if (isNew || (!isKnown && (isHookChange(change) || change.kind === "status")))
        void startThread(describeStart(session), isNew);
      const isTurnEnd = change.kind === "turn-end" && event.agentId === null && change.error === null;
      if (isTurnEnd && forward.responses) void forwardResponse(session, change.lastResponse);
    },
    onTransition(transition) {
      if (transition.kind === "departed") {
        phases.delete(transition.key);
        unused.delete(transition.key);
      }
      // The agent's status file can open an ask before its hook names the tool.
      if (transition.kind === "ask-named" && forward.phases && !isProbe(transition.session)) {
        const { session } = transition;
        setPhase(sessionKeyOf(session), formatPhase(session, "waiting"), phaseDelayMs);
      }
      if (transition.kind !== "span" || isProbe(transition.session)) return;
      const { session, before, state: now } = transition;
      const key = sessionKeyOf(session);
      if (now === null) setPhase(key, formatEnd(session), 0);
      else if (forward.phases && before !== null) setPhase(key, formatPhase(session, now), phaseDelayMs);
    },
    async stop() {
      queue.stop();
      for (const { cancel } of phases.values()) cancel();
      for (const cancel of refused.values()) cancel();
    },
  };
}

/** Of the folders in the settings, the longest one that this folder is in decides. */
function findProjectChannel(projects: unknown, folder: string | null): string | null {
  if (folder === null || !isRecord(projects)) return null;
  const [longest] = Object.entries(projects)
    .filter(([own]) => own === folder || findRelativePath(own, folder) !== null)
    .sort(([a], [b]) => b.length - a.length);
  return typeof longest?.[1] === "string" ? longest[1] : null;
}

function readForward(value: unknown): Forward {
  const { phases, responses } = asRecord(value);
  return { phases: phases !== false, responses: responses === true };
}

/** The session goes on with nothing of what was before. */
const isFreshStart = (source: string | null): boolean => source === "clear" || source === "fork";

function describeStart(session: Session): StartedSession {
  const { agent, sessionId, firstCwd, cwd, gitBranch, title, model, startSource } = session;
  return {
    provider: agent,
    sessionId,
    cwd: firstCwd ?? cwd,
    project: projectOf(session),
    gitBranch,
    title,
    model,
    startSource,
  };
}

function nameThread({ project, title, gitBranch, sessionId }: StartedSession): string {
  const about = title ?? branchOf(gitBranch);
  const parts = [project ?? "session", about, sessionId.slice(0, idLength)];
  return truncateEnd(parts.filter((part) => part !== "").join(" · "), maxThreadName);
}

function formatStart({ project, gitBranch, provider }: StartedSession): string {
  const branch = branchOf(gitBranch);
  const place = `${project ?? "a folder"}${branch === "" ? "" : ` (${branch})`}`;
  return escapeMarkdown(toSingleLine(`A ${provider} session has started in ${place}.`));
}

function formatPhase(session: Session, state: SpanState): string {
  switch (state) {
    case "working":
      return "Working";
    case "waiting": {
      const ask = session.asks.find((open) => isBlocking(open) && isVisible(open));
      return ask ? `Waiting for you: ${toSingleLine(describeReason(ask))}` : "Waiting for you";
    }
    case "ready":
      return "Ready for your next prompt";
    case "failed":
      return `The turn failed: ${toSingleLine(session.turn.error ?? "")}`;
  }
}

function formatEnd(session: Session): string {
  return hasDied(session) ? "The session has died: its process is gone." : "The session has ended.";
}
