/** What a service of src/channels must offer: its row of the table, and the channel that its client opens. */
import type { ChannelDetail } from "../core/config/channels.ts";
import type { Schedule, SessionChange, Transition } from "../core/interfaces/index.ts";
import type { JsonRecord } from "../core/json.ts";
import type { Session } from "../core/session/session.ts";
import { minuteMs } from "../core/timing.ts";
import type { Urgency } from "../core/view/alerts/kinds.ts";

/** The row of a service in the table. It is loaded with the first channel of any type, so it imports no client library. */
export interface Service {
  /** As `type` in the settings names it: "ntfy". */
  readonly type: string;
  /** For users: "ntfy", "Telegram". */
  readonly name: string;
  /** What it is, for the list in `beckon channel add`: "push notifications, also from your own server". */
  readonly summary: string;
  /** Whether a channel with these settings can take answers. */
  canAnswer(settings: ServiceSettings, secret: ReadSecret): boolean;
  /** False if the service does not report who answers. Then everyone who knows a reference may use it. */
  readonly hasAccounts: boolean;
  /** For a service without accounts: whether only those who the user has let in can read and write there. */
  isClosed?(settings: ServiceSettings, secret: ReadSecret): boolean;
  /** Returns what the id of an account must be ("a number, like 12345678"), or null if this is one. */
  checkAccount?(id: string): string | null;
  /**
   * A message that is sent twice with the same id is shown once. Without it, a message whose fate is unknown (beckon was
   * killed, the connection broke after the request) is not sent again.
   */
  isIdempotent(settings: ServiceSettings, secret: ReadSecret): boolean;
  readonly maxButtons: number;
  /** Whether one message shows all of this text. If not, the service cuts it, and it cannot be allowed from there. */
  fits(message: ChannelMessage): boolean;
  /** The service's own fields. */
  /** What the user does on the phone before the first message, and a link that shows it there. Absent if nothing. */
  describePhone?(settings: ServiceSettings): { readonly steps: readonly string[]; readonly link: string };
  readonly settings: readonly ServiceSetting[];
  /** Whether a channel with these settings needs an account to send to, even if it takes no answers. */
  needsAccount?(settings: ServiceSettings, secret: ReadSecret): boolean;
  /** For `beckon channel add`: waits for a message to the bot and resolves with its sender. Rejects with a DeliveryError. */
  findSender?(options: FindSenderOptions): Promise<ChannelSender>;
  /** Imports the client. */
  load(): Promise<OpenChannel>;
}

export interface FindSenderOptions {
  /** Checked, with defaults. */
  readonly settings: ServiceSettings;
  readonly secret: ReadSecret;
  readonly signal: AbortSignal;
}

/** As in ChannelResponse. */
export interface ChannelSender {
  readonly account: string;
  readonly accountId: string;
}

export type ServiceSettings = Readonly<Record<string, unknown>>;

/** Returns the value of a field that is a secret; null if it is not set. */
export type ReadSecret = (field: string) => string | null;

export interface ServiceSetting {
  readonly name: string;
  /** What `beckon channel add` asks: "Which topic?" Empty if it does not ask. */
  readonly question: string;
  /** A value that `beckon channel add` offers. */
  suggest?(): string;
  /** `beckon channel add` takes the suggestion without asking. */
  readonly isMade?: boolean;
  /** It is needed for answers only, so it is asked for, or made, once the user wants them. */
  readonly isForAnswers?: boolean;
  /** Read from the environment or the file of secrets, never from config.json. */
  readonly isSecret: boolean;
  /** Absent if the user must set it; null if it can stay unset. */
  readonly default?: unknown;
  /** Whether `beckon channel add` asks for it after these answers. Absent: always. */
  isAsked?(settings: ServiceSettings, secret: ReadSecret): boolean;
  /** Returns what the value must be ("an https address"), or null if it is valid. `settings` has the other fields. */
  check(value: unknown, settings: ServiceSettings): string | null;
}

export type OpenChannel = (options: ChannelOptions) => Channel;

export interface ChannelOptions {
  /** The name that the user gave the channel. */
  readonly name: string;
  /** The service's own fields and those that all channels have: checked, with defaults. */
  readonly settings: ServiceSettings;
  readonly detail: ChannelDetail;
  /** Answers or prompts are taken, so `listen` is called. */
  readonly isAnswering: boolean;
  readonly secret: ReadSecret;
  /** A tap on a button, or a reply with text. Resolves with what to show to its sender. Never rejects. */
  readonly onResponse: (response: ChannelResponse) => Promise<ChannelReply>;
  /** Called with a line for the log. Secrets of this channel are masked in it. */
  readonly onProblem: (text: string) => void;
  /** Saved across restarts: an update offset, ids of threads. At most a few KB. */
  readonly state: ChannelState;
  /** The last response in the transcript of the session, masked; null if there is none. For a feed of sessions. */
  readonly readLastResponse?: (session: Session) => Promise<string | null>;
  /** Wall time. */
  readonly now: () => number;
  /** For tests. */
  readonly schedule?: Schedule | undefined;
  readonly requestTimeoutMs?: number | undefined;
}

export interface ChannelState {
  get(): JsonRecord;
  set(value: JsonRecord): void;
}

export interface Channel {
  /**
   * Resolves with a handle that names the message, also after a restart. `id` is the same for every attempt to send this
   * message. Rejects with a DeliveryError.
   */
  send(message: ChannelMessage, id: string): Promise<string>;
  /** Replaces a message. Absent if the service cannot. Rejects with a DeliveryError. */
  update?(handle: string, message: ChannelMessage): Promise<void>;
  /** Starts to receive responses and reconnects by itself. Absent if the service is one-way. */
  listen?(): void;
  /** For a service that follows sessions besides asks. All of them must return at once. The first gets the known sessions. */
  onOpened?(sessions: readonly Session[]): void;
  onChange?(change: SessionChange): void;
  onTransition?(transition: Transition): void;
  stop(): Promise<void>;
  /** Why responses cannot be received now; null if they can. Failures to deliver are counted by the core. */
  problem(): string | null;
}

export interface ChannelButton {
  readonly label: string;
  readonly reference: string;
  readonly style: "allow" | "deny" | "plain";
}

/** Plain text. The service escapes it for its own markup and prevents mentions and link previews. */
export interface ChannelMessage {
  /** Names the alert on this machine, and its session (`agent:sessionId`). Not to be sent. */
  readonly key: string;
  readonly session: string;
  /** The session's folder, for a service with a channel per project. Absent if unknown. Not to be sent. */
  readonly folder?: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly urgency: Urgency;
  readonly buttons: readonly ChannelButton[];
  /** The reference of a text in reply to this message: the reason of a denial, the answer to a question. null if none is taken. */
  readonly replyReference: string | null;
  /** What a reply does, for users: "Reply with a reason to deny it." null if none is taken. */
  readonly replyHint: string | null;
  /** The ask is over. */
  readonly isFinal: boolean;
  readonly link: string | null;
}

export interface ChannelResponse {
  readonly reference: string;
  /** For users and the log: "@joe". Empty if the service does not report it. */
  readonly account: string;
  /** As the setting `accounts` lists it: "12345". */
  readonly accountId: string;
  /** The text of a reply; null for a tap on a button. */
  readonly text: string | null;
  /** Names the message of a tapped button as `send` does. If the answer to `send` was lost, this is how its handle is learned. */
  readonly handle?: string;
}

export interface ChannelReply {
  /** For the sender: "Allowed.", "Not accepted: this button is no longer valid." */
  readonly text: string;
  readonly isAccepted: boolean;
}

export interface DeliveryFailure {
  /** The service asks for this pause; null if it does not. */
  readonly retryAfterMs?: number | null;
  /** It would fail again: a wrong token, a chat that does not exist. */
  readonly isPermanent?: boolean;
  /** The request was written and may have been carried out. */
  readonly isUncertain?: boolean;
}

export class DeliveryError extends Error {
  readonly retryAfterMs: number | null;
  readonly isPermanent: boolean;
  readonly isUncertain: boolean;

  constructor(
    message: string,
    { retryAfterMs = null, isPermanent = false, isUncertain = false }: DeliveryFailure = {},
  ) {
    super(message);
    this.name = "DeliveryError";
    this.retryAfterMs = limitPause(retryAfterMs);
    this.isPermanent = isPermanent;
    this.isUncertain = isUncertain;
  }
}

/** A service that asks for a longer pause is asked again after this long. */
const maxRetryAfterMs = 60 * minuteMs;

/** A service can ask for anything: a pause of weeks would also be too long for a timer, which then fires at once. */
const limitPause = (ms: number | null): number | null =>
  ms === null || Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), maxRetryAfterMs);
