/** Answers that come from a channel: who may answer what, and the one-time references that bind an answer to its ask. */
import type { AnswerAccepted } from "../answers/pending.ts";
import { type AnswerStep, judgeAnswer } from "../core/answers/policy.ts";
import { formatPromptState, tooSoon } from "../core/answers/words.ts";
import type { ChannelSettings } from "../core/config/channels.ts";
import type { ActionRefused, Schedule } from "../core/interfaces/index.ts";
import type { PromptView } from "../core/interfaces/wire.ts";
import type { Answer, AskDetails } from "../core/session/ask-details.ts";
import { answerIdOf } from "../core/session/keys.ts";
import type { Ask, Session } from "../core/session/session.ts";
import { truncateEnd } from "../core/text/text.ts";
import { capitalize } from "../core/text/words.ts";
import type { ChannelReply, ChannelResponse, Service } from "./channel.ts";
import { createAnswer, type ResponseMeaning } from "./message.ts";
import type { Reference, References } from "./references.ts";

export interface AskInMessage {
  readonly session: Session;
  readonly ask: Ask;
  /** null if it cannot be answered from outside of the terminal. */
  readonly details: AskDetails | null;
  /** What the message offers now. An answer that it no longer offers is refused. */
  readonly offers: readonly ResponseMeaning[];
  /** What the message shows, and what was tapped before. null if it shows nothing of the request. */
  readonly step: AnswerStep | null;
}

/** What became of a prompt. */
export type TakenPrompt = Pick<PromptView, "state" | "says">;

export interface ResponseHandlerOptions {
  /** The channel's name. */
  readonly name: string;
  readonly service: Pick<Service, "hasAccounts">;
  readonly settings: () => ChannelSettings;
  readonly isAnswering: () => boolean;
  readonly references: References;
  /** null if the ask of this alert is over. */
  readonly findAsk: (key: string) => AskInMessage | null;
  readonly answer: (
    session: Session,
    answerId: string,
    answer: Answer,
    step: AnswerStep,
  ) => Promise<AnswerAccepted | ActionRefused | string>;
  /** Prompts are taken from this channel. */
  readonly isSending: () => boolean;
  /** Sends the session with this key its next prompt. Resolves with a text if it cannot. */
  readonly sendPrompt: (session: string, text: string, by: string) => Promise<TakenPrompt | string>;
  /** The first of two taps was made: the message has to ask for the second. */
  readonly onConfirm: (key: string) => void;
  /** The button of a test message was tapped. */
  readonly onTest: (key: string, by: string) => void;
  /** Called with a line for the log. */
  readonly onRefused: (text: string) => void;
  readonly schedule: Schedule;
}

/** After a restart, the hook that waits for the answer connects again within a second. */
const reconnectMs = 3_000;
const pollMs = 100;

const usedReason = "it was used before, or its request is over";
const maxAccount = 40;
const maxReplyLength = 20_000;

export function createResponseHandler(options: ResponseHandlerOptions) {
  const { name, references, settings } = options;
  /** Keys of alerts whose answer is under way. */
  const answering = new Set<string>();

  function refuse(by: string, reason: string): ChannelReply {
    options.onRefused(`an answer by ${by} was refused: ${reason}`);
    return { text: `Not accepted: ${reason}.`, isAccepted: false };
  }

  /** Returns why this response is not taken; null if it is. */
  function findReasonAgainst({ accountId }: ChannelResponse, reference: Reference | null): string | null {
    // A foreign account learns nothing about references.
    if (options.service.hasAccounts && !settings().accounts.includes(accountId))
      return "this account may not answer";
    if (reference?.meaning.do === "send")
      return options.isSending() ? null : "sending prompts from this channel is turned off";
    if (!options.isAnswering()) return "answering from this channel is turned off";
    return reference === null ? usedReason : null;
  }

  async function findConnectedAsk(key: string): Promise<AskInMessage | null> {
    for (let waitedMs = 0; ; waitedMs += pollMs) {
      const open = options.findAsk(key);
      if (!open || open.details !== null || waitedMs >= reconnectMs) return open;
      await new Promise<void>((resolve) => options.schedule(resolve, pollMs));
    }
  }

  async function answer(response: ChannelResponse, reference: Reference, by: string): Promise<ChannelReply> {
    const { key, answerId, meaning } = reference;
    const open = await findConnectedAsk(key);
    if (!open || answerIdOf(open.ask) !== answerId) {
      references.revoke(key);
      return refuse(by, "its request is over");
    }
    // Another tap may have come in the meantime, or the settings have changed.
    const current = references.find(response.reference) === reference && !answering.has(key);
    const reason = findReasonAgainst(response, current ? reference : null);
    if (reason !== null) return refuse(by, reason);
    const { details, session, offers } = open;
    const isOffered = offers.some((offer) => JSON.stringify(offer) === JSON.stringify(meaning));
    if (details === null || open.step === null || !isOffered)
      return refuse(by, "this can only be answered at the desk");
    if (meaning.do === "confirm") {
      references.revoke(key);
      options.onConfirm(key);
      return { text: "It is marked as dangerous. Tap once more to allow it.", isAccepted: true };
    }
    const given = createAnswer(meaning, response.text?.slice(0, maxReplyLength) ?? null, details);
    if (typeof given === "string") return refuse(by, given);
    const step = { ...open.step, by };
    // The reference stays valid, so that a tap after a moment counts.
    if (judgeAnswer(details, given, step).kind === "too soon") return refuse(by, tooSoon);
    // A second tap finds the first one under way.
    answering.add(key);
    try {
      const result = await options.answer(session, answerId, given, step);
      // Nothing was decided, so that another answer still counts.
      if (typeof result === "string") return refuse(by, result);
      // The button stays: if the answer has not arrived, it can be tapped again, and if it has, the first one counts.
      if ("refused" in result && result.isUnknown)
        return { text: `${capitalize(result.error)}.`, isAccepted: false };
      references.revoke(key);
      if ("refused" in result) return refuse(by, result.error);
      return { text: `${capitalize(result.answered)}.`, isAccepted: true };
    } catch (error) {
      references.revoke(key);
      throw error;
    } finally {
      answering.delete(key);
    }
  }

  /** The reference counts once: what is refused can be sent again, what was taken cannot. */
  async function send(text: string, { key, answerId }: Reference, by: string): Promise<ChannelReply> {
    if (answering.has(key)) return refuse(by, usedReason);
    answering.add(key);
    try {
      const sent = await options.sendPrompt(answerId, text, by);
      if (typeof sent === "string") return refuse(by, sent);
      references.revoke(key);
      return { text: `${formatPromptState(sent)}.`, isAccepted: true };
    } finally {
      answering.delete(key);
    }
  }

  return async (response: ChannelResponse): Promise<ChannelReply> => {
    const account = truncateEnd(response.account, maxAccount);
    const by = account === "" ? name : `${name} (${account})`;
    const reference = references.find(response.reference);
    const reason = findReasonAgainst(response, reference);
    if (reason !== null || reference === null) return refuse(by, reason ?? "");
    const isText = reference.meaning.do === "text" || reference.meaning.do === "send";
    if (isText !== (response.text !== null)) return refuse(by, "it does not belong to this message");
    if (reference.meaning.do === "send") return send(response.text ?? "", reference, by);
    if (reference.meaning.do !== "test") return answer(response, reference, by);
    references.revoke(reference.key);
    options.onTest(reference.key, by);
    return { text: "It works.", isAccepted: true };
  };
}
