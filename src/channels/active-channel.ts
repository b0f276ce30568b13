/**
 * One channel that is configured and open: its client, its queue (outbox.ts) and the references in its messages. The sink tells it
 * which alerts there are. It decides when one is due here (escalation.ts) and what the message says (message.ts), and it
 * takes answers (responses.ts).
 */
import { createHash } from "node:crypto";
import type { PendingRequests } from "../answers/pending.ts";
import type { ChannelSettings } from "../core/config/channels.ts";
import type { Config } from "../core/config/config.ts";
import type { LocalTime } from "../core/config/quiet.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule } from "../core/interfaces/index.ts";
import { asRecord, type JsonRecord } from "../core/json.ts";
import type { FindAskDetails } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import { answerIdOf, sessionKeyOfAlert } from "../core/session/keys.ts";
import { minuteMs } from "../core/timing.ts";
import type { JudgedCause } from "../core/view/alerts/alerts.ts";
import { maskText } from "../secrets/index.ts";
import { formatLocalTime } from "../system/clock.ts";
import type { Channel, ChannelOptions, Service, ServiceSettings } from "./channel.ts";
import { escalate, isPaneDecisive, type UserSituation } from "./escalation.ts";
import {
  addReferences,
  createDraft,
  createExactText,
  createFinalDraft,
  type MessageDraft,
  type MessageInput,
  type ResponseMeaning,
} from "./message.ts";
import { createOutbox } from "./outbox.ts";
import { createReferences } from "./references.ts";
import { type AskInMessage, createResponseHandler, type ResponseHandlerOptions } from "./responses.ts";
import type { ChannelSecrets } from "./secrets.ts";
import { createTestMessage, formatTestEnding } from "./test-message.ts";

export interface ActiveChannelOptions {
  readonly name: string;
  /** The fields that all channels have. */
  readonly settings: ChannelSettings;
  readonly service: Service;
  /** Checked, with defaults. */
  readonly serviceSettings: ServiceSettings;
  /** What `describeState` returned before. */
  readonly saved: JsonRecord;
  readonly secrets: () => ChannelSecrets;
  readonly clock: () => ClockReading;
  readonly schedule: Schedule;
  readonly config: () => Config;
  readonly details: FindAskDetails;
  /** What may leave this machine of it. */
  readonly maskedDetails: PendingRequests["maskedDetails"];
  readonly answer: ResponseHandlerOptions["answer"];
  readonly readLastResponse?: ChannelOptions["readLastResponse"];
  /** The cause of this alert as it is now; null if it is gone. */
  readonly findCause: (key: string) => JudgedCause | null;
  /** The message of this alert has to be written again. */
  readonly onMessageChanged: (key: string) => void;
  /** What `describeState` returns has changed. */
  readonly saver: { schedule(): void; flush(): void };
  readonly onDelivery: (key: string, isSent: boolean, outcome: string) => void;
  readonly onProblem: (text: string) => void;
  /** What `problem` and `lastSentAt` return may have changed. */
  readonly onReportChanged: () => void;
}

/** What became of a test message. */
export interface ChannelTest {
  /** Why it could not be sent; null if it was. */
  readonly problem: string | null;
  /** Resolves with who tapped its button; null if the channel takes no answers. */
  readonly tapped: Promise<string> | null;
}

export interface ActiveChannel {
  readonly name: string;
  readonly service: Service;
  readonly settings: ChannelSettings;
  readonly isAnswering: boolean;
  /** For a service that follows sessions besides asks. */
  readonly client: Pick<Channel, "onOpened" | "onChange" | "onTransition">;
  /**
   * Sends the alert if it is due, and keeps its message up to date. Returns the wall time at which to check again, or null if
   * only an event changes it.
   */
  show(cause: JudgedCause, now: ClockReading & LocalTime, situation: UserSituation): number | null;
  /** It would be sent now if the user did not look at the pane of the session. */
  isPaneDecisive(cause: JudgedCause, now: ClockReading & LocalTime, situation: UserSituation): boolean;
  /** There is a message about this alert, sent or waiting. */
  hasMessage(key: string): boolean;
  /** The alerts whose messages have not got their last state. */
  keys(): readonly string[];
  /** The cause is gone: its buttons are void. */
  revoke(key: string): void;
  /** Sets the last state of its message. null: it stays as it is. `isLast`: no better ending follows. */
  finish(key: string, ending: string | null, isLast: boolean): void;
  /** Why nothing is sent or received now; null if all is well. */
  problem(): string | null;
  /** Wall time of the last message that arrived; null if none did since the start. */
  lastSentAt(): number | null;
  sendTest(): Promise<ChannelTest>;
  /** What must be known after a restart. */
  describeState(): JsonRecord;
  /** Sends and accepts nothing any more. */
  stop(): Promise<void>;
}

const confirmMs = minuteMs;
/** After this long an alert is not worth sending any more. */
const staleMs = {
  blocked: 60 * minuteMs,
  failed: 30 * minuteMs,
  idle: 10 * minuteMs,
  finished: 10 * minuteMs,
  untracked: 10 * minuteMs,
};

export async function openActiveChannel(options: ActiveChannelOptions): Promise<ActiveChannel> {
  const { name, service, settings, serviceSettings, clock, schedule, config, saver, secrets } = options;
  const secret = (field: string) => secrets().get(name, field);
  const isAnswering = settings.answers !== "off" && service.canAnswer(serviceSettings, secret);
  const saved = options.saved.type === service.type ? options.saved : {};
  /** Alert key → when (t) the first of two taps was made. */
  const confirming = new Map<string, number>();
  /** Alert key → the request, and the answers that its message offers. */
  const offered = new Map<string, string>();
  /** Test messages that wait for a tap, by key. */
  const tests = new Map<string, (by: string) => void>();
  let testCount = 0;
  let lastSentAt: number | null = null;
  /** Why the last test message was not sent; null if it was, or if an alert has been sent since. */
  let testProblem: string | null = null;
  let isStopped = false;
  let state = asRecord(saved.state);

  const onProblem = (text: string): void => {
    options.onProblem(`channel ${name}: ${secrets().redact(text)}`);
    options.onReportChanged();
  };
  const references = createReferences(saved.references, saver.schedule);
  const respond = createResponseHandler({
    name,
    service,
    settings: () => config().channels[name] ?? settings,
    isAnswering: () => isAnswering && config().answering.enabled && !isStopped,
    references,
    findAsk,
    answer: options.answer,
    onTest: (key, by) => tests.get(key)?.(by),
    onConfirm(key) {
      confirming.set(key, clock().t);
      options.onMessageChanged(key);
    },
    onRefused: onProblem,
    schedule,
  });
  const openClient = await service.load();
  const client = openClient({
    name,
    settings: serviceSettings,
    detail: settings.detail,
    isAnswering,
    secret,
    onResponse(response) {
      const key = references.find(response.reference)?.key;
      if (key !== undefined && response.handle !== undefined) outbox.adopt(key, response.handle);
      return respond(response).catch((error) => {
        onProblem(`an answer could not be taken: ${error}`);
        return { text: "Not accepted: beckon failed. Answer at the desk.", isAccepted: false };
      });
    },
    onProblem,
    ...(options.readLastResponse ? { readLastResponse: options.readLastResponse } : {}),
    now: () => clock().at,
    state: {
      get: () => state,
      set(value) {
        state = value;
        saver.schedule();
      },
    },
    schedule,
  });
  const outbox = createOutbox({
    channel: client,
    isIdempotent: service.isIdempotent(serviceSettings, secret),
    saved: saved.messages,
    clock,
    schedule,
    onChange: saver.schedule,
    flush: saver.flush,
    onSent(key) {
      lastSentAt = clock().at;
      testProblem = null;
      options.onDelivery(key, true, `sent to ${name}`);
      options.onReportChanged();
    },
    onDropped(key, reason) {
      const hidden = secrets().redact(reason);
      onProblem(`an alert was not sent: ${reason}`);
      options.onDelivery(key, false, `not sent to ${name}: ${hidden}`);
    },
    onProblem,
  });
  if (isAnswering) client.listen?.();

  /** As the message would be now, not as it was when it was sent. */
  function findAsk(key: string): AskInMessage | null {
    const cause = options.findCause(key);
    if (!cause?.ask) return null;
    const { session, ask } = cause;
    const input = createInput(cause, clock());
    const offers = listMeanings(createDraft(input));
    const step = input.details && createExactText(input, input.details).step;
    return { session, ask, details: options.details(ask), offers, step };
  }

  function createInput(cause: JudgedCause, now: ClockReading): MessageInput {
    const confirmingMs = now.t - (confirming.get(cause.key) ?? Number.NEGATIVE_INFINITY);
    const isConfirming = confirmingMs < confirmMs;
    if (!isConfirming) confirming.delete(cause.key);
    const masked = cause.ask && config().answering.enabled ? options.maskedDetails(cause.ask) : null;
    return {
      cause,
      settings,
      service,
      isAnswering,
      details: masked?.details ?? null,
      hasSecret: masked?.hasSecret ?? false,
      confirmingMs: isConfirming ? confirmingMs : null,
      formatTime: (at) => formatLocalTime(at, now.at),
      mask: maskText,
    };
  }

  function putMessage(cause: JudgedCause, now: ClockReading): void {
    const { key, ask } = cause;
    const draft = createDraft(createInput(cause, now));
    const answerId = ask ? answerIdOf(ask) : "";
    const content = hashDraft(draft, answerId);
    if (content === outbox.contentOf(key)) return;
    const offers = JSON.stringify([answerId, listMeanings(draft)]);
    // A phone may still show the buttons of the earlier text, which stand for the same answers to the same request.
    if (offered.get(key) !== offers) references.revoke(key);
    offered.set(key, offers);
    const message = addReferences(draft, (meaning) => references.create({ key, answerId, meaning }));
    outbox.put(message, content, now.at + staleMs[cause.kind]);
  }

  function setTestProblem(problem: string | null): void {
    testProblem = problem;
    options.onReportChanged();
  }

  async function sendTest(): Promise<ChannelTest> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const key = `test#${++testCount}`;
    const reference = isAnswering
      ? references.create({ key, answerId: "test", meaning: { do: "test" } })
      : null;
    let handle = "";
    tests.set(key, (by) => {
      tests.delete(key);
      resolve(by);
      client.update?.(handle, createTestMessage(name, null, formatTestEnding(by))).catch(() => {});
    });
    try {
      handle = await client.send(createTestMessage(name, reference), `test-${clock().at}-${testCount}`);
      lastSentAt = clock().at;
      setTestProblem(null);
      return { problem: null, tapped: isAnswering ? promise : null };
    } catch (error) {
      tests.delete(key);
      const problem = secrets().redact(readErrorMessage(error));
      setTestProblem(problem);
      return { problem, tapped: null };
    }
  }

  return {
    name,
    service,
    settings,
    isAnswering,
    client,
    show(cause, now, situation) {
      if (outbox.contentOf(cause.key) === null) {
        const { isDue, checkAt } = escalate(cause, settings, now, situation);
        if (!isDue) return checkAt;
      }
      putMessage(cause, now);
      const confirmedT = confirming.get(cause.key);
      return confirmedT === undefined ? null : now.at + (confirmedT + confirmMs - now.t);
    },
    isPaneDecisive: (cause, now, situation) =>
      outbox.contentOf(cause.key) === null && isPaneDecisive(cause, settings, now, situation),
    hasMessage: (key) => outbox.contentOf(key) !== null,
    keys: outbox.keys,
    revoke(key) {
      references.revoke(key);
      confirming.delete(key);
      offered.delete(key);
    },
    finish(key, ending, isLast) {
      if (ending === null) return outbox.finish(key, null, "", isLast);
      const draft = createFinalDraft(key, sessionKeyOfAlert(key), outbox.titleOf(key) ?? "", ending);
      const message = addReferences(draft, () => "");
      outbox.finish(key, message, hashDraft(draft, ""), isLast);
    },
    problem() {
      const problem = outbox.problem() ?? client.problem() ?? testProblem;
      // A service can repeat in its errors what it was sent.
      return problem === null ? null : secrets().redact(problem);
    },
    lastSentAt: () => lastSentAt,
    sendTest,
    describeState: () => ({
      type: service.type,
      messages: outbox.saved(),
      references: references.saved(),
      state,
    }),
    async stop() {
      isStopped = true;
      await Promise.all([outbox.stop(), client.stop()]);
    },
  };
}

/** Equal for drafts that show the same and belong to the same ask. */
function hashDraft(draft: MessageDraft, answerId: string): string {
  return createHash("sha256")
    .update(JSON.stringify([draft, answerId]))
    .digest("base64url");
}

const listMeanings = ({ buttons, replyHint }: MessageDraft): readonly ResponseMeaning[] => [
  ...buttons.map(({ meaning }) => meaning),
  ...(replyHint === null ? [] : [{ do: "text" } as const]),
];
