/** What carries the messages of one other machine here and back: a command (link.ts), or a fleet's streams (fleet/). */
import type { LinkProblem } from "./link-problem.ts";
import type { FollowerMessage, OwnerMessage } from "./protocol.ts";

export type Hello = Extract<OwnerMessage, { kind: "hello" }>;
type FollowerHello = Extract<FollowerMessage, { kind: "hello" }>;

export interface CarrierEvents {
  /** What the first message says besides versions and names. */
  readonly greeting?: () => Pick<FollowerHello, "linkId" | "resume" | "seesProbes">;
  /** Why a machine that says this is not linked; null if it is. */
  readonly refuse?: (hello: Hello) => string | null;
  readonly onOpened: (hello: Hello) => void;
  readonly onMessage: (message: OwnerMessage) => void;
  readonly onLost: () => void;
  /** An attempt has failed, for this reason. */
  readonly onFailure?: (reason: string, problem: LinkProblem) => void;
}

export interface Carrier {
  /** False if it is not open. */
  send(message: FollowerMessage): boolean;
  /** What the machine said after the follower's `resume` is not known yet: it was not followed further than before. */
  isMissing(): boolean;
  /** Why it is not open; null if it is, or is being opened for the first time. */
  problem(): string | null;
  /** What kind of problem that is. */
  problemKind(): LinkProblem;
  /** Ends the pause before the next attempt, also where only the user could change something. */
  retryNow(): void;
  stop(): Promise<void>;
}

export type OpenCarrier = (events: CarrierEvents) => Carrier;
