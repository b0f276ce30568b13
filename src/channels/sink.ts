/**
 * The sink that keeps every channel showing what should be out: which alerts are due (escalation.ts), what they say
 * (message.ts), delivering them (outbox.ts) and taking answers (responses.ts). Sessions that did not change cost nothing.
 */
import { createHash } from "node:crypto";
import type { PendingRequests } from "../answers/pending.ts";
import type { ChannelSettings } from "../core/config/channels.ts";
import type { Config } from "../core/config/config.ts";
import type { Preferences } from "../core/config/preferences.ts";
import type { LocalTime } from "../core/config/quiet.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { asRecord, type JsonRecord } from "../core/json.ts";
import type { PresenceReading, ReadPresence, Schedule, Sink, Transition } from "../core/ports.ts";
import type { FindAskDetails } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import { answerIdOf, createAskAlertKey, sessionKeyOf, sessionKeyOfAlert } from "../core/session/keys.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import { minuteMs, timing } from "../core/timing.ts";
import { computeCauses, type JudgedCause, type JudgedCauses } from "../core/view/alerts/alerts.ts";
import { maskText } from "../secrets/index.ts";
import { schedule as systemSchedule } from "../storage/schedule.ts";
import { formatLocalTime, withLocalTime } from "../system/clock.ts";
import type { Channel, ChannelOptions, Service } from "./channel.ts";
import { escalate } from "./escalation.ts";
import { checkChannel, findService } from "./index.ts";
import {
  addReferences,
  createDraft,
  createFinalDraft,
  formatEnding,
  type MessageDraft,
  type ResponseMeaning,
  unknownEnding,
} from "./message.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import { createReferences, type References } from "./references.ts";
import { type AskInMessage, createResponseHandler, type ResponseHandlerOptions } from "./responses.ts";
import type { ChannelSecrets } from "./secrets.ts";

export interface ChannelSinkOptions {
  readonly clock: () => ClockReading;
  /** Every session as it stands at that moment. */
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly get: (agent: string, sessionId: string) => Session | null;
  readonly config: () => Config;
  readonly preferences: () => Preferences;
  readonly details: FindAskDetails;
  /** What may leave this machine of it. */
  readonly maskedDetails: PendingRequests["maskedDetails"];
  readonly answer: ResponseHandlerOptions["answer"];
  readonly readPresence: ReadPresence;
  /** Read again at every reload. */
  readonly readSecrets: () => ChannelSecrets;
  readonly isCaughtUp: (session: string) => boolean;
  readonly readLastResponse?: NonNullable<ChannelOptions["readLastResponse"]>;
  readonly home: string;
  /** What `createSaver`'s value was before the last stop. */
  readonly saved: JsonRecord;
  readonly createSaver: (value: () => JsonRecord) => { schedule(): void; flush(): void };
  /** For the log of answers: an alert was sent, or will not be sent. */
  readonly onDelivery: (key: string, isSent: boolean, outcome: string) => void;
  readonly onProblem: (text: string) => void;
  /** What `report` and `problems` return may have changed. */
  readonly onChange?: () => void;
  readonly schedule?: Schedule;
}

export interface ChannelReport {
  readonly name: string;
  readonly type: string;
  /** Of the service, for users. */
  readonly service: string;
  /** Why nothing is sent or received now; null if all is well. */
  readonly problem: string | null;
  readonly isAnswering: boolean;
  /** Wall time of the last message that arrived; null if none did since the start. */
  readonly lastSentAt: number | null;
}

/** What became of a test message. */
export interface ChannelTest {
  /** Why it could not be sent; null if it was. */
  readonly problem: string | null;
  /** Resolves with who tapped its button; null if the channel takes no answers. */
  readonly tapped: Promise<string> | null;
}

export interface ChannelSink extends Sink {
  /** Sets up the channels that the settings list now. */
  reload(): Promise<void>;
  /** Something besides sessions has changed: preferences, or what can be answered. */
  refresh(): void;
  report(): readonly ChannelReport[];
  /** Sends a test message. Resolves with null if there is no such channel. */
  test(name: string): Promise<ChannelTest | null>;
  stop(): Promise<void>;
}

interface OpenChannelEntry {
  readonly name: string;
  readonly service: Service;
  readonly settings: ChannelSettings;
  /** Equal for equal settings and secrets. */
  readonly fingerprint: string;
  readonly isAnswering: boolean;
  readonly channel: Channel;
  readonly outbox: Outbox;
  readonly references: References;
  /** Alert key → until when (t) the second of two taps is awaited. */
  readonly confirming: Map<string, number>;
  /** Alert key → the request, and the answers that its message offers. */
  readonly offered: Map<string, string>;
  readonly state: { value: JsonRecord };
  lastSentAt: number | null;
}

/** Many changes share one round. The pause after it is so many times as long as it took, so that a storm of events costs little. */
const roundMs = 50;
const pauseFactor = 60;
const maxPauseMs = 5_000;
/** Nothing is sent before the restored state has settled. */
const firstRoundMs = timing.contradictionMs + 50;
/** How long a closed ask waits to learn how it ended, before its message is updated without that. */
const endingMs = 700;
/** The ending that arrives later than that still replaces the text, for this long. */
const lateEndingMs = 5_000;
const confirmMs = minuteMs;
const presenceValidMs = 2_000;
const maxTimerMs = 60 * minuteMs;
/** After this long an alert is not worth sending any more. */
const staleMs = {
  blocked: 60 * minuteMs,
  failed: 30 * minuteMs,
  idle: 10 * minuteMs,
  finished: 10 * minuteMs,
  untracked: 10 * minuteMs,
};

interface Ending {
  readonly text: string | null;
  readonly sinceT: number;
}

export function createChannelSink(options: ChannelSinkOptions): ChannelSink {
  const { clock, config, schedule = systemSchedule } = options;
  const startedAt = clock().at;
  let secrets = options.readSecrets();
  const firstRoundT = clock().t + firstRoundMs;
  const channels = new Map<string, OpenChannelEntry>();
  const problems = new Map<string, string>();
  const saved: Record<string, unknown> = { ...asRecord(options.saved.channels) };
  /** Sessions to look at in the next round. */
  const dirty = new Set<string>();
  /** Sessions that cause an alert, or have a message out. */
  const watched = new Set<string>();
  /** Asks that closed a moment ago, by alert key. */
  const endings = new Map<string, Ending>();
  /** Test messages that wait for a tap, by key. */
  const tests = new Map<string, (by: string) => Promise<void>>();
  let testCount = 0;
  let presence: { readonly reading: PresenceReading; readonly t: number } | null = null;
  let cancelTimer = () => {};
  let timerT = Number.POSITIVE_INFINITY;
  let pausedUntilT = Number.NEGATIVE_INFINITY;
  let isRoundSoon = false;
  let isRunning = false;
  let isStopped = false;
  let reloading: Promise<void> = Promise.resolve();

  const saver = options.createSaver(() => ({
    version: 1,
    channels: {
      // Those that are not open yet, or have a mistake in their settings now, keep what they sent.
      ...Object.fromEntries(Object.entries(saved).filter(([name]) => config().channels[name] !== undefined)),
      ...Object.fromEntries([...channels.values()].map((entry) => [entry.name, describeState(entry)])),
    },
  }));

  function runAt(wantedT: number): void {
    const t = Math.max(wantedT, firstRoundT, pausedUntilT);
    if (isStopped || channels.size === 0 || t >= timerT) return;
    cancelTimer();
    timerT = t;
    const delayMs = Math.min(Math.max(0, t - clock().t), maxTimerMs);
    cancelTimer = schedule(() => {
      timerT = Number.POSITIVE_INFINITY;
      isRoundSoon = false;
      runRound().catch((error) => options.onProblem(`channels: a round failed: ${error}`));
    }, delayMs);
  }

  /** Called for every event, so a round that is due soon anyway is left as it is. */
  function runSoon(): void {
    if (isRoundSoon || channels.size === 0) return;
    isRoundSoon = true;
    runAt(clock().t + roundMs);
  }

  async function runRound(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    try {
      const reading = await readPresence();
      const startedT = clock().t;
      if (!isStopped) render(reading);
      const endedT = clock().t;
      pausedUntilT = endedT + Math.min(maxPauseMs, (endedT - startedT) * pauseFactor);
    } finally {
      isRunning = false;
    }
  }

  /** Only if a channel wants to know, and an alert waits. null if nobody wants to know. */
  async function readPresence(): Promise<PresenceReading | null> {
    const isNeeded = [...channels.values()].some(({ settings }) => settings.when === "away");
    if (!isNeeded || watched.size + dirty.size === 0) return null;
    const { t } = clock();
    if (presence === null || t - presence.t > presenceValidMs)
      presence = { reading: await options.readPresence(), t };
    return presence.reading;
  }

  function render(reading: PresenceReading | null): void {
    const now = withLocalTime(clock());
    const keys = new Set([...dirty, ...watched]);
    dirty.clear();
    const sessions: Session[] = [];
    for (const key of keys) {
      const session = findSession(key);
      // What is still in the spool may have ended the asks that are known.
      if (!options.isCaughtUp(key)) dirty.add(key);
      else if (session && !isProbe(session)) sessions.push(session);
    }
    const { causes, nextChange } = findCauses(sessions, now);
    const shared = causes.map(shareTexts);
    const byKey = new Map(shared.map((cause) => [cause.key, cause]));
    const checks: number[] = nextChange === null ? [] : [nextChange];
    for (const entry of channels.values()) {
      for (const cause of shared) {
        const checkAt = show(entry, cause, now, reading);
        if (checkAt !== null) checks.push(checkAt);
      }
      for (const key of entry.outbox.keys()) {
        if (byKey.has(key) || dirty.has(sessionKeyOfAlert(key))) continue;
        const checkAt = finish(entry, key, now);
        if (checkAt !== null) checks.push(checkAt);
      }
    }
    watched.clear();
    for (const { session } of causes) watched.add(sessionKeyOf(session));
    for (const entry of channels.values())
      for (const key of entry.outbox.keys()) watched.add(sessionKeyOfAlert(key));
    for (const [key, { sinceT }] of endings) if (now.t - sinceT > lateEndingMs) endings.delete(key);
    if (checks.length > 0) runAt(now.t + Math.max(roundMs, Math.min(...checks) - now.at));
    if (dirty.size > 0) runAt(now.t + timing.spoolPollMs);
  }

  function findSession(key: string): Session | null {
    const colon = key.indexOf(":");
    return options.get(key.slice(0, colon), key.slice(colon + 1));
  }

  /** Returns the wall time at which to check again, or null. */
  function show(
    entry: OpenChannelEntry,
    cause: JudgedCause,
    now: ClockReading & LocalTime,
    reading: PresenceReading | null,
  ): number | null {
    const { outbox } = entry;
    const known = outbox.contentOf(cause.key);
    if (known === null) {
      const { isDue, checkAt } = escalate(cause, entry.settings, now, reading);
      if (!isDue) return checkAt;
    }
    const draft = createDraftFor(entry, cause, now);
    const content = hashDraft(draft, cause.ask && answerIdOf(cause.ask));
    if (content !== known) {
      const answerId = cause.ask ? answerIdOf(cause.ask) : "";
      const offered = JSON.stringify([answerId, listOffers(draft)]);
      // A phone may still show the buttons of the earlier text, which stand for the same answers to the same request.
      if (entry.offered.get(cause.key) !== offered) entry.references.revoke(cause.key);
      entry.offered.set(cause.key, offered);
      const message = addReferences(draft, (meaning) =>
        entry.references.create({ key: cause.key, answerId, meaning }),
      );
      outbox.put(message, content, now.at + staleMs[cause.kind]);
    }
    const confirmUntilT = entry.confirming.get(cause.key);
    return confirmUntilT === undefined ? null : now.at + (confirmUntilT - now.t);
  }

  function createDraftFor(entry: OpenChannelEntry, cause: JudgedCause, now: ClockReading): MessageDraft {
    const isConfirming = (entry.confirming.get(cause.key) ?? 0) > now.t;
    if (!isConfirming) entry.confirming.delete(cause.key);
    const masked = cause.ask && config().answering.enabled ? options.maskedDetails(cause.ask) : null;
    return createDraft({
      cause,
      settings: entry.settings,
      service: entry.service,
      isAnswering: entry.isAnswering,
      details: masked?.details ?? null,
      hasSecret: masked?.hasSecret ?? false,
      isConfirming,
      formatTime: (at) => formatLocalTime(at, now.at),
      mask: maskText,
    });
  }

  /** Every cause of these sessions, suppressed or not. */
  function findCauses(sessions: readonly Session[], now: ClockReading & LocalTime): JudgedCauses {
    return computeCauses({
      sessions,
      preferences: options.preferences(),
      config: config(),
      now,
      formatTime: (at) => formatLocalTime(at, now.at),
      startedAt,
      visibleSessions: new Set(),
      recentlySeen: new Set(),
      doNotDisturb: false,
      findDetails: () => null,
      home: options.home,
    });
  }

  /** The cause is gone. A message about an ask gets a last state; others stay as they are. */
  function finish(entry: OpenChannelEntry, key: string, now: ClockReading): number | null {
    const session = sessionKeyOfAlert(key);
    entry.references.revoke(key);
    entry.confirming.delete(key);
    entry.offered.delete(key);
    if (!isAskKey(key)) {
      entry.outbox.finish(key, null, "");
      return null;
    }
    const ending = endings.get(key) ?? { text: null, sinceT: now.t };
    endings.set(key, ending);
    const agoMs = now.t - ending.sinceT;
    if (ending.text === null && agoMs < endingMs) return now.at + endingMs - agoMs;
    const title = entry.outbox.titleOf(key) ?? "";
    const draft = createFinalDraft(key, session, title, ending.text ?? unknownEnding);
    const isLast = ending.text !== null || agoMs >= lateEndingMs;
    entry.outbox.finish(
      key,
      addReferences(draft, () => ""),
      hashDraft(draft, null),
      isLast,
    );
    return isLast ? null : now.at + lateEndingMs - agoMs;
  }

  function onAskEnded({ session, ask, how, where }: Extract<Transition, { kind: "ask-ended" }>): void {
    const key = createAskAlertKey(session, ask.id);
    if (![...channels.values()].some(({ outbox }) => outbox.contentOf(key) !== null)) return;
    endings.set(key, { text: formatEnding(how, where), sinceT: clock().t });
    dirty.add(sessionKeyOf(session));
    runAt(clock().t);
  }

  async function open(name: string, settings: ChannelSettings, fingerprint: string): Promise<void> {
    const checked = checkChannel(name, settings, (field) => secrets.get(name, field));
    if ("problems" in checked) {
      problems.set(name, checked.problems.join("; "));
      for (const problem of checked.problems) options.onProblem(`channel ${name}: ${problem}`);
      return;
    }
    const { service } = checked;
    const isAnswering = settings.answers !== "off" && service.canAnswer(checked.settings);
    const onProblem = (text: string): void => {
      options.onProblem(`channel ${name}: ${secrets.redact(text)}`);
      options.onChange?.();
    };
    const openClient = await service.load();
    const before = asRecord(saved[name]);
    const known = before.type === service.type ? before : {};
    const references = createReferences(known.references, saver.schedule);
    const findAsk = (key: string): AskInMessage | null => findAskInMessage(entry, key);
    const respond = createResponseHandler({
      name,
      service,
      settings: () => config().channels[name] ?? settings,
      isAnswering: () => isAnswering && config().answering.enabled && channels.get(name) === entry,
      references,
      findAsk,
      answer: options.answer,
      onTest: (key, by) => void tests.get(key)?.(by),
      wasJustConfirmed: (key) => {
        const untilT = entry.confirming.get(key);
        return untilT !== undefined && clock().t < untilT - confirmMs + timing.minReadMs;
      },
      onConfirm(key) {
        entry.confirming.set(key, clock().t + confirmMs);
        dirty.add(sessionKeyOfAlert(key));
        runAt(clock().t);
      },
      onRefused: onProblem,
      schedule,
    });
    // A client may read it while it is opened.
    const state = { value: asRecord(known.state) };
    const channel = openClient({
      name,
      settings: checked.settings,
      detail: settings.detail,
      isAnswering,
      secret: (field) => secrets.get(name, field),
      onResponse: (response) =>
        respond(response).catch((error) => {
          onProblem(`an answer could not be taken: ${error}`);
          return { text: "Not accepted: beckon failed. Answer at the desk.", isAccepted: false };
        }),
      onProblem,
      ...(options.readLastResponse ? { readLastResponse: options.readLastResponse } : {}),
      now: () => clock().at,
      state: {
        get: () => state.value,
        set(value) {
          state.value = value;
          saver.schedule();
        },
      },
      schedule: options.schedule,
    });
    const outbox = createOutbox({
      channel,
      isIdempotent: service.isIdempotent(checked.settings),
      saved: known.messages,
      clock,
      schedule,
      onChange: saver.schedule,
      flush: saver.flush,
      onSent(key) {
        entry.lastSentAt = clock().at;
        options.onDelivery(key, true, `sent to ${name}`);
        options.onChange?.();
      },
      onDropped(key, reason) {
        const hidden = secrets.redact(reason);
        options.onProblem(`channel ${name}: an alert was not sent: ${hidden}`);
        options.onDelivery(key, false, `not sent to ${name}: ${hidden}`);
        options.onChange?.();
      },
      onProblem,
    });
    const entry: OpenChannelEntry = {
      name,
      service,
      settings,
      fingerprint,
      isAnswering,
      channel,
      outbox,
      references,
      confirming: new Map(),
      offered: new Map(),
      state,
      lastSentAt: null,
    };
    delete saved[name];
    channels.set(name, entry);
    for (const key of outbox.keys()) watched.add(sessionKeyOfAlert(key));
    if (isAnswering) channel.listen?.();
    channel.onOpened?.(options.sessions(clock()));
  }

  async function sendTest(entry: OpenChannelEntry): Promise<ChannelTest> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const key = `test#${++testCount}`;
    const answerId = "test";
    const buttons: MessageDraft["buttons"] = entry.isAnswering
      ? [{ label: "It works", style: "plain", meaning: { do: "test" } }]
      : [];
    const draft: MessageDraft = {
      key,
      session: "",
      title: "beckon: a test",
      lines: [entry.isAnswering ? "Tap the button to see whether answers arrive." : "Alerts arrive here."],
      urgency: "normal",
      isFinal: false,
      buttons,
      replyHint: null,
    };
    tests.set(key, async (by) => {
      tests.delete(key);
      resolve(by);
      const over = createFinalDraft(key, "", draft.title, `It works. Answered by ${by}.`);
      await entry.channel
        .update?.(
          handle,
          addReferences(over, () => ""),
        )
        .catch(() => {});
    });
    let handle = "";
    try {
      const message = addReferences(draft, (meaning) => entry.references.create({ key, answerId, meaning }));
      handle = await entry.channel.send(message, `test-${clock().at}-${testCount}`);
      entry.lastSentAt = clock().at;
      return { problem: null, tapped: entry.isAnswering ? promise : null };
    } catch (error) {
      tests.delete(key);
      return { problem: secrets.redact(readErrorMessage(error)), tapped: null };
    }
  }

  /** As the message would be now, not as it was when it was sent. */
  function findAskInMessage(entry: OpenChannelEntry, key: string): AskInMessage | null {
    const session = findSession(sessionKeyOfAlert(key));
    const now = withLocalTime(clock());
    const cause = session && findCauses([session], now).causes.find((one) => one.key === key);
    if (!session || !cause?.ask) return null;
    const offers = listOffers(createDraftFor(entry, cause, now));
    return { session, ask: cause.ask, details: options.details(cause.ask), offers };
  }

  async function close(entry: OpenChannelEntry): Promise<void> {
    saved[entry.name] = describeState(entry);
    channels.delete(entry.name);
    entry.outbox.stop();
    await entry.channel.stop().catch((error) => options.onProblem(`channel ${entry.name}: ${error}`));
  }

  async function reload(): Promise<void> {
    secrets = options.readSecrets();
    const wanted = new Map(
      Object.entries(config().channels).map(([name, settings]) => [name, fingerprintOf(name, settings)]),
    );
    problems.clear();
    for (const entry of [...channels.values()])
      if (wanted.get(entry.name) !== entry.fingerprint) await close(entry);
    for (const [name, settings] of Object.entries(config().channels)) {
      if (channels.has(name) || isStopped) continue;
      await open(name, settings, wanted.get(name) ?? "").catch((error) => {
        const problem = `it could not be opened: ${secrets.redact(readErrorMessage(error))}`;
        problems.set(name, problem);
        options.onProblem(`channel ${name}: ${problem}`);
      });
    }
    for (const session of options.sessions(clock())) dirty.add(sessionKeyOf(session));
    saver.schedule();
    options.onChange?.();
    runSoon();
  }

  function fingerprintOf(name: string, settings: ChannelSettings): string {
    const known = findSecretFields(settings.type).map((field) => secrets.get(name, field));
    return JSON.stringify([settings, known]);
  }

  return {
    name: "channels",
    reload() {
      reloading = reloading.then(reload);
      return reloading;
    },
    refresh: runSoon,
    onChange(change) {
      const { session, before } = change;
      for (const { channel } of channels.values()) channel.onChange?.(change);
      const mayAlert = session.asks.length > 0 || !session.turn.running || session.ended !== null;
      if (!mayAlert && (before === null || before.asks.length === 0)) return;
      dirty.add(sessionKeyOf(session));
      runSoon();
    },
    onTransition(transition) {
      for (const { channel } of channels.values()) channel.onTransition?.(transition);
      if (transition.kind === "ask-ended") onAskEnded(transition);
    },
    report: () =>
      [...new Set([...channels.keys(), ...problems.keys()])].map((name): ChannelReport => {
        const entry = channels.get(name);
        const problem = entry ? (entry.outbox.problem() ?? entry.channel.problem()) : problems.get(name);
        return {
          name,
          type: entry?.service.type ?? String(config().channels[name]?.type ?? ""),
          service: entry?.service.name ?? "",
          // A service's own words can repeat what it was sent.
          problem: problem ? secrets.redact(problem) : null,
          isAnswering: entry?.isAnswering ?? false,
          lastSentAt: entry?.lastSentAt ?? null,
        };
      }),
    async test(name) {
      const entry = channels.get(name);
      return entry ? sendTest(entry) : null;
    },
    async stop() {
      isStopped = true;
      cancelTimer();
      for (const { outbox } of channels.values()) outbox.stop();
      saver.schedule();
      saver.flush();
      await Promise.race([
        Promise.allSettled([...channels.values()].map(({ channel }) => channel.stop())),
        new Promise((resolve) => schedule(() => resolve(null), stopMs)),
      ]);
      saver.flush();
    },
  };
}

const stopMs = 500;

/** What must be known of a channel after a restart. */
const describeState = ({ service, outbox, references, state }: OpenChannelEntry): JsonRecord => ({
  type: service.type,
  messages: outbox.saved(),
  references: references.saved(),
  state: state.value,
});

/** Formats each text once for all channels of a round: that is most of the work. */
function shareTexts(cause: JudgedCause): JudgedCause {
  const texts = new Map<string, ReturnType<JudgedCause["formatText"]>>();
  return {
    ...cause,
    formatText(name, when) {
      const key = `${name.project}\0${name.difference}\0${when}`;
      const text = texts.get(key) ?? cause.formatText(name, when);
      texts.set(key, text);
      return text;
    },
  };
}

const findSecretFields = (type: string): readonly string[] =>
  (findService(type)?.settings ?? []).flatMap(({ isSecret, name }) => (isSecret ? [name] : []));

/** Keys of ends of turns are `…#over-…` and `…#died-…`; those of asks end with the ask's id. */
const isAskKey = (key: string): boolean => !/#(?:over|died)-[^#]*$/.test(key);

/** Equal for drafts that show the same and belong to the same ask. */
function hashDraft(draft: MessageDraft, answerId: string | null): string {
  return createHash("sha256")
    .update(JSON.stringify([draft, answerId]))
    .digest("base64url");
}

const listOffers = ({ buttons, replyHint }: MessageDraft): readonly ResponseMeaning[] => [
  ...buttons.map(({ meaning }) => meaning),
  ...(replyHint === null ? [] : [{ do: "text" } as const]),
];
