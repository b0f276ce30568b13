/** What a machine says of itself every few seconds, as it is heard here: whether it is there, and its clocks. */
import type { ClockReading, Moment } from "../../core/session/event.ts";
import type { Pulse } from "./wire.ts";

/** A machine is there if it said so this long ago. */
export const pulseMs = 10_000;
const silenceMs = 25_000;
/** How long a request counts. */
const requestMs = 6_000;

export interface Heartbeat {
  /** `agoMs`: how long it took to get here, as far as the server says. False if it is older than what is known. */
  take(number: number, pulse: Pulse, agoMs: number): boolean;
  /** The newest; null before the first. */
  last(): Pulse | null;
  isThere(): boolean;
  /** How long ago the last input of its user was, by what it said last; null if they are not there. */
  inputAgoMs(): number | null;
  /** Its clocks now, or earlier: what it said may have been on its way for some time. null before the first pulse. */
  theirs(): Moment | null;
  /** When a request that is sent now counts no more, on its clock. null before the first pulse. */
  requestEnd(): number | null;
}

interface Heard {
  readonly number: number;
  readonly pulse: Pulse;
  /** This machine's clock then. */
  readonly heardT: number;
}

/** Five minutes of them: in longer, clocks drift apart. */
const maxHeard = 30;
/** Wall clock and monotonic clock of a machine drift apart by less, unless it was started again, slept, or its clock was set. */
const sameStartMs = 1_000;

const startOf = ({ pulse: { at, t } }: Heard): number => at - t;

/** The one that was on its way for the shortest time, of those since the machine's clocks were set last. */
function findQuickest(heard: readonly Heard[]): Heard | null {
  const last = heard.at(-1);
  if (!last) return null;
  const delay = ({ heardT, pulse }: Heard) => heardT - pulse.t;
  return heard
    .filter((each) => Math.abs(startOf(each) - startOf(last)) < sameStartMs)
    .reduce((quickest, each) => (delay(each) < delay(quickest) ? each : quickest), last);
}

export function createHeartbeat(clock: () => ClockReading): Heartbeat {
  const heard: Heard[] = [];
  let last: Heard | null = null;

  function theirs(): Moment | null {
    // A server that hung hands out some of them late: they say nothing about the machine's clocks.
    const quickest = findQuickest(heard);
    if (quickest === null) return null;
    const elapsedMs = clock().t - quickest.heardT;
    return { at: quickest.pulse.at + elapsedMs, t: quickest.pulse.t + elapsedMs };
  }

  const isThere = () => last !== null && last.pulse.isLast !== true && clock().t - last.heardT < silenceMs;

  return {
    take(number, pulse, agoMs) {
      if (last && number <= last.number) return false;
      last = { number, pulse, heardT: clock().t - agoMs };
      heard.push(last);
      if (heard.length > maxHeard) heard.shift();
      return true;
    },
    last: () => last?.pulse ?? null,
    isThere,
    inputAgoMs() {
      const agoMs = isThere() ? (last?.pulse.inputAgoMs ?? null) : null;
      return agoMs === null || last === null ? null : agoMs + clock().t - last.heardT;
    },
    theirs,
    requestEnd() {
      const now = theirs();
      return now && now.at + requestMs;
    },
  };
}
