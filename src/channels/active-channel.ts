/**
 * One channel that is configured and open: its client, its queue (outbox.ts) and the references in its messages. The sink tells it
 * which alerts there are. It decides when one is due here (escalation.ts) and what the message says (message-writer.ts), and
 * it takes answers (responses.ts).
 */
import type { ChannelSettings } from "../core/config/channels.ts";
import type { LocalTime } from "../core/config/quiet.ts";
import type { Schedule } from "../core/interfaces/index.ts";
import { asRecord, type JsonRecord } from "../core/json.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { minuteMs } from "../core/timing.ts";
import type { JudgedCause } from "../core/view/alerts/alerts.ts";
import { alertKinds } from "../core/view/alerts/kinds.ts";
import type { Channel, ChannelOptions, Service, ServiceSettings } from "./channel.ts";
import { createChannelHealth } from "./channel-health.ts";
import { escalate, isPaneDecisive, type UserSituation } from "./escalation.ts";
import { createMessageWriter, type MessageWriterOptions } from "./message-writer.ts";
import { createOutbox } from "./outbox.ts";
import { createReferences } from "./references.ts";
import { createResponseHandler, type ResponseHandlerOptions } from "./responses.ts";
import type { ChannelSecrets } from "./secrets.ts";
import { type ChannelTest, createChannelTests } from "./test-message.ts";

/** How a reply becomes a session's next prompt. */
export interface PromptSender {
  /** Why the session takes none; null if it does. */
  findObstacle(session: Session): string | null;
  readonly send: ResponseHandlerOptions["sendPrompt"];
}

export interface ActiveChannelOptions
  extends Omit<MessageWriterOptions, "isAnswering" | "references" | "takesPrompt"> {
  readonly name: string;
  /** Checked, with defaults. */
  readonly serviceSettings: ServiceSettings;
  /** What `describeState` returned before. */
  readonly saved: JsonRecord;
  readonly secrets: () => ChannelSecrets;
  readonly schedule: Schedule;
  readonly answer: ResponseHandlerOptions["answer"];
  /** null while the app starts. */
  readonly prompts: () => PromptSender | null;
  readonly readLastResponse?: ChannelOptions["readLastResponse"];
  /** The message of this alert has to be written again. */
  readonly onMessageChanged: (key: string) => void;
  /** What `describeState` returns has changed. */
  readonly saver: { schedule(): void; flush(): void };
  /** For the log of answers: an alert was sent, or will not be sent. */
  readonly onDelivery: (key: string, isSent: boolean, outcome: string) => void;
  readonly onProblem: (text: string) => void;
  /** What `problem` and `lastSentAt` return may have changed. */
  readonly onReportChanged: () => void;
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

/** An ask that could not be sent for this long is not worth sending any more. */
const maxAskAgeMs = 60 * minuteMs;

export async function openActiveChannel(options: ActiveChannelOptions): Promise<ActiveChannel> {
  const { name, service, settings, serviceSettings, clock, schedule, config, saver, secrets } = options;
  const secret = (field: string) => secrets().get(name, field);
  const isAnswering = settings.answers !== "off" && service.canAnswer(serviceSettings, secret);
  const isSending = settings.send && service.canAnswer(serviceSettings, secret);
  const saved = options.saved.type === service.type ? options.saved : {};
  let isStopped = false;
  let state = asRecord(saved.state);

  const redact = (text: string) => secrets().redact(text);
  const health = createChannelHealth({ ...options, redact });
  const references = createReferences(saved.references, saver.schedule);
  const writer = createMessageWriter({
    ...options,
    isAnswering,
    references,
    takesPrompt: (session) => isSending && options.prompts()?.findObstacle(session) === null,
  });
  const tests = createChannelTests({ name, isAnswering, references, clock, redact });
  const respond = createResponseHandler({
    name,
    service,
    settings: () => config().channels[name] ?? settings,
    isAnswering: () => isAnswering && config().answering.enabled && !isStopped,
    references,
    findAsk: writer.findAsk,
    answer: options.answer,
    isSending: () => isSending && config().channels[name]?.send === true && !isStopped,
    sendPrompt: async (session, text, by) =>
      (await options.prompts()?.send(session, text, by)) ?? "beckon is still starting",
    onTest: tests.onTap,
    onConfirm(key) {
      writer.confirm(key);
      restored.delete(key);
      options.onMessageChanged(key);
    },
    onRefused: health.onProblem,
    schedule,
  });
  const openClient = await service.load();
  const client = openClient({
    name,
    settings: serviceSettings,
    detail: settings.detail,
    isAnswering: isAnswering || isSending,
    secret,
    onResponse(response) {
      const key = references.find(response.reference)?.key;
      if (key !== undefined && response.handle !== undefined) outbox.adopt(key, response.handle);
      return respond(response).catch((error) => {
        health.onProblem(`an answer could not be taken: ${error}`);
        return { text: "Not accepted: beckon failed. Answer at the desk.", isAccepted: false };
      });
    },
    onProblem: health.onProblem,
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
      options.onDelivery(key, true, `sent to ${name}`);
      health.onSent();
    },
    onDropped(key, reason) {
      health.onProblem(`an alert was not sent: ${reason}`);
      options.onDelivery(key, false, `not sent to ${name}: ${redact(reason)}`);
    },
    onProblem: health.onProblem,
  });
  /** Messages of an earlier opening. With other settings they would be written again, and so ring again. */
  const restored = new Set(outbox.keys());
  if (isAnswering || isSending) client.listen?.();

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
      // What the user has dismissed or silenced stays as it was sent.
      if (cause.isSuppressed && restored.has(cause.key)) return null;
      const written = writer.write(cause, now, outbox.contentOf(cause.key));
      if (written)
        outbox.put(
          written.message,
          written.content,
          now.at + (alertKinds[cause.kind].maxAgeMs ?? maxAskAgeMs),
        );
      return writer.confirmUntil(cause.key, now);
    },
    isPaneDecisive: (cause, now, situation) =>
      outbox.contentOf(cause.key) === null && isPaneDecisive(cause, settings, now, situation),
    hasMessage: (key) => outbox.contentOf(key) !== null,
    keys: outbox.keys,
    revoke: writer.revoke,
    finish(key, ending, isLast) {
      if (ending === null) return outbox.finish(key, null, "", isLast);
      const { message, content } = writer.writeEnding(key, outbox.titleOf(key) ?? "", ending);
      outbox.finish(key, message, content, isLast);
    },
    problem: () => health.problem(outbox.problem() ?? client.problem()),
    lastSentAt: health.lastSentAt,
    async sendTest() {
      const test = await tests.send(client);
      health.onTested(test);
      return test;
    },
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
