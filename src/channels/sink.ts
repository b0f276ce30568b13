/**
 * The sink that keeps every channel showing what should be out. A change marks its session; a moment later a round finds the
 * alerts of the marked sessions and passes them to each channel (active-channel.ts). Sessions that did not change cost nothing.
 */

import { createAlertsInput } from "../alerts/input.ts";
import { createPaneCheck } from "../alerts/visibility.ts";
import { formatEnding, notSeen } from "../core/answers/words.ts";
import type { ChannelSettings } from "../core/config/channels.ts";
import type { Preferences } from "../core/config/preferences.ts";
import type { LocalTime } from "../core/config/quiet.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type {
  PresenceReading,
  ReadPresence,
  Schedule,
  Sink,
  Terminals,
  Transition,
} from "../core/interfaces/index.ts";
import { asRecord, type JsonRecord } from "../core/json.ts";
import type { ClockReading } from "../core/session/event.ts";
import { createAskAlertKey, sessionKeyOfAlert } from "../core/session/keys.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import { parseSessionKey, type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { capitalize } from "../core/text/words.ts";
import { timing } from "../core/timing.ts";
import { computeCauses, type JudgedCause, type JudgedCauses } from "../core/view/alerts/alerts.ts";
import { withLocalTime } from "../system/clock.ts";
import { createRounds, roundMs } from "../system/rounds.ts";
import { schedule as systemSchedule, waitAtMost } from "../system/schedule.ts";
import { type ActiveChannel, type ActiveChannelOptions, openActiveChannel } from "./active-channel.ts";
import type { UserSituation } from "./escalation.ts";
import { type CheckedChannel, checkAllChannels, listSecretFields } from "./index.ts";
import type { ChannelSecrets } from "./secrets.ts";
import type { ChannelTest } from "./test-message.ts";

export interface ChannelSinkOptions
  extends Pick<
    ActiveChannelOptions,
    "clock" | "config" | "details" | "maskedDetails" | "answer" | "readLastResponse"
  > {
  /** Every session as it stands at that moment. */
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly preferences: () => Preferences;
  readonly readPresence: ReadPresence;
  readonly terminals: Pick<Terminals, "isPaneVisible">;
  /** Read again at every reload. */
  readonly readSecrets: () => ChannelSecrets;
  readonly isCaughtUp: (session: string) => boolean;
  readonly home: string;
  /** What `createSaver`'s value was before the last stop. */
  readonly saved: JsonRecord;
  readonly createSaver: (value: () => JsonRecord) => ActiveChannelOptions["saver"];
  /** For the log of answers: an alert was sent, or will not be sent. */
  readonly onDelivery: ActiveChannelOptions["onDelivery"];
  readonly onProblem: (text: string) => void;
  /** What `report` returns may have changed. */
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
const presenceValidMs = 2_000;
/** If the desktop does not answer within this time, presence counts as unknown. */
const maxDesktopMs = 3_000;
const stopMs = 500;
/** A request that takes longer is given up when the settings change: whether its message arrived is not known then. */
const closeMs = 5_000;

interface Ending {
  readonly text: string | null;
  readonly sinceT: number;
}

interface OpenedChannel {
  readonly active: ActiveChannel;
  /** Equal for equal settings and secrets. */
  readonly fingerprint: string;
}

const noSessions: ReadonlySet<string> = new Set();

export function createChannelSink(options: ChannelSinkOptions): ChannelSink {
  const { clock, config, schedule = systemSchedule } = options;
  const createInput = createAlertsInput({ ...options, findDetails: () => null });
  let secrets = options.readSecrets();
  const opened = new Map<string, OpenedChannel>();
  let channels: readonly ActiveChannel[] = [];
  /** Why a channel is not open, by its name. */
  const mistakes = new Map<string, string>();
  /** The state of channels that are not open, by their names. */
  const savedStates: Record<string, unknown> = { ...asRecord(options.saved.channels) };
  /** Sessions to look at in the next round. */
  const dirty = new Set<string>();
  /** Sessions that cause an alert, or have a message out. */
  const watched = new Set<string>();
  /** Asks that closed a moment ago, by alert key. */
  const endings = new Map<string, Ending>();
  const findVisiblePanes = createPaneCheck(options);
  let lastPresence: { readonly reading: PresenceReading; readonly t: number } | null = null;
  let isStopped = false;
  let reloading: Promise<void> = Promise.resolve();

  const saver = options.createSaver(() => ({
    version: 1,
    channels: {
      // Those that are not open yet, or have a mistake in their settings now, keep what they sent.
      ...Object.fromEntries(
        Object.entries(savedStates).filter(([name]) => config().channels[name] !== undefined),
      ),
      ...Object.fromEntries(channels.map((channel) => [channel.name, channel.describeState()])),
    },
  }));

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
    const isNeeded = channels.some(({ settings }) => settings.when === "away");
    if (!isNeeded || watched.size + dirty.size === 0) return { presence: null, visibleSessions: noSessions };
    const presence = await withDeadline(readPresence(), { idleMs: null, isLocked: null });
    const visibleSessions = await withDeadline(findVisibleSessions(presence), noSessions);
    return { presence, visibleSessions };
  }

  async function readPresence(): Promise<PresenceReading> {
    const { t } = clock();
    if (lastPresence === null || t - lastPresence.t > presenceValidMs)
      lastPresence = { reading: await options.readPresence(), t };
    return lastPresence.reading;
  }

  /** Checks only the panes of sessions whose alerts would be sent now. */
  async function findVisibleSessions(presence: PresenceReading): Promise<ReadonlySet<string>> {
    if (config().alerts.whileLooking) return noSessions;
    const now = withLocalTime(clock());
    const situation = { presence, visibleSessions: noSessions };
    const { causes } = findCauses(listSessions(), now);
    const decisive = causes.filter((cause) =>
      channels.some((channel) => channel.isPaneDecisive(cause, now, situation)),
    );
    return decisive.length === 0
      ? noSessions
      : findVisiblePanes([...new Set(decisive.map(({ session }) => session))]);
  }

  const withDeadline = async <T>(work: Promise<T>, fallback: T): Promise<T> =>
    (await waitAtMost(maxDesktopMs, work, schedule)) ?? fallback;

  /** Shows every alert on every channel, and closes the messages whose alerts are gone. */
  function runRound(situation: UserSituation): void {
    const now = withLocalTime(clock());
    const sessions = listSessions();
    // What is still in the spool may have ended the asks that are known.
    const waiting = [...dirty, ...watched].filter((key) => !options.isCaughtUp(key));
    dirty.clear();
    for (const key of waiting) dirty.add(key);
    const { causes, nextChange } = findCauses(sessions, now);
    const shared = causes.map(shareTexts);
    const keys = new Set(causes.map(({ key }) => key));
    const checks = [nextChange];
    for (const channel of channels) {
      for (const cause of shared) checks.push(channel.show(cause, now, situation));
      for (const key of channel.keys())
        if (!keys.has(key) && !dirty.has(sessionKeyOfAlert(key))) checks.push(finish(channel, key, now));
    }
    watched.clear();
    for (const { session } of causes) watched.add(sessionKeyOf(session));
    for (const channel of channels) for (const key of channel.keys()) watched.add(sessionKeyOfAlert(key));
    for (const [key, { sinceT }] of endings) if (now.t - sinceT > lateEndingMs) endings.delete(key);
    const times = checks.filter((at) => at !== null);
    if (times.length > 0) rounds.runAt(now.t + Math.max(roundMs, Math.min(...times) - now.at));
    if (dirty.size > 0) rounds.runAt(now.t + timing.spoolPollMs);
  }

  /** The sessions that changed or cause an alert. Doctor's test alerts are never sent to channels. */
  function listSessions(): Session[] {
    return [...new Set([...dirty, ...watched])].flatMap((key) => {
      const session = options.isCaughtUp(key) ? findSession(key) : null;
      return session && !isProbe(session) ? [session] : [];
    });
  }

  function findSession(key: string): Session | null {
    const ref = parseSessionKey(key);
    return ref && options.get(ref);
  }

  /** Every cause of these sessions, suppressed or not. */
  const findCauses = (sessions: readonly Session[], now: ClockReading & LocalTime): JudgedCauses =>
    computeCauses(createInput({ sessions, now }));

  function findCause(key: string): JudgedCause | null {
    const session = findSession(sessionKeyOfAlert(key));
    const { causes } = findCauses(session ? [session] : [], withLocalTime(clock()));
    return causes.find((cause) => cause.key === key) ?? null;
  }

  /** The cause is gone. A message about an ask gets a last state; others stay as they are. */
  function finish(channel: ActiveChannel, key: string, now: ClockReading): number | null {
    channel.revoke(key);
    if (!isAskKey(key)) {
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
  }

  function onAskEnded({ session, ask, how, where }: Extract<Transition, { kind: "ask-ended" }>): void {
    const key = createAskAlertKey(session, ask.id);
    if (!channels.some((channel) => channel.hasMessage(key))) return;
    endings.set(key, { text: formatEnding(how, ask.kind, where), sinceT: clock().t });
    dirty.add(sessionKeyOf(session));
    rounds.runNow();
  }

  async function open(name: string, settings: ChannelSettings, checked: CheckedChannel): Promise<void> {
    if ("problems" in checked) {
      mistakes.set(name, checked.problems.join("; "));
      for (const problem of checked.problems) options.onProblem(`channel ${name}: ${problem}`);
      return;
    }
    const active = await openActiveChannel({
      ...options,
      name,
      settings,
      service: checked.service,
      serviceSettings: checked.settings,
      saved: asRecord(savedStates[name]),
      secrets: () => secrets,
      schedule,
      findCause,
      onMessageChanged(key) {
        dirty.add(sessionKeyOfAlert(key));
        rounds.runNow();
      },
      saver,
      onReportChanged: () => options.onChange?.(),
    });
    delete savedStates[name];
    opened.set(name, { active, fingerprint: fingerprintOf(name, settings) });
    updateChannels();
    for (const key of active.keys()) watched.add(sessionKeyOfAlert(key));
    active.client.onOpened?.(options.sessions(clock()));
  }

  async function close({ active }: OpenedChannel): Promise<void> {
    savedStates[active.name] = active.describeState();
    opened.delete(active.name);
    updateChannels();
    const stopped = active.stop().catch((error) => options.onProblem(`channel ${active.name}: ${error}`));
    await waitAtMost(closeMs, stopped, schedule);
    // With the message that was being sent.
    savedStates[active.name] = active.describeState();
  }

  function updateChannels(): void {
    channels = [...opened.values()].map(({ active }) => active);
  }

  async function reload(): Promise<void> {
    secrets = options.readSecrets();
    mistakes.clear();
    const { channels: wanted } = config();
    const checked = checkAllChannels(wanted, secrets);
    const closing: Promise<void>[] = [];
    for (const channel of [...opened.values()]) {
      const { name } = channel.active;
      const settings = wanted[name];
      const result = checked.get(name);
      const isValid = result !== undefined && "service" in result;
      const isSame = settings !== undefined && fingerprintOf(name, settings) === channel.fingerprint;
      if (!isValid || !isSame) closing.push(close(channel));
    }
    await Promise.all(closing);
    for (const [name, result] of checked) {
      const settings = wanted[name];
      if (opened.has(name) || isStopped || !settings) continue;
      await open(name, settings, result).catch((error) => {
        const problem = `it could not be opened: ${secrets.redact(readErrorMessage(error))}`;
        mistakes.set(name, problem);
        options.onProblem(`channel ${name}: ${problem}`);
      });
    }
    for (const session of options.sessions(clock())) dirty.add(sessionKeyOf(session));
    saver.schedule();
    options.onChange?.();
    refresh();
  }

  function refresh(): void {
    if (channels.length > 0) rounds.runSoon();
  }

  function fingerprintOf(name: string, settings: ChannelSettings): string {
    const known = listSecretFields(settings.type).map((field) => secrets.get(name, field));
    return JSON.stringify([settings, known]);
  }

  return {
    name: "channels",
    reload() {
      reloading = reloading.then(reload);
      return reloading;
    },
    onRefresh: refresh,
    onChange(change) {
      if (channels.length === 0) return;
      const { session, before } = change;
      for (const { client } of channels) client.onChange?.(change);
      const mayAlert = session.asks.length > 0 || !session.turn.running || session.ended !== null;
      if (!mayAlert && (before === null || before.asks.length === 0)) return;
      dirty.add(sessionKeyOf(session));
      rounds.runSoon();
    },
    onTransition(transition) {
      for (const { client } of channels) client.onTransition?.(transition);
      if (transition.kind === "ask-ended") onAskEnded(transition);
    },
    report: () =>
      Object.entries(config().channels).flatMap(([name, { type }]): ChannelReport[] => {
        const active = opened.get(name)?.active;
        const mistake = mistakes.get(name);
        if (!active && mistake === undefined) return [];
        return [
          {
            name,
            type,
            service: active?.service.name ?? "",
            problem: active ? active.problem() : (mistake ?? null),
            isAnswering: active?.isAnswering ?? false,
            lastSentAt: active?.lastSentAt() ?? null,
          },
        ];
      }),
    test: async (name) => (await opened.get(name)?.active.sendTest()) ?? null,
    async stop() {
      isStopped = true;
      rounds.stop();
      saver.schedule();
      saver.flush();
      await waitAtMost(stopMs, Promise.allSettled(channels.map((channel) => channel.stop())), schedule);
      saver.flush();
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

/** Keys of ends of turns are `…#over-…` and `…#died-…`; those of asks end with the ask's id. */
const isAskKey = (key: string): boolean => !/#(?:over|died)-[^#]*$/.test(key);
