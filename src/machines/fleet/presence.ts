/**
 * Says to a fleet every few seconds that this machine is there, and how long ago its user was; and finds from what the others say where
 * the user is now, so that one person is told once.
 */
import type { Schedule } from "../../core/interfaces/index.ts";
import type { ClockReading } from "../../core/session/event.ts";
import { waitAtMost } from "../../system/schedule.ts";
import type { FleetRecord } from "./fleet-file.ts";
import { pulseMs } from "./heartbeat.ts";
import type { Peer } from "./peer.ts";
import type { Pulse } from "./wire.ts";

export interface FleetPresenceOptions {
  readonly fleet: () => FleetRecord;
  readonly peers: ReadonlyMap<string, Peer>;
  /** Resolves with how long ago the user's last input was, if they are at this machine; null if not. */
  readonly readPresence: () => Promise<number | null>;
  /** Whether this machine tells by phone or chat. */
  readonly hasChannels: () => boolean;
  /** The number of the last entry of the log; null if there is none. */
  readonly lastWritten: () => number | null;
  readonly isConnected: () => boolean;
  readonly write: (pulse: Pulse) => Promise<void>;
  /** What else is done every few seconds while the server is there, before and after this machine says that it is there. */
  readonly before: () => Promise<void>;
  readonly after: () => Promise<void>;
  readonly clock: () => ClockReading;
  readonly schedule: Schedule;
}

export interface FleetPresence {
  /** Says at once that this machine is there. */
  beat(): void;
  /** Whether this machine has channels may have changed. */
  onRefresh(): void;
  /** Of the machines of this person that could tell by phone or chat, this one does. */
  isTeller(): boolean;
  /** The name of the other machine of this person at which they are; null if they are here, or at none. */
  findUserElsewhere(): Promise<string | null>;
  stop(): Promise<void>;
}

/** A server that hangs does not keep beckon from being stopped. */
const lastWordMs = 1_000;
/** A desktop that does not answer is one that knows nothing. */
const presenceMs = 2_000;

export function createFleetPresence(options: FleetPresenceOptions): FleetPresence {
  const { fleet, peers, clock, schedule } = options;
  let isStopped = false;
  let cancelBeat = () => {};
  /** As of the last beat; null if the user was not here. */
  let inputAgoMs: number | null = null;
  /** What the others know of it. */
  let hadChannels: boolean | null = null;

  const readPresence = async (): Promise<number | null> =>
    (await waitAtMost(presenceMs, options.readPresence())) ?? null;

  async function say(isLast: boolean): Promise<void> {
    const isPersonal = fleet().kind === "personal";
    if (isPersonal && !isLast) inputAgoMs = await readPresence();
    const { at, t } = clock();
    hadChannels = options.hasChannels();
    const last = options.lastWritten();
    const pulse: Pulse = {
      at,
      t,
      hasChannels: hadChannels,
      ...(last === null ? {} : { last }),
      ...(isPersonal ? { inputAgoMs } : {}),
    };
    await options.write(isLast ? { ...pulse, isLast } : pulse);
  }

  function beat(): void {
    cancelBeat();
    if (isStopped) return;
    cancelBeat = schedule(beat, pulseMs);
    if (!options.isConnected()) return;
    void options
      .before()
      .then(() => say(false))
      .then(options.after)
      .catch(() => {});
  }

  cancelBeat = schedule(beat, pulseMs);

  return {
    beat,
    onRefresh() {
      // Who tells the user may change.
      if (options.isConnected() && options.hasChannels() !== hadChannels) beat();
    },
    /**
     * Everybody who has channels gets to the same result: where the user is, or else the first by its id. While it changes, two may tell
     * the user, or one that has just stopped: there is no lock that somebody could keep.
     */
    isTeller() {
      if (!options.hasChannels()) return false;
      const others = [...peers].flatMap(([id, peer]) => {
        const pulse = peer.pulse();
        return pulse?.hasChannels ? [{ id, isAttended: typeof pulse.inputAgoMs === "number" }] : [];
      });
      const own = fleet().machine;
      const rank = (isPresent: boolean) => (isPresent ? 0 : 1);
      const [first] = [{ id: own, isAttended: inputAgoMs !== null }, ...others].sort(
        (a, b) => rank(a.isAttended) - rank(b.isAttended) || (a.id < b.id ? -1 : 1),
      );
      return first?.id === own;
    },
    async findUserElsewhere() {
      if (fleet().kind !== "personal") return null;
      const others = [...peers].flatMap(([id, peer]) => {
        const agoMs = peer.inputAgoMs();
        return agoMs === null ? [] : [{ id, agoMs }];
      });
      const [latest] = others.sort((a, b) => a.agoMs - b.agoMs);
      if (!latest) return null;
      const ownMs = await readPresence();
      if (ownMs !== null && ownMs <= latest.agoMs) return null;
      return fleet().members.members.find(({ id }) => id === latest.id)?.name ?? null;
    },
    async stop() {
      isStopped = true;
      cancelBeat();
      if (!options.isConnected()) return;
      await waitAtMost(
        lastWordMs,
        say(true).catch(() => {}),
      );
    },
  };
}
