/**
 * What beckon needs from a coding agent. Each agent is one folder here and one row in index.ts. Nothing outside that folder
 * and that row knows the agent's name, files, events or answers.
 *
 * A row is split by who needs it, so that each program loads only its part: the forwarder reads `Agent`, the app loads
 * `AgentRuntime`, and install, uninstall and doctor load `AgentSetup`.
 */
import type { AutoAllowRules } from "../core/config/auto-allow-rules.ts";
import type { JsonRecord } from "../core/json.ts";
import type { Answer, AskDetails } from "../core/session/ask-details.ts";
import type { AgentEvent, ClockReading, Moment } from "../core/session/event.ts";
import type { Ask, Session } from "../core/session/session.ts";
import type { Env } from "../system/home.ts";
import type { HookMessage } from "./envelope.ts";

export interface Agent {
  /** Names the agent in the API, on the command line and in hook commands: `claude`. */
  readonly id: string;
  /** Names the agent for users: `Claude Code`. */
  readonly name: string;
  readonly forwarding: Forwarding;
  /**
   * Prefixes of environment variables that belong to one session of the agent. The app does not inherit them: it outlives
   * the session that launches it.
   */
  readonly sessionVariables: readonly string[];
  /** Variables that users set for the agent, such as its folder. The app inherits them, and `--help` lists them. */
  readonly settingsVariables: readonly { readonly name: string; readonly meaning: string }[];
  loadRuntime(): Promise<AgentRuntime>;
}

/** What the forwarder needs. It runs at every hook: an agent's forwarding is one small file without imports. */
export interface Forwarding {
  /** The environment variable with the agent's process id. null if there is none. */
  readonly pidVariable: string | null;
  /** The environment variable with the project's folder. null if there is none. */
  readonly projectVariable: string | null;
  /** Variables to add to `_meta.env`. */
  readonly metaVariables: readonly string[];
  /** null if unknown. */
  isAttended(env: Env): boolean | null;
  /** The name of the event and its session, for the log. */
  identify(payload: JsonRecord): { readonly eventName: unknown; readonly sessionId: unknown };
  /** True if a session starts: beckon is launched if it is not running. */
  isSessionStart(payload: JsonRecord): boolean;
  /** True if the hook may wait for the user's answer to this request. */
  canHold(payload: JsonRecord): boolean;
  /** True if the agent understands this output. Any other output would be an error line in the user's terminal. */
  isDecision(output: unknown): boolean;
}

/** What the running app needs. */
export interface AgentRuntime {
  /** null if the payload names no session or no event. */
  translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null;
  /** Says what is wrong with a payload that could not be translated. */
  explainRefusal(payload: JsonRecord): string;
  /** Removes what tools returned (files, command output, images) from the event's text. `from` is where the payload starts. */
  stripToolOutput(text: string, from: number, payload: JsonRecord): string;
  /** Equal for two copies of the same event. null if only the whole text tells events apart. */
  dedupeKey(payload: JsonRecord): string | null;
  /** null if the agent's requests can only be answered in its terminal. */
  readonly answering: AnswerSupport | null;
  /** Starts to watch what the agent's hooks do not report: its files, sockets and processes. null if there is nothing to watch. */
  watch(context: WatchContext): AgentWatcher | null;
  /** The real path of a session's transcript. null if `path` is not one of the agent's own files. */
  findTranscript(path: string, env: Env): Promise<string | null>;
}

export interface EventStamp extends Moment {
  readonly id: string;
  /** The payload's key: `dedupeKey`, or the hash of its text. */
  readonly key: string;
}

export interface AnswerSupport {
  /** The session that a request belongs to. null if the payload is not a request. */
  findSessionId(payload: JsonRecord): string | null;
  /** Whether a hook may wait for the answer to this ask, which its payload opened. */
  isAnswerable(payload: JsonRecord, ask: Ask): boolean;
  /** What the request asks, in full. null if it asks nothing. */
  describe(payload: JsonRecord, where: RequestContext): AskDetails | null;
  /** What the hook prints for this answer. A string says what is wrong with the answer. */
  decide(payload: JsonRecord, answer: Answer): object | string;
  /** The user's rule that allows this request without asking. null if no rule does. */
  autoAllow(rules: AutoAllowRules, payload: JsonRecord, where: RequestContext): AutoAllowed | null;
}

export interface RequestContext {
  /** The session's folder. */
  readonly cwd: string | null;
}

export interface AutoAllowed {
  /** As the user wrote it. */
  readonly rule: string;
  readonly folder: string;
  /** The paths that the request may read. Links are not resolved: the caller checks that none leads out of the folder. */
  readonly paths: readonly string[];
}

export interface WatchContext {
  readonly env: Env;
  readonly clock: () => ClockReading;
  readonly findSession: (sessionId: string) => Session | null;
  readonly dispatch: (event: AgentEvent) => void;
  /** Masks secrets in text that comes from files. */
  readonly mask: (text: string) => string;
  readonly onError: (text: string) => void;
}

export interface AgentWatcher {
  /** Reads everything now. The app calls it once, after it has restored its sessions. */
  scan(sessions: readonly Session[]): void;
  /** Called every second with the agent's sessions. */
  check(sessions: readonly Session[]): void;
  /** Called after each event of the agent. */
  follow(session: Session, event: AgentEvent): void;
  /** Called when a session's process is gone. True if the session goes on in another process. */
  continuesElsewhere(session: Session): boolean;
  stop(): void;
}
