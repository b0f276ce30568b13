/** Another member of a fleet, as it is followed here: what is known of it, and what of that the mirror gets. */
import { randomBytes } from "node:crypto";
import { version } from "../../../package.json";
import type { Schedule } from "../../core/interfaces/index.ts";
import type { ClockReading } from "../../core/session/event.ts";
import type { Carrier, CarrierEvents, Hello } from "../carrier.ts";
import type { LinkProblem } from "../link-problem.ts";
import { type FollowerMessage, protocolVersion } from "../protocol.ts";
import { createRateLimit } from "../rate-limit.ts";
import { createBacklog } from "./backlog.ts";
import { createHeartbeat, type Heartbeat } from "./heartbeat.ts";
import { createKnownStates, type NumberedState, stateKeyOf } from "./known-states.ts";
import { createLogProgress } from "./log-progress.ts";
import type { FleetReply, FleetRequest, LogText, Pulse } from "./wire.ts";

const maxMessagesPerSecond = 1_000;
/** What took this long to come may be over: a server that hung does first what it was told before it hung. */
const lateMs = 2_000;
/** After a failure, a machine says within this time what followed: it tries again half a second later. */
export const catchUpMs = 1_500;

/** What the server's hash has of the machine. */
export interface LatestStates {
  readonly hello: Hello;
  readonly sessions: readonly NumberedState[];
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
  readonly schedule: Schedule;
}

export interface Peer {
  /** Somebody here follows it. */
  follow(events: CarrierEvents): Carrier;
  /** `isLogRead`: so is everything that the log had when the pulse came. */
  takePulse(number: number, pulse: Pulse, agoMs: number, isLogRead: boolean): boolean;
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
  readonly inputAgoMs: Heartbeat["inputAgoMs"];
}

export function createPeer(options: PeerOptions): Peer {
  const backlog = createBacklog();
  const heartbeat = createHeartbeat(options.clock);
  const known = createKnownStates(options.known);
  const progress = createLogProgress();
  const rate = createRateLimit(maxMessagesPerSecond, () => {});
  const requests = createRequests(options, heartbeat);
  let events: CarrierEvents | null = null;
  let machineId = "";
  let isOpen = false;
  let problem: string | null = null;
  let problemKind: LinkProblem = "down";
  /** Up to which entry somebody has followed it; null while somebody does. */
  let followedTo: number | null = null;
  /** Nothing can be read before it says something new. */
  let isWaiting = false;
  /** Entries that came late, until it is known whether others follow them. */
  let held: NumberedText[] = [];
  let cancelHold: (() => void) | null = null;

  function emitPast(): void {
    if (!isOpen || !events) return;
    const sessions = backlog.collect();
    if (sessions.length > 0) events.onMessage({ kind: "missed", sessions });
  }

  function takeEntry({ head, message, number }: NumberedText, isOld: boolean): void {
    const before = progress.floor();
    progress.take(head, number);
    known.remember(message, number);
    if (message.kind === "hello") {
      // Its latest states are whole again.
      progress.restart(before);
      isWaiting = false;
    }
    followedTo = isOpen ? null : (followedTo ?? before);
    if (!isOpen || isOld) {
      backlog.takeOld(message, head.at);
      if (backlog.takeLost()) progress.miss(followedTo ?? before);
    } else {
      backlog.takeCurrent(message, head.at);
      events?.onMessage(message);
    }
  }

  /** `areOld`: the states that follow are newer. */
  function takeHeld(areOld = false): void {
    cancelHold?.();
    cancelHold = null;
    const entries = held;
    held = [];
    for (const { entry, isOld } of findOld(entries)) takeEntry(entry, areOld || isOld);
    emitPast();
  }

  const newestNumber = () => held.at(-1)?.number ?? progress.floor();

  function isLate({ head }: NumberedText): boolean {
    const now = heartbeat.theirs();
    return now !== null && now.at - head.at > lateMs;
  }

  function askForMissed(): void {
    const seq = progress.missedFrom();
    if (seq !== null) requests.askForMissed({ machineId, seq });
  }

  function lose(why: string | null): void {
    if (why !== null) problem = why;
    problemKind = "down";
    if (!isOpen) return;
    isOpen = false;
    takeHeld();
    progress.setGap(false);
    events?.onLost();
  }

  function open({ hello, sessions, number }: LatestStates): void {
    const now = heartbeat.theirs();
    if (!events || !now) return;
    const refusal = events.refuse?.(hello) ?? null;
    problem = refusal;
    if (refusal !== null) {
      problemKind = "refused";
      isWaiting = true;
      events.onFailure?.(refusal, "refused");
      return;
    }
    if (!isOpen) {
      isOpen = true;
      events.onOpened({ ...hello, now, hasChannels: heartbeat.last()?.hasChannels ?? false });
    }
    for (const { described } of sessions)
      backlog.takeCurrent({ kind: "session", seq: number, described }, now.at);
    events.onMessage({ kind: "sessions", seq: number, sessions: sessions.map(({ described }) => described) });
    emitPast();
    machineId = hello.machineId;
    askForMissed();
  }

  return {
    follow(wanted) {
      events = wanted;
      progress.raise(wanted.greeting?.().resume?.seq ?? 0);
      return {
        send: (message) => isOpen && requests.send(message),
        isMissing: () => progress.missedFrom() !== null,
        problem: () => (isOpen ? null : (options.problem() ?? problem)),
        problemKind: () => problemKind,
        retryNow() {},
        async stop() {
          lose(null);
          events = null;
        },
      };
    },
    takePulse(number, pulse, agoMs, isLogRead) {
      const before = heartbeat.last();
      if (!heartbeat.take(number, pulse, agoMs)) return false;
      // The server has lost what no later entry names.
      if (isOpen && isLogRead && (pulse.last ?? 0) > newestNumber()) progress.setGap(true);
      // What it was refused for may be over.
      if (problemKind === "refused") isWaiting = false;
      if (pulse.isLast) lose("beckon was stopped there");
      else if (isOpen) {
        // Everything that shows something looks again.
        if (pulse.hasChannels !== before?.hasChannels)
          events?.onMessage({ kind: "channels", areWorking: pulse.hasChannels });
        askForMissed();
      }
      return true;
    },
    take(entries) {
      const { fresh, repeated } = splitRepeated(entries, newestNumber());
      const taken = fresh.filter(() => {
        const isTaken = rate.take();
        if (!isTaken) progress.setGap(true);
        return isTaken;
      });
      held.push(...taken);
      const last = held.at(-1);
      if (isOpen && last && isLate(last)) cancelHold ??= options.schedule(() => takeHeld(), catchUpMs);
      else takeHeld();
      return repeated;
    },
    takeReply(reply) {
      if (reply.kind === "missed") {
        // It is asked again once somebody can take the answer.
        if (!isOpen) return;
        if (!reply.isPart) progress.onMissed(reply.upTo);
        events?.onMessage(reply);
        return;
      }
      const to = requests.findId(reply.to);
      if (to !== null) events?.onMessage({ ...reply, to });
    },
    takeLatest(latest) {
      takeHeld(true);
      progress.setGap(false);
      if (latest === null) {
        isWaiting = true;
        lose("it has written nothing at the server yet");
        return 0;
      }
      const sessions = known.choose(latest.sessions);
      progress.skipTo(Math.max(latest.number, heartbeat.last()?.last ?? 0));
      open({ ...latest, sessions });
      return latest.sessions.length - sessions.length;
    },
    states: known.save,
    needsLatest: () =>
      events !== null && heartbeat.isThere() && ((!isOpen && !isWaiting) || progress.hasGap()),
    checkPulse() {
      if (!heartbeat.isThere()) lose("it was not heard of any more");
      if (heartbeat.last() === null) problem ??= "it was never heard of";
    },
    lose,
    pulse: () => (heartbeat.isThere() ? heartbeat.last() : null),
    inputAgoMs: heartbeat.inputAgoMs,
  };
}

/** What is asked of the machine, each until it counts no more. */
function createRequests({ send, ownName }: PeerOptions, { requestEnd }: Heartbeat) {
  /** Requests are counted from one again: a reply to one of an earlier run must not be taken for a reply to one of this. */
  const run = randomBytes(8).toString("hex");
  return {
    /** False if it cannot be sent. */
    send(message: FollowerMessage): boolean {
      const ends = requestEnd();
      if (ends === null || message.kind === "hello" || message.kind === "everything") return false;
      send({ ...message, id: `${run}.${message.id}` }, ends);
      return true;
    },
    /** Entries were lost at the server: the machine's own history has what they said. Asked again until it answers. */
    askForMissed(resume: { readonly machineId: string; readonly seq: number }): void {
      const ends = requestEnd();
      const about = { protocol: protocolVersion, version, name: ownName };
      if (ends !== null) send({ kind: "hello", ...about, resume }, ends);
    },
    /** The request that a reply is to; null if it is not one of this run. */
    findId(repliedTo: string): string | null {
      const [of, id] = repliedTo.split(".");
      return of === run ? (id ?? null) : null;
    },
  };
}

/** Those that are newer than all before them; and how many are not. */
function splitRepeated(entries: readonly NumberedText[], floor: number) {
  let newest = floor;
  const fresh = entries.filter(({ number }) => {
    if (number <= newest) return false;
    newest = number;
    return true;
  });
  return { fresh, repeated: entries.length - fresh.length };
}

/** Which of them are followed by a newer state of the same session. */
function findOld(entries: readonly NumberedText[]) {
  const newest = new Map(entries.map((entry) => [stateKeyOf(entry.message), entry]));
  return entries.map((entry) => {
    const key = stateKeyOf(entry.message);
    return { entry, isOld: entry.head.isLate === true || (key !== null && newest.get(key) !== entry) };
  });
}
