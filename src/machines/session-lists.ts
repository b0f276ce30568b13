/** What a machine is told when it is linked: all sessions, and what it has missed. In parts, so that neither side needs room for all of it. */
import { computeRetryMs } from "../core/backoff.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule } from "../core/interfaces/index.ts";
import type { PastSession } from "../core/interfaces/wire.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import type { SessionRefLike } from "../core/session/session-ref.ts";
import type { ResponseStream } from "../system/response-stream.ts";
import { chooseSessions, createMissedMessages, findPastStart, partLength } from "./described.ts";
import type { DescribedSession, OwnerMessage } from "./protocol.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { SessionNews } from "./session-news.ts";

/** A machine that is linked to this one. */
export interface FollowingMachine {
  readonly id: string;
  readonly stream: ResponseStream;
  readonly rate: RateLimit;
  /** In the user's words; for the log of answers. */
  name: string;
  linkId: string | null;
  seesProbes: boolean;
  isGreeted: boolean;
  /** A list of all sessions is on its way to it, or will be in a moment. */
  isListing: boolean;
  requests: number;
}

/** The least time between two lists of all sessions. */
const listMs = 1_000;
/** A follower that has this much to read gets the rest of a list later. */
const pausedBytes = 2 * 1024 * 1024;
const pauseMs = 20;
const pastBackoff = { firstMs: 1_000, maxMs: 60_000 };

export interface ListWriterOptions {
  readonly news: SessionNews<FollowingMachine>;
  readonly write: (follower: FollowingMachine, message: OwnerMessage) => void;
  readonly isOpen: (follower: FollowingMachine) => boolean;
  readonly clock: () => ClockReading;
  readonly sessions: () => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly findPast: (since: number) => Promise<readonly PastSession[]>;
  readonly schedule: Schedule;
  readonly onProblem: (text: string) => void;
}

export interface ListWriter {
  /** Every session. What changes meanwhile is told as always. */
  writeAll(follower: FollowingMachine): Promise<void>;
  /** What happened after the message with this number. Tried until it succeeds, or the follower is gone. */
  writeMissed(follower: FollowingMachine, seq: number): Promise<void>;
}

export function createListWriter(options: ListWriterOptions): ListWriter {
  const { news, write, isOpen, clock, get, schedule } = options;
  const sleep = (ms: number) => new Promise<void>((resolve) => void schedule(resolve, ms));

  /** Waits until the follower has read most of what was sent. Resolves with false if it is gone. */
  async function hasRoom(follower: FollowingMachine): Promise<boolean> {
    while (isOpen(follower) && follower.stream.backlogBytes() > pausedBytes) await sleep(pauseMs);
    return isOpen(follower);
  }

  /** null if the follower is gone. */
  async function readPast(follower: FollowingMachine, seq: number): Promise<readonly PastSession[] | null> {
    for (let failures = 1; isOpen(follower); failures++) {
      try {
        return await options.findPast(findPastStart(seq, clock().at));
      } catch (error) {
        if (failures === 1)
          options.onProblem(
            `what ${follower.name} has missed could not be read, and is tried again: ${readErrorMessage(error)}`,
          );
        await sleep(computeRetryMs(pastBackoff, failures));
      }
    }
    return null;
  }

  return {
    async writeAll(follower) {
      follower.isListing = true;
      let part: DescribedSession[] = [];
      let length = 0;
      for (const ref of chooseSessions(options.sessions())) {
        const session = get(ref);
        if (!session) continue;
        const { described, ...own } = news.describe(session, follower);
        part.push(described);
        length += own.length;
        if (length < partLength) continue;
        write(follower, { kind: "sessions", seq: news.nextSeq(), sessions: part, isPart: true });
        part = [];
        length = 0;
        if (!(await hasRoom(follower))) return;
      }
      write(follower, { kind: "sessions", seq: news.nextSeq(), sessions: part });
      schedule(() => {
        follower.isListing = false;
      }, listMs);
    },
    async writeMissed(follower, seq) {
      const upTo = news.nextSeq();
      const past = await readPast(follower, seq);
      for (const message of past ? createMissedMessages(past, upTo) : []) {
        if (!(await hasRoom(follower))) return;
        write(follower, message);
      }
    },
  };
}
