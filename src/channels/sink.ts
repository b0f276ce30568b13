/**
 * The sink that keeps every channel showing what should be out. A change marks its session; a moment later a round finds the
 * alerts of the marked sessions and passes them to each channel (active-channel.ts). Sessions that did not change cost nothing.
 */
import { formatEnding, notSeen } from "../core/answers/words.ts";
import type { Schedule, Sink, Transition } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import { createAskAlertKey, isAskAlertKey, sessionKeyOfAlert } from "../core/session/keys.ts";
import type { Session } from "../core/session/session.ts";
import { parseSessionKey, sessionKeyOf } from "../core/session/session-ref.ts";
import { capitalize } from "../core/text/words.ts";
import { timing } from "../core/timing.ts";
import type { JudgedCause } from "../core/view/alerts/alerts.ts";
import { withLocalTime } from "../system/clock.ts";
import { createRounds, roundMs } from "../system/rounds.ts";
import { schedule as systemSchedule } from "../system/schedule.ts";
import type { ActiveChannel } from "./active-channel.ts";
import { type CauseFinderOptions, createCauseFinder } from "./causes.ts";
import { type ChannelListOptions, type ChannelReport, createChannelList } from "./channel-list.ts";
import type { UserSituation } from "./escalation.ts";
import { createSituationReader, type SituationReaderOptions, unknownSituation } from "./situation.ts";
import type { ChannelTest } from "./test-message.ts";

export interface ChannelSinkOptions
  extends Omit<ChannelListOptions, "schedule" | "findCause" | "onMessageChanged" | "onOpened">,
    CauseFinderOptions,
    Omit<SituationReaderOptions, "schedule"> {
  /** Every session as it stands at that moment. */
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly schedule?: Schedule;
}

export interface ChannelSink extends Sink {
  /** Sets up the channels that the settings list now. */
  reload(): Promise<void>;
  report(): readonly ChannelReport[];
  /** Sends a test message. Resolves with null if there is no such channel. */
  test(name: string): Promise<ChannelTest | null>;
  stop(): Promise<void>;
}

/** Nothing is sent before the restored state has settled. */
const firstRoundMs = timing.contradictionMs + 50;
/** A storm of events costs a hundredth of the time. But a message is marked as answered within 2 s, which can take two rounds. */
export const pauseAfter = (busyMs: number): number => Math.min(1_000, busyMs * 100);
/** How long a closed ask waits to learn how it ended, before its message is updated without that. */
const endingMs = 700;
/** The ending that arrives later than that still replaces the text, for this long. */
const lateEndingMs = 5_000;

export function createChannelSink(options: ChannelSinkOptions): ChannelSink {
  const { clock, config, schedule = systemSchedule } = options;
  let isRefreshed = false;
  const causeFinder = createCauseFinder(options);
  /** Sessions to look at in the next round. */
  const dirty = new Set<string>();
  /** Sessions that cause an alert, may soon cause one, or have a message out. */
  const watched = new Set<string>();
  const endings = createEndings();
  const readDesktop = createSituationReader({ ...options, schedule });
  const channels = createChannelList({
    ...options,
    schedule,
    findCause: causeFinder.find,
    onMessageChanged(key) {
      dirty.add(sessionKeyOfAlert(key));
      rounds.runNow();
    },
    onOpened(channel) {
      for (const key of channel.keys()) watched.add(sessionKeyOfAlert(key));
      channel.client.onOpened?.(options.sessions(clock()));
    },
  });
  let reloading: Promise<void> = Promise.resolve();

  const rounds = createRounds({
    clock,
    schedule,
    firstMs: firstRoundMs,
    pauseAfter,
    prepare: readSituation,
    run: runRound,
    onError: (error) => options.onProblem(`channels: a round failed: ${error}`),
  });

  /** Only if a channel wants to know, and an alert waits. */
  async function readSituation(): Promise<UserSituation> {
    const isNeeded = channels.all().some(({ settings }) => settings.when === "away");
    if (!isNeeded || watched.size + dirty.size === 0) return unknownSituation;
    return readDesktop(findDecisiveSessions);
  }

  /** The sessions whose alerts would be sent now if the user did not look at their panes. */
  function findDecisiveSessions(situation: UserSituation): readonly Session[] {
    if (config().alerts.whileLooking) return [];
    const now = withLocalTime(clock());
    const { causes } = causeFinder.findAll([...dirty, ...watched], now);
    const decisive = causes.filter((cause) =>
      channels.all().some((channel) => channel.isPaneDecisive(cause, now, situation)),
    );
    return [...new Set(decisive.map(({ session }) => session))];
  }

  /** Shows every alert on every channel, and closes the messages whose alerts are gone. */
  function runRound(situation: UserSituation): void {
    const now = withLocalTime(clock());
    // An ask that a rule could have answered may be shown now.
    if (isRefreshed)
      for (const session of options.sessions(now))
        if (session.asks.length > 0) dirty.add(sessionKeyOf(session));
    isRefreshed = false;
    const looked = [...dirty, ...watched];
    // What is still in the spool may have ended the asks that are known.
    const waiting = looked.filter((key) => !options.isCaughtUp(key));
    dirty.clear();
    for (const key of waiting) dirty.add(key);
    const { causes, nextChange, unsettled } = causeFinder.findAll(looked, now);
    const shared = causes.map(shareTexts);
    const keys = new Set(causes.map(({ key }) => key));
    const checks = [nextChange];
    for (const channel of channels.all()) {
      for (const cause of shared) checks.push(channel.show(cause, now, situation));
      for (const key of channel.keys())
        if (!keys.has(key) && !isUnknown(sessionKeyOfAlert(key)))
          checks.push(endings.finish(channel, key, now));
    }
    watched.clear();
    for (const session of [...unsettled, ...causes.map((cause) => cause.session)])
      watched.add(sessionKeyOf(session));
    for (const channel of channels.all())
      for (const key of channel.keys()) watched.add(sessionKeyOfAlert(key));
    endings.forget(now);
    const times = checks.filter((at) => at !== null);
    if (times.length > 0) rounds.runAt(now.t + Math.max(roundMs, Math.min(...times) - now.at));
    if (dirty.size > 0) rounds.runAt(now.t + timing.spoolPollMs);
  }

  /** Whether its asks are still open is not known: its events are not read yet, or its machine cannot be reached. */
  function isUnknown(sessionKey: string): boolean {
    const ref = parseSessionKey(sessionKey);
    return dirty.has(sessionKey) || (ref && options.get(ref)?.unreachableSince) != null;
  }

  function onAskEnded({ session, ask, how, where }: Extract<Transition, { kind: "ask-ended" }>): void {
    const key = createAskAlertKey(session, ask.id);
    if (!channels.all().some((channel) => channel.hasMessage(key))) return;
    endings.add(key, formatEnding(how, ask.kind, where), clock());
    dirty.add(sessionKeyOf(session));
    rounds.runNow();
  }

  async function reload(): Promise<void> {
    await channels.reload();
    for (const session of options.sessions(clock())) dirty.add(sessionKeyOf(session));
    refresh();
  }

  function refresh(): void {
    if (channels.all().length > 0) rounds.runSoon();
  }

  return {
    name: "channels",
    reload() {
      reloading = reloading.then(reload);
      return reloading;
    },
    onRefresh() {
      isRefreshed = true;
      refresh();
    },
    onChange(change) {
      if (channels.all().length === 0) return;
      const { session, before } = change;
      for (const { client } of channels.all()) client.onChange?.(change);
      const mayAlert = session.asks.length > 0 || !session.turn.running || session.ended !== null;
      if (!mayAlert && (before === null || before.asks.length === 0)) return;
      dirty.add(sessionKeyOf(session));
      rounds.runSoon();
    },
    onTransition(transition) {
      for (const { client } of channels.all()) client.onTransition?.(transition);
      if (transition.kind === "ask-ended") onAskEnded(transition);
    },
    report: channels.report,
    test: async (name) => (await channels.get(name)?.sendTest()) ?? null,
    stop() {
      rounds.stop();
      return channels.stop();
    },
  };
}

interface Ending {
  readonly text: string | null;
  readonly sinceT: number;
}

/** The last states of messages whose causes are gone. */
function createEndings() {
  /** Asks that closed a moment ago, by alert key. */
  const endings = new Map<string, Ending>();
  return {
    add(key: string, text: string | null, now: ClockReading): void {
      endings.set(key, { text, sinceT: now.t });
    },
    /** A message about an ask gets a last state; others stay as they are. Returns when to call this again. */
    finish(channel: ActiveChannel, key: string, now: ClockReading): number | null {
      channel.revoke(key);
      if (!isAskAlertKey(key)) {
        channel.finish(key, null, true);
        return null;
      }
      const ending = endings.get(key) ?? { text: null, sinceT: now.t };
      endings.set(key, ending);
      const agoMs = now.t - ending.sinceT;
      if (ending.text === null && agoMs < endingMs) return now.at + endingMs - agoMs;
      const isLast = ending.text !== null || agoMs >= lateEndingMs;
      channel.finish(key, capitalize(ending.text ?? notSeen), isLast);
      return isLast ? null : now.at + lateEndingMs - agoMs;
    },
    forget(now: ClockReading): void {
      for (const [key, { sinceT }] of endings) if (now.t - sinceT > lateEndingMs) endings.delete(key);
    },
  };
}

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
