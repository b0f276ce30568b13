/** One other machine: what carries its messages, what is mirrored of it, and what it is asked for. */
import { atOfGrowingId, firstGrowingIdAt } from "../core/growing-ids.ts";
import type { Schedule } from "../core/interfaces/index.ts";
import type { PastSession } from "../core/interfaces/wire.ts";
import { minuteMs } from "../core/timing.ts";
import type { Carrier, Hello, OpenCarrier } from "./carrier.ts";
import { createMirror, type Mirror, type MirrorOptions, type SessionMessage } from "./mirror.ts";
import type { Progress } from "./progress.ts";
import type { FollowerRequest, RequestOutcome } from "./protocol.ts";

export interface LinkedMachineOptions
  extends Pick<
    MirrorOptions,
    "clock" | "sessions" | "get" | "replace" | "remove" | "onAskEnded" | "onProblem"
  > {
  /** The user's name for the machine. */
  readonly name: string;
  readonly open: OpenCarrier;
  readonly schedule: Schedule;
  /** Names this installation, as `machineId` names others. */
  readonly ownId: string;
  readonly progress: Progress;
  readonly history: {
    readonly addPast: (machine: string, session: PastSession, since: number) => void;
    readonly onMachineListed: (machine: string) => void;
  };
  /** Why it is not linked though it answers; null if it is. */
  readonly refuse: (hello: Hello) => string | null;
  /** What can be answered, or what its report says, has changed. */
  readonly onChange: () => void;
}

export interface LinkedMachine {
  readonly carrier: Carrier;
  readonly mirror: Mirror;
  /** What it said first; null while it is not linked. */
  hello(): Hello | null;
  /** All of its sessions are known. */
  isListed(): boolean;
  /** Wall time since which it is linked, or is not; null before the first attempt has ended. */
  since(): number | null;
  /** Resolves with null if it is not known what became of it. */
  request(create: (id: string) => FollowerRequest, replyMs: number): Promise<RequestOutcome | null>;
}

export function linkMachine(options: LinkedMachineOptions): LinkedMachine {
  const { name, clock, progress, schedule } = options;
  let hello: Hello | null = null;
  let isListed = false;
  let since: number | null = null;
  /** Up to when the machine was followed before this link, on this machine's clock. */
  let followedUntil = 0;
  /** The newest number of this link. */
  let newest = 0;
  /** Requests that were sent, by their ids. */
  const waiting = new Map<string, (outcome: RequestOutcome | null) => void>();
  let lastRequest = 0;

  const mirror = createMirror({
    ...options,
    machine: name,
    onPast: (session) => options.history.addPast(name, session, followedUntil),
    onListed() {
      options.history.onMachineListed(name);
      isListed = true;
      options.onChange();
    },
    onPastListed: () => options.history.onMachineListed(name),
  });
  mirror.lose();

  function greet(first: Hello): void {
    const { machineId } = first;
    const known = progress.get(name);
    const isKnown = known?.machineId === machineId;
    const shiftAt = mirror.start(first.now, isKnown ? { at: known.shiftAt } : null);
    followedUntil = isKnown ? atOfGrowingId(known.seq) + shiftAt : 0;
    if (!isKnown) {
      // What follows has to be asked for, whatever happens to this app. What its clock says may have been on its way.
      const seq = firstGrowingIdAt(first.now.at - minuteMs);
      progress.begin({ name, machineId, seq, shiftAt });
    } else if (known.shiftAt !== shiftAt) progress.set({ ...known, shiftAt });
  }

  function take(message: SessionMessage): void {
    mirror.take(message);
    // Before the whole list, something may still be missing.
    if (message.kind !== "missed" && !(message.kind === "sessions" && message.isPart))
      newest = Math.max(newest, message.seq);
    const known = progress.get(name);
    if (!known || newest <= known.seq || carrier.isMissing()) return;
    progress.set({ ...known, seq: newest });
  }

  function setChannels(hasChannels: boolean): void {
    hello &&= { ...hello, hasChannels };
    options.onChange();
  }

  const carrier = options.open({
    refuse: options.refuse,
    greeting() {
      const known = progress.get(name);
      const resume = known && { machineId: known.machineId, seq: known.seq };
      return { linkId: `${options.ownId}/${name}`, ...(resume && { resume }) };
    },
    onOpened(first) {
      newest = 0;
      greet(first);
      hello = first;
      since = clock().at;
      options.onChange();
    },
    onMessage(message) {
      if (message.kind === "channels") setChannels(message.areWorking);
      else if (message.kind === "reply") waiting.get(message.to)?.(message.outcome);
      else if (message.kind !== "hello" && message.kind !== "alive" && message.kind !== "refused")
        take(message);
    },
    onLost() {
      hello = null;
      isListed = false;
      since = clock().at;
      mirror.lose();
      for (const finish of waiting.values()) finish(null);
      options.onChange();
    },
    onFailure() {
      since ??= clock().at;
    },
  });

  return {
    carrier,
    mirror,
    hello: () => hello,
    isListed: () => isListed,
    since: () => since,
    request(create, replyMs) {
      const id = String(++lastRequest);
      const { promise, resolve } = Promise.withResolvers<RequestOutcome | null>();
      waiting.set(id, resolve);
      if (!carrier.send(create(id))) resolve(null);
      const cancel = schedule(() => resolve(null), replyMs);
      return promise.finally(() => {
        cancel();
        waiting.delete(id);
      });
    },
  };
}
