/**
 * What beckon needs from a coding agent. Each agent is one folder here and one row in index.ts. Nothing outside that folder
 * and that row knows the agent's name, files, events or answers.
 *
 * A row is split by who needs it, so that each program loads only its part: the forwarder reads `Agent`, the app loads
 * `AgentRuntime`, and install, uninstall and doctor load `AgentSetup`.
 */
import type { RuleSubject } from "../core/answers/subject.ts";
import type { AutoAllowRules } from "../core/config/auto-allow-rules.ts";
import type { Exec, ListWindows } from "../core/interfaces/index.ts";
import type { HookOutput, TranscriptLine } from "../core/interfaces/wire.ts";
import type { JsonRecord } from "../core/json.ts";
import type { Answer, AskDetails } from "../core/session/ask-details.ts";
import type { AgentEvent, ClockReading, Enrichment, Moment, Place } from "../core/session/event.ts";
import type { Ask, Session } from "../core/session/session.ts";
import type { AgentDangers } from "../shell/dangers/context.ts";
import type { Env } from "../system/folders.ts";
import type { HookMessage } from "./envelope.ts";
import type { Finding } from "./finding.ts";
import type { DiskLinks } from "./links.ts";

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
  /** Variables that the agent sets in the commands that it runs. Users do not set these themselves. */
  readonly commandMarkers: readonly string[];
  /** Variables that users set for the agent, such as its folder. The app inherits them, and `--help` lists them. */
  readonly settingsVariables: readonly { readonly name: string; readonly meaning: string }[];
  loadRuntime(): Promise<AgentRuntime>;
  loadSetup(): Promise<AgentSetup>;
  /** An invented day with this agent, for `beckon demo`. Absent if there is none. */
  loadDemo?(): Promise<CreateDemoDay>;
}

/** `now` is a wall time; `folder` stands for the agent's own folder. */
export type CreateDemoDay = (options: { readonly now: number; readonly folder: string }) => DemoDay;

export interface DemoDay {
  /** The variables that the agent gives its hooks. */
  readonly env: Readonly<Record<string, string>>;
  /** Files in the agent's own folder. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** What happened until now, oldest first. */
  readonly past: readonly { readonly at: number; readonly payload: JsonRecord }[];
  /** What happens from now on: each session goes through its steps, and starts again after the last. */
  readonly sessions: readonly { createSteps(round: number): readonly DemoStep[] }[];
  /** Whether a hook that printed this allows its request. */
  isAllowed(output: string): boolean;
}

export interface DemoStep {
  readonly afterMs: number;
  readonly payload: JsonRecord;
  /** A request: how long it waits for the user before it counts as allowed in the terminal. */
  readonly waitMs?: number;
  /** What the agent reports after the last request was allowed. */
  readonly onlyIfAllowed?: true;
}

/** What the forwarder needs. It runs at every hook: an agent's forwarding is one small file that imports next to nothing. */
export interface Forwarding {
  /** The environment variable with the agent's process id. null if there is none. */
  readonly pidVariable: string | null;
  /** The environment variable with the project's folder. null if there is none. */
  readonly projectVariable: string | null;
  /** The environment variable with the session's id, in commands that the agent runs. Absent if there is none. */
  readonly sessionVariable?: string;
  /** Variables to add to `_meta.env`. */
  readonly metaVariables: readonly string[];
  /** Fields of the payload that say which event of which session it is: a payload that is too large keeps them. */
  readonly identifierFields: readonly string[];
  /** null if unknown. */
  isAttended(env: Env): boolean | null;
  /** The name of the event and its session, for the log. */
  identify(payload: JsonRecord): { readonly eventName: unknown; readonly sessionId: unknown };
  /**
   * What a full spool does with the event: "ask" opens a request to the user and "end" can end one, so they are kept. "tool" is a
   * call that is kept if a request is about it. Anything else is dropped.
   */
  spoolKind(payload: JsonRecord): {
    readonly kind: "ask" | "end" | "tool" | "other";
    readonly toolUseId: unknown;
  };
  /** True if a session starts: beckon is launched if it is not running. */
  isSessionStart(payload: JsonRecord): boolean;
  /** True if the hook may wait for the user's answer to this request. */
  canWaitForAnswer(payload: JsonRecord): boolean;
  /** How the agent's hooks call the work guard. Absent if its edits cannot be refused. */
  readonly guard?: {
    /**
     * The part of the payload that the guard needs: an edit can have megabytes. `tool_input` or `input` has nothing but paths of
     * files, or a patch without its changes.
     */
    reduce(payload: JsonRecord): JsonRecord;
    /**
     * What the agent does about an edit of a file that another session has changed, if the user wants to be asked: it opens its
     * dialog, or its model is told. Absent if it can do neither.
     */
    readonly collisions?: "ask" | "tell";
    /** What the hook prints. null for nothing, so that everything goes on as without beckon. */
    formatOutput(payload: JsonRecord, output: HookOutput): object | null;
  };
  /** True if the agent understands this output. Any other output would be an error line in the user's terminal. */
  isDecision(output: unknown): boolean;
}

/** What the running app needs. */
export interface AgentRuntime {
  /** null if the payload names no session or no event. */
  translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null;
  /** What the payload says besides its change, for the history. */
  readDetails?(payload: JsonRecord): EventDetails;
  /** Says what is wrong with a payload that could not be translated. */
  explainRefusal(payload: JsonRecord): string;
  /** What a hook asks the work guard. null if the payload names no event. */
  readGuardRequest?(payload: JsonRecord): GuardRequest | null;
  /** The place of a hook, if it is the session's own. Absent if it always is. */
  findOwnPlace?(place: Place | null): Place | null;
  /** Removes what tools returned (files, command output, images) from the event's text. `from` is where the payload starts. */
  stripToolOutput(text: string, from: number, payload: JsonRecord): string;
  /** Fields of the payload that identify a session, an event or a file: secrets in them are not masked. */
  readonly identifierFields: ReadonlySet<string>;
  /** Equal for two copies of the same event. null if only the whole text tells events apart. */
  dedupeKey(payload: JsonRecord): string | null;
  /** What a command of any agent can do to this one. null if nothing is known. */
  readonly dangers: AgentDangers | null;
  /** null if the agent's requests can only be answered in its terminal. */
  readonly answering: AnswerSupport | null;
  /** Starts to watch what the agent's hooks do not report: its files, sockets and processes. null if there is nothing to watch. */
  watch(context: WatchContext): AgentWatcher | null;
  /** Reads what the agent writes to its status line command. null if the payload names no session. */
  readStatusLine?(payload: JsonRecord): StatusLineReport | null;
  /** The real path of a session's transcript. null if `path` is not one of the agent's own files. */
  findTranscript(path: string, env: Env): Promise<string | null>;
  /** A row of such a transcript, as a user reads it. Absent if beckon cannot show it. */
  readTranscriptRow?(row: string): readonly TranscriptLine[];
  /** The last response in a transcript that `findTranscript` found; null if its last turn has none. Absent if hooks always report it. */
  readLastResponse?(path: string): Promise<string | null>;
  /** Absent if the agent lets its hooks finish when an unattended run ends. */
  readonly unattendedRuns?: UnattendedRuns;
  /** True if the agent's own folder is there. */
  isPresent(env: Env): boolean;
  /** Returns a function that checks whether the user's own settings have the agent call beckon. Called often: it must be cheap. */
  createRegistrationCheck(env: Env): () => boolean;
}

/** For an agent that stops the hooks that still run when an unattended run ends: its own files say what they would have reported. */
export interface UnattendedRuns {
  /** Equal for a hook's payload and for the one that `readHooks` makes in its place. null if `readHooks` never makes it. */
  identify(payload: JsonRecord): string | null;
  /** True for the last hook of a run, which the agent waits for. */
  isEnd(payload: JsonRecord): boolean;
  /** What the hooks of the session reported, oldest first. `end` is the payload of the last one. */
  readHooks(end: JsonRecord, env: Env): Promise<readonly ReportedHook[]>;
}

export interface ReportedHook {
  readonly at: number;
  readonly payload: JsonRecord;
}

/** What a hook would have sent, from a file. */
export interface FileHook extends ReportedHook {
  /** The same whenever the file is read. */
  readonly id: string;
}

export interface GuardRequest {
  /** null if the payload names none. */
  readonly sessionId: string | null;
  readonly cwd: string | null;
  /** A session starts. */
  readonly isStart: boolean;
  /** null if the event is not a call that changes a file. */
  readonly edit: ToolEdit | null;
}

export interface ToolEdit {
  readonly tool: string;
  /** The files that it changes. Empty if the call names none. */
  readonly paths: readonly string[];
}

export interface StatusLineReport {
  readonly sessionId: string;
  readonly enrichment: Enrichment;
}

export interface EventStamp extends Moment {
  readonly id: string;
  /** The payload's key: `dedupeKey`, or the hash of its text. */
  readonly key: string;
}

/** What the history keeps of an event besides its change. Every text is as it was sent, and is shortened later. */
export interface EventDetails {
  readonly tool?: { readonly name: string; readonly input: JsonRecord } | undefined;
  /** Of a subagent or a member of a team. */
  readonly agentName?: string | undefined;
  readonly teamName?: string | undefined;
  readonly parentSessionId?: string | undefined;
  readonly prompt?: string | undefined;
  readonly message?: string | undefined;
  /** What a subagent returned, in the agent's own form. */
  readonly result?: unknown;
  /** The severity of a notification, in the agent's terms. */
  readonly level?: string | undefined;
  readonly reason?: string | undefined;
  readonly error?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly thinking?: string | undefined;
  /** `isReported`: by an event of its own. Otherwise it was derived from a tool call. */
  readonly task?: TaskEvent | undefined;
  /** The event is only a sign of life. */
  readonly isHeartbeat?: boolean | undefined;
  /** The event is a notification for the user. */
  readonly isNotification?: boolean | undefined;
}

export interface TaskEvent {
  readonly change: "created" | "started" | "completed";
  readonly id: string | null;
  readonly subject: string | null;
  readonly isReported: boolean;
}

export interface AnswerSupport {
  /** The session that a request belongs to. null if the payload is not a request. */
  findSessionId(payload: JsonRecord): string | null;
  /** Whether a hook may wait for the answer to this ask, which its payload opened. */
  isAnswerable(payload: JsonRecord, ask: Ask): boolean;
  /** Why a request of this agent cannot be answered while neither a hook nor a watcher waits for an answer. */
  readonly whyUnanswerable?: string;
  /** What the request asks, in full. null if it asks nothing. */
  describe(payload: JsonRecord, where: RequestContext): AskDetails | null;
  /** What the hook prints for this answer. A string says what is wrong with the answer. */
  decide(payload: JsonRecord, answer: Answer): object | string;
  /** The user's rule that allows this request without asking. null if no rule does. */
  autoAllow(rules: AutoAllowRules, payload: JsonRecord, where: RequestContext): AutoAllowed | null;
  /**
   * What the request would do, as far as a rule that the user made from their answers can name it: also from the payload of a hook, as
   * the history has it. null if no rule can. Absent if the agent's requests have no rules.
   */
  readSubject?(payload: JsonRecord): RuleSubject | null;
}

export interface RequestContext {
  /** The session's folder. */
  readonly cwd: string | null;
  /** The home folder of the session's user. null if unknown, for example on another machine. */
  readonly home?: string | null;
  /** What a command can do to the agents that beckon knows. */
  readonly agentDangers?: readonly AgentDangers[];
  /** Absent if links are not to be followed. */
  readonly links?: DiskLinks;
}

export interface AutoAllowed {
  /** As the user wrote it. */
  readonly rule: string;
  readonly folder: string;
  /** The paths that the request may read. Links are not resolved: the caller checks that none leads out of the folder. */
  readonly paths: readonly string[];
  /** The paths that, if they are folders, are read through the links inside of them: no such link may leave either. */
  readonly readThroughLinks: readonly string[];
}

export interface WatchContext {
  readonly env: Env;
  readonly clock: () => ClockReading;
  readonly findSession: (sessionId: string) => Session | null;
  readonly dispatch: (event: AgentEvent) => void;
  /** Masks secrets in text that comes from files. */
  readonly mask: (text: string) => string;
  readonly onError: (text: string) => void;
  readonly exec: Exec;
  readonly listWindows: ListWindows;
  /** The agent's program, as the last install found it. null if unknown. */
  readonly findProgram: () => Promise<AgentProgram | null>;
  /** Takes what a file says, and no hook has sent, as if a hook had: it is journalled, and in the history. */
  readonly report: (hook: FileHook) => void;
  /** Lets the user answer a request that the watcher itself can answer. Returns a function to call when the request is over. */
  readonly addPendingRequest: (request: WatchedRequest) => () => void;
}

/** A request of an agent that is answered through the agent's own server, not by a hook that waits. */
export interface WatchedRequest {
  /** The id of the event that asked. */
  readonly request: string;
  readonly sessionId: string;
  /** What `answering` describes and decides. */
  readonly payload: JsonRecord;
  /** Sends what `answering.decide` returned. False if the agent cannot be reached. */
  readonly send: (decision: object) => boolean;
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
  /**
   * Called before focus, for an agent whose sessions can move to another terminal. Resolves with why the terminal is not known;
   * null if the session's place is right.
   */
  locate?(session: Session): Promise<string | null>;
  /** Absent if no prompt can be sent to the agent's sessions from outside. */
  readonly prompts?: PromptSupport;
  stop(): void;
}

/** How the user's next prompt reaches a session other than through its terminal. */
export interface PromptSupport {
  /** Why this session takes none; null if it does. */
  findObstacle(session: Session): string | null;
  /** Where the text goes, for users: "Arrives as a message from @beckon". */
  readonly way: string;
  /** Hands it over as text: nothing in it is a command. Rejects with why that was not possible. What the agent reports is the receipt. */
  send(session: Session, text: string): Promise<void>;
}

/** What install, uninstall and doctor need. */
export interface AgentSetup {
  /** True if the agent's own folder is there. */
  isPresent(env: Env): boolean;
  /** What its program is called, without an extension. */
  programName(env: Env): string;
  /** Finds the agent's program and asks for its version. */
  findProgram(options: FindProgramOptions): Promise<ProgramSearch>;
  /** Sentences for the user about the program that was found, or not. `version` is the one that install assumes. */
  describeProgram(search: ProgramSearch, version: string | null): readonly string[];
  /** The file that beckon is registered in. null if the agent has no such scope. */
  settingsPath(scope: Scope, env: Env, cwd: string): string | null;
  /** What install writes into that file. */
  createRegistration(options: RegistrationOptions): Registration;
  /** What the work guard adds to that file, or removes from it: nothing else changes. Absent if the agent has no such hooks. */
  createGuardRegistration?(options: RegistrationOptions, hooks: GuardHooks): Registration;
  readonly entries: OwnEntries;
  /**
   * What keeps the registered hooks from running, or makes them run twice. Sentences for the user. `after` is the text that
   * install writes.
   */
  findWarnings(scope: Scope, env: Env, cwd: string, after: string): readonly string[];
  /** What uninstall leaves in place, and how the user can remove it. Sentences for the user. */
  findLeftovers(env: Env, cwd: string | null): readonly string[];
  examine(context: ExamineContext): Examination;
}

/** `user`: all projects of the user. `project`: everybody in this project. `local`: the user, in this project. */
export const scopes = ["user", "project", "local"] as const;
export type Scope = (typeof scopes)[number];

export interface AgentProgram {
  readonly path: string;
  readonly version: string;
}

export interface FindProgramOptions {
  readonly env: Env;
  readonly exec: Exec;
  /** The program that the last install found. */
  readonly remembered: AgentProgram | null;
  readonly timeoutMs?: number;
}

export interface ProgramSearch {
  /** null if no program was found, or none printed its version. */
  readonly program: AgentProgram | null;
  /** Programs that did not print their version. */
  readonly silent: readonly string[];
}

/** The hooks of the work guard. All false: none. */
export interface GuardHooks {
  /** Before every edit. The agent waits for it. */
  readonly edits: boolean;
  /** At the start of a session. The agent waits for it. */
  readonly starts: boolean;
  /** When the agent has loaded a file of instructions. It does not wait. */
  readonly documents: boolean;
}

export interface RegistrationOptions {
  /** The agent's version. null if unknown. */
  readonly version: string | null;
  /** The beckon that the hooks call. */
  readonly binary: string;
  /** BECKON_HOME, if beckon is installed with it. */
  readonly home: string | null;
  readonly platform: "linux" | "win32";
  /** The file that says where hooks have to ask the work guard. Absent if unknown: they ask nowhere. */
  readonly guardScope?: string;
  /** Whether beckon reads along in the agent's status line. Absent to leave it as it is. */
  readonly statusLine?: boolean | undefined;
}

/** What install writes into one file of the agent's. */
export interface Registration {
  /** `19` and `hook`. */
  readonly count: number;
  readonly noun: string;
  /** The file's new text: the same string if nothing changes. `text` is null if there is no file. Throws SettingsError. */
  add(text: string | null): string;
}

/** beckon's own entries in a file of the agent's. The functions throw SettingsError if the text cannot be parsed. */
export interface OwnEntries {
  /** The BECKON_HOME of each entry, null if the entry names none. */
  findHomes(text: string): readonly (string | null)[];
  /** The text without beckon's entries. The same string if there are none. */
  remove(text: string): string;
  /** True if nothing else is in the file: one that install created can be deleted. */
  isEmpty(text: string): boolean;
  /** The file is beckon's alone, such as a plugin: uninstall deletes it also if it does not know who created it. */
  readonly isOwnFile?: true;
}

export interface ExamineContext {
  readonly env: Env;
  /** null if the current folder is gone. */
  readonly cwd: string | null;
  readonly exec: Exec;
  /** beckon's own version and state folder. */
  readonly version: string;
  readonly state: string;
  /** What the last install recorded. null if it recorded none. */
  readonly program: AgentProgram | null;
  readonly binary: string | null;
  /** The ids of the agent's sessions that beckon shows as running. null if beckon is not running. */
  readonly readSessionIds: () => Promise<ReadonlySet<string> | null>;
  /** The version of a beckon binary. null if the file is not beckon. */
  readonly readVersion: (binary: string) => Promise<string | null>;
}

/** What doctor learns about an agent. */
export interface Examination {
  /** True also if unknown because a settings file cannot be read. */
  readonly isRegistered: boolean;
  /** Each part has its own time limit. */
  readonly parts: readonly { readonly link: string; readonly findings: Promise<readonly Finding[]> }[];
  readonly liveTest: LiveTest;
}

/** How doctor sends a test event the way the agent would. */
export interface LiveTest {
  /** The registered command, for a shell or as an argv. null if there is none that may be run: beckon is called directly. */
  readonly command: string | readonly string[] | null;
  /** The settings file that the command is from. null without a command. */
  readonly path: string | null;
  /** Why there is no command. null with a command. */
  readonly reason: string | null;
  createRequest(sessionId: string, text: string): object;
  createEnd(sessionId: string): object;
  /** The environment that the agent gives its hooks, with doctor's own process in the agent's place. */
  createEnv(env: Env, sessionId: string, pid: number): Env;
}
