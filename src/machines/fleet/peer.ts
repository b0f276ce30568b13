/** Another member of a fleet, as it is followed here: what is known of it, and what of that the mirror gets. */
import { randomBytes } from "node:crypto";
import { version } from "../../../package.json";
import type { ClockReading } from "../../core/session/event.ts";
import { sessionKeyOf } from "../../core/session/session-ref.ts";
import type { Carrier, CarrierEvents, Hello } from "../carrier.ts";
import type { LinkProblem } from "../link-problem.ts";
import type { DescribedSession, FollowerMessage, OwnerMessage } from "../protocol.ts";
import { maxMirroredSessions, protocolVersion } from "../protocol.ts";
import { createRateLimit } from "../rate-limit.ts";
import { createBacklog } from "./backlog.ts";
import type { FleetReply, FleetRequest, LogText, Pulse } from "./wire.ts";

/** A machine is there if it said so this long ago. */
export const pulseMs = 10_000;
const silenceMs = 25_000;
const maxMessagesPerSecond = 1_000;
/** Of what was missed, until the mirror can take it. */
const maxPast = 500;
/** Sessions of one machine of which is known how new their state is. */
const maxKnownStates = 2 * maxMirroredSessions;

/** What the server's hash has of the machine. */
export interface LatestStates {
  readonly hello: Hello;
  readonly sessions: readonly { readonly number: number; readonly described: DescribedSession }[];
  /** The newest number in it. */
  readonly number: number;
}

export interface NumberedText extends LogText {
  readonly number: number;
}

export interface PeerOptions {
  /** What `states` returned in an earlier run. */
  readonly known: Readonly<Record<string, unknown>>;
  readonly clock: () => ClockReading;
  /** Writes the request for the machine, which counts until then on its own clock. */
  readonly send: (request: FleetRequest, ends: number) => void;
  /** What this machine is called there. */
  readonly ownName: string;
  /** Why what the machine wants cannot be carried now; null if it can. */
  readonly problem: () => string | null;
}

export interface Peer {
  /** Somebody here follows it. */
  follow(events: CarrierEvents): Carrier;
  /** `agoMs`: how long it took to get here, as far as the server says. False if it is older than what is known. */
  takePulse(number: number, pulse: Pulse, agoMs: number): boolean;
  /** New entries of the log, in order. Returns how many were there before. */
  take(entries: readonly NumberedText[]): number;
  takeReply(reply: FleetReply): void;
  /** Returns how many of the states are older than what is known of their sessions: somebody has put them back. */
  takeLatest(latest: LatestStates | null): number;
  /** The number of the newest state of each session, for `known` in a later run. */
  states(): Readonly<Record<string, number>>;
  /** The latest states have to be read: it is there and not followed yet, or something was lost. */
  needsLatest(): boolean;
  /** It was not heard of for long, or the server is away. */
  checkPulse(): void;
  lose(why: string | null): void;
  /** null if it is not there. */
  readonly pulse: () => Pulse | null;
  isOpen(): boolean;
}

/** How long a request counts. */
const requestMs = 6_000;

export function createPeer(options: PeerOptions): Peer {
  const { clock } = options;
  const backlog = createBacklog();
  const rate = createRateLimit(maxMessagesPerSecond, () => {});
  /** Requests are counted from one again: a reply to one of an earlier run must not be taken for a reply to one of this. */
  const run = randomBytes(8).toString("hex");
  let events: CarrierEvents | null = null;
  let machineId = "";
  let isOpen = false;
  let problem: string | null = null;
  let problemKind: LinkProblem = "down";
  /** The newest word of it that it is there. */
  let last: { readonly number: number; readonly pulse: Pulse; readonly heardT: number } | null = null;
  /** Its wall clock when this one was at `heardT`, or earlier: it may have been on its way for some time. */
  let theirs: { readonly at: number; readonly t: number; readonly heardT: number } | null = null;
  /** Entries up to this number are known, or came too late. */
  let floor = 0;
  /** The last entry of the log. */
  let chain: number | null = null;
  let isGap = false;
  /** The number of the newest state of each session: the server can hand out older ones. */
  const newestOf = new Map(
    Object.entries(options.known).flatMap(([key, number]): [string, number][] =>
      typeof number === "number" ? [[key, number]] : [],
    ),
  );
  /** The last entry before some that were lost, until the machine has said what they were about; null if none were. */
  let missedFrom: number | null = null;
  /** Nothing can be read before it says something new. */
  let isWaiting = false;

  /** Also of sessions that are gone, as far as there is room. */
  function remember(key: string, number: number): void {
    newestOf.delete(key);
    newestOf.set(key, number);
    const [oldest] = newestOf.keys();
    if (newestOf.size > maxKnownStates && oldest !== undefined) newestOf.delete(oldest);
  }

  /** The newest state of each session that is not older than what is known of it. */
  function chooseStates(sessions: LatestStates["sessions"]): LatestStates["sessions"] {
    const chosen = new Map<string, LatestStates["sessions"][number]>();
    for (const state of sessions) {
      const key = keyOf(state.described);
      const known = Math.max(newestOf.get(key) ?? 0, chosen.get(key)?.number ?? 0);
      if (state.number >= known) chosen.set(key, state);
    }
    for (const [key, { number }] of chosen) remember(key, number);
    return [...chosen.values()];
  }

  const isThere = () => last !== null && last.pulse.isLast !== true && clock().t - last.heardT < silenceMs;

  function emitPast(): void {
    if (!isOpen || !events) return;
    const sessions = backlog.collect().slice(-maxPast);
    if (sessions.length > 0) events.onMessage({ kind: "missed", sessions });
  }

  function takeEntry({ head, message, number }: NumberedText, isOld: boolean): void {
    if (head.before !== null && chain !== null && head.before !== chain) {
      isGap = true;
      missedFrom ??= floor;
    }
    const before = floor;
    chain = number;
    floor = number;
    const key = stateKeyOf(message);
    if (key !== null) remember(key, number);
    if (message.kind === "hello") {
      // Its latest states are whole again.
      isGap = true;
      isWaiting = false;
      // It was started again: what it did not get out before is in its history.
      if (before > 0) missedFrom ??= before;
    }
    if (!isOpen || isOld) backlog.takeOld(message, head.at);
    else {
      backlog.takeCurrent(message, head.at);
      events?.onMessage(message);
    }
  }

  /** When it counts no more, on the machine's clock. */
  const endOf = (sentAt: NonNullable<typeof theirs>): number =>
    sentAt.at + clock().t - sentAt.heardT + requestMs;

  /** Entries were lost at the server: the machine's own history has what they said. Asked again until it answers. */
  function askForMissed(machineId: string): void {
    if (missedFrom === null || !theirs) return;
    const resume = { machineId, seq: missedFrom };
    options.send(
      { kind: "hello", protocol: protocolVersion, version, name: options.ownName, resume },
      endOf(theirs),
    );
  }

  function lose(why: string | null): void {
    if (why !== null) problem = why;
    problemKind = "down";
    if (!isOpen) return;
    isOpen = false;
    isGap = false;
    events?.onLost();
  }

  /** The index of the newest state of each session. */
  function findNewest(entries: readonly NumberedText[]): ReadonlyMap<string, number> {
    const newest = new Map<string, number>();
    for (const [index, { message }] of entries.entries()) {
      const key = stateKeyOf(message);
      if (key !== null) newest.set(key, index);
    }
    return newest;
  }

  function open(latest: LatestStates): void {
    const { hello, sessions, number } = latest;
    if (!events || !theirs) return;
    const refusal = events.refuse?.(hello) ?? null;
    if (refusal !== null) {
      problem = refusal;
      problemKind = "refused";
      isWaiting = true;
      events.onFailure?.(refusal, "refused");
      return;
    }
    const elapsedMs = clock().t - theirs.heardT;
    problem = null;
    if (!isOpen) {
      isOpen = true;
      events.onOpened({
        ...hello,
        now: { at: theirs.at + elapsedMs, t: theirs.t + elapsedMs },
        hasChannels: last?.pulse.hasChannels ?? false,
      });
    }
    for (const { described } of sessions)
      backlog.takeCurrent({ kind: "session", seq: number, described }, theirs.at);
    events.onMessage({ kind: "sessions", seq: number, sessions: sessions.map(({ described }) => described) });
    emitPast();
    machineId = hello.machineId;
    askForMissed(machineId);
  }

  return {
    follow(wanted) {
      events = wanted;
      const resume = wanted.greeting?.().resume;
      floor = Math.max(floor, resume?.seq ?? 0);
      return {
        send: (message: FollowerMessage) => {
          if (!isOpen || !theirs || message.kind === "hello" || message.kind === "everything") return false;
          const named = { ...message, id: `${run}.${message.id}` };
          options.send(named, endOf(theirs));
          return true;
        },
        problem: () => (isOpen ? null : (options.problem() ?? problem)),
        problemKind: () => problemKind,
        retryNow() {},
        async stop() {
          lose(null);
          events = null;
        },
      };
    },
    takePulse(number, pulse, agoMs) {
      if (last && number <= last.number) return false;
      const { t } = clock();
      const hadChannels = last?.pulse.hasChannels;
      last = { number, pulse, heardT: t - agoMs };
      theirs = { at: pulse.at, t: pulse.t, heardT: t - agoMs };
      // What it was refused for may be over.
      if (problemKind === "refused") isWaiting = false;
      if (pulse.isLast) lose("beckon was stopped there");
      else if (isOpen) {
        // Everything that shows something looks again.
        if (pulse.hasChannels !== hadChannels)
          events?.onMessage({ kind: "channels", areWorking: pulse.hasChannels });
        askForMissed(machineId);
      }
      return true;
    },
    take(entries) {
      let repeated = 0;
      const fresh = entries.filter(({ number }, index) => {
        const isRepeated = number <= Math.max(floor, entries[index - 1]?.number ?? 0);
        if (isRepeated) repeated++;
        else if (!rate.take()) isGap = true;
        else return true;
        return false;
      });
      const newest = findNewest(fresh);
      for (const [index, entry] of fresh.entries()) {
        const key = stateKeyOf(entry.message);
        const isOld = entry.head.isLate === true || (key !== null && newest.get(key) !== index);
        takeEntry(entry, isOld);
      }
      emitPast();
      return repeated;
    },
    takeReply(reply) {
      if (reply.kind === "missed") {
        missedFrom = null;
        if (isOpen) events?.onMessage(reply);
        return;
      }
      const [of, to] = reply.to.split(".");
      if (of === run && to !== undefined) events?.onMessage({ ...reply, to });
    },
    takeLatest(latest) {
      isGap = false;
      if (latest === null) {
        isWaiting = true;
        lose("it has written nothing at the server yet");
        return 0;
      }
      const sessions = chooseStates(latest.sessions);
      // The log did not have the newest of it: its server has trimmed or lost some.
      if (floor > 0 && latest.number > floor) missedFrom ??= floor;
      floor = Math.max(floor, latest.number);
      open({ ...latest, sessions });
      return latest.sessions.length - sessions.length;
    },
    states: () => Object.fromEntries(newestOf),
    needsLatest: () => events !== null && isThere() && ((!isOpen && !isWaiting) || isGap),
    checkPulse() {
      if (!isThere()) lose("it was not heard of any more");
      if (last === null) problem ??= "it was never heard of";
    },
    lose,
    pulse: () => (isThere() ? (last?.pulse ?? null) : null),
    isOpen: () => isOpen,
  };
}

/** The session whose state the message is; null if it is none. */
function stateKeyOf(message: OwnerMessage): string | null {
  if (message.kind === "gone") return sessionKeyOf(message);
  if (message.kind !== "session") return null;
  return keyOf(message.described);
}

const keyOf = ({ session: { agent, sessionId } }: DescribedSession): string =>
  sessionKeyOf({ agent: String(agent), sessionId: String(sessionId) });
