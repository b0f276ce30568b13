/**
 * Writes the messages of one channel about alerts: what each says and offers now, and the references that its buttons carry.
 */
import { createHash } from "node:crypto";
import type { PendingRequests } from "../answers/pending.ts";
import type { ChannelSettings } from "../core/config/channels.ts";
import type { Config } from "../core/config/config.ts";
import type { FindAskDetails } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import { answerIdOf, sessionKeyOfAlert } from "../core/session/keys.ts";
import type { Session } from "../core/session/session.ts";
import { minuteMs } from "../core/timing.ts";
import type { JudgedCause } from "../core/view/alerts/alerts.ts";
import { maskText } from "../secrets/index.ts";
import { formatLocalTime } from "../system/clock.ts";
import type { ChannelMessage, Service } from "./channel.ts";
import {
  addReferences,
  createDraft,
  createExactText,
  createFinalDraft,
  type MessageDraft,
  type MessageInput,
  type ResponseMeaning,
} from "./message.ts";
import type { References } from "./references.ts";
import type { AskInMessage } from "./responses.ts";

export interface MessageWriterOptions {
  /** The fields that all channels have. */
  readonly settings: ChannelSettings;
  readonly service: Service;
  readonly isAnswering: boolean;
  readonly references: References;
  readonly clock: () => ClockReading;
  readonly config: () => Config;
  readonly details: FindAskDetails;
  /** What may leave this machine of it. */
  readonly maskedDetails: PendingRequests["maskedDetails"];
  /** The cause of this alert as it is now; null if it is gone. */
  readonly findCause: (key: string) => JudgedCause | null;
  /** Whether a reply to an alert about the session can be its next prompt. */
  readonly takesPrompt: (session: Session) => boolean;
}

export interface WrittenMessage {
  readonly message: ChannelMessage;
  /** Equal for messages that show the same and belong to the same ask. */
  readonly content: string;
}

export interface MessageWriter {
  /** null if `shown`, the content of its last message, would be the same. */
  write(cause: JudgedCause, now: ClockReading, shown: string | null): WrittenMessage | null;
  /** The last state of a message. */
  writeEnding(key: string, title: string, ending: string): WrittenMessage;
  /** The ask of this alert as its message would be now, not as it was when it was sent. null if it is over. */
  findAsk(key: string): AskInMessage | null;
  /** The first of two taps was made. */
  confirm(key: string): void;
  /** Wall time at which the message no longer asks for the second tap; null if it does not ask. */
  confirmUntil(key: string, now: ClockReading): number | null;
  /** The cause is gone: its buttons are void. */
  revoke(key: string): void;
}

const confirmMs = minuteMs;

export function createMessageWriter(options: MessageWriterOptions): MessageWriter {
  const { settings, service, isAnswering, references, clock } = options;
  /** Alert key → when (t) the first of two taps was made. */
  const confirming = new Map<string, number>();
  /** Alert key → the request, and the answers that its message offers. */
  const offered = new Map<string, string>();

  function createInput(cause: JudgedCause, now: ClockReading): MessageInput {
    const confirmingMs = now.t - (confirming.get(cause.key) ?? Number.NEGATIVE_INFINITY);
    const isConfirming = confirmingMs < confirmMs;
    if (!isConfirming) confirming.delete(cause.key);
    const masked = cause.ask && options.config().answering.enabled ? options.maskedDetails(cause.ask) : null;
    return {
      cause,
      settings,
      service,
      isAnswering,
      takesPrompt: options.takesPrompt(cause.session),
      details: masked?.details ?? null,
      hasSecret: masked?.hasSecret ?? false,
      confirmingMs: isConfirming ? confirmingMs : null,
      formatTime: (at) => formatLocalTime(at, now.at),
      mask: maskText,
    };
  }

  return {
    write(cause, now, shown) {
      const { key, ask } = cause;
      const draft = createDraft(createInput(cause, now));
      const answerId = ask ? answerIdOf(ask) : "";
      const content = hashDraft(draft, answerId);
      if (content === shown) return null;
      const offers = JSON.stringify([answerId, listMeanings(draft)]);
      // A phone may still show the buttons of the earlier text, which stand for the same answers to the same request.
      if (offered.get(key) !== offers) references.revoke(key);
      offered.set(key, offers);
      const message = addReferences(draft, (meaning) =>
        references.create(
          meaning.do === "send"
            ? { key: promptKeyOf(key), answerId: draft.session, meaning }
            : { key, answerId, meaning },
        ),
      );
      return { message, content };
    },
    writeEnding(key, title, ending) {
      const draft = createFinalDraft(key, sessionKeyOfAlert(key), title, ending);
      return { message: addReferences(draft, () => ""), content: hashDraft(draft, "") };
    },
    findAsk(key) {
      const cause = options.findCause(key);
      if (!cause?.ask) return null;
      const { session, ask } = cause;
      const input = createInput(cause, clock());
      const offers = listMeanings(createDraft(input));
      const step = input.details && createExactText(input, input.details).step;
      return { session, ask, details: options.details(ask), offers, step };
    },
    confirm: (key) => void confirming.set(key, clock().t),
    confirmUntil(key, now) {
      const confirmedT = confirming.get(key);
      return confirmedT === undefined ? null : now.at + (confirmedT + confirmMs - now.t);
    },
    revoke(key) {
      references.revoke(key);
      confirming.delete(key);
      offered.delete(key);
    },
  };
}

function hashDraft(draft: MessageDraft, answerId: string): string {
  return createHash("sha256")
    .update(JSON.stringify([draft, answerId]))
    .digest("base64url");
}

/** A prompt is for the session, also when the alert is over: one for each alert. */
const promptKeyOf = (key: string): string => `prompt ${key}`;

const listMeanings = ({
  buttons,
  replyHint,
  replyMeaning = { do: "text" },
}: MessageDraft): readonly ResponseMeaning[] => [
  ...buttons.map(({ meaning }) => meaning),
  ...(replyHint === null ? [] : [replyMeaning]),
];
