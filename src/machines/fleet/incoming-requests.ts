/** What other machines of a fleet ask of this one: to answer, to show a pane, and what they have missed. */
import type { PastSession } from "../../core/interfaces/wire.ts";
import type { ClockReading } from "../../core/session/event.ts";
import { toSingleLine, truncateEnd } from "../../core/text/text.ts";
import { createMissedMessages, findPastStart } from "../described.ts";
import type { FollowerRequest, OwnerMessage, RequestOutcome } from "../protocol.ts";
import { createRateLimit, type RateLimit } from "../rate-limit.ts";
import { type AskedOptions, actFor, maxMessagesPerSecond, maxNameWidth, maxRequests } from "../requests.ts";
import type { FleetRecord } from "./fleet-file.ts";
import type { Member } from "./members.ts";
import type { RequestText } from "./wire.ts";

export interface IncomingRequestsOptions extends AskedOptions {
  readonly fleet: () => FleetRecord;
  /** What the history has of this machine's sessions since then. */
  readonly findPast: (since: number) => Promise<readonly PastSession[]>;
  /** The number of the next entry. */
  readonly nextNumber: () => number;
  /** Writes what the machine is answered. */
  readonly reply: (to: string, message: Extract<OwnerMessage, { kind: "reply" | "missed" }>) => void;
  readonly clock: () => ClockReading;
  readonly onProblem: (text: string) => void;
}

export type IncomingRequest = Extract<RequestText, { request: unknown }>;

/** How far the clock of a machine that asks may be ahead. */
const maxRequestMs = 60_000;

export function createIncomingRequests(options: IncomingRequestsOptions) {
  const { fleet, clock } = options;
  const limits = new Map<string, { readonly rate: RateLimit; running: number }>();

  function limitOf(machine: string) {
    const limit = limits.get(machine) ?? {
      rate: createRateLimit(maxMessagesPerSecond, () => {}),
      running: 0,
    };
    limits.set(machine, limit);
    return limit;
  }

  /** From this machine's history, to a machine of the same person that sees everything. */
  async function sendMissed(to: string, seq: number | null): Promise<void> {
    const { kind, share } = fleet();
    const isAllowed = kind === "personal" && share === "full" && seq !== null;
    // Before the history is read: what happens meanwhile may not be in it.
    const upTo = options.nextNumber();
    const past = isAllowed ? await options.findPast(findPastStart(seq, clock().at)) : [];
    for (const message of createMissedMessages(past, upTo)) options.reply(to, message);
  }

  /** A team sees who is blocked, and answers only for itself. */
  async function act(request: FollowerRequest, from: string): Promise<RequestOutcome> {
    const { answers, kind } = fleet();
    if (!answers || kind !== "personal")
      return { ok: false, status: 403, says: "other machines may not answer there" };
    return actFor(request, truncateEnd(toSingleLine(from), maxNameWidth), options);
  }

  async function serve({ id, name }: Member, request: IncomingRequest["request"]): Promise<void> {
    if (request.kind === "hello") {
      await sendMissed(id, request.resume?.seq ?? null).catch((error) =>
        options.onProblem(`what ${name} has missed could not be sent: ${error}`),
      );
      return;
    }
    const outcome = await act(request, name).catch((error): RequestOutcome => {
      options.onProblem(`a request of ${name} failed: ${error}`);
      return { ok: false, status: 500, says: "beckon failed there: see its log" };
    });
    options.reply(id, { kind: "reply", to: request.id, outcome });
  }

  return function take(machine: string, { head: { ends }, request }: IncomingRequest): void {
    const member = fleet().members.members.find(({ id }) => id === machine);
    const limit = limitOf(machine);
    const now = clock().at;
    // Nobody waits for it any more, or its sender's clock is wrong.
    if (!member || ends === undefined || ends < now || ends > now + maxRequestMs || !limit.rate.take())
      return;
    if (limit.running >= maxRequests) {
      const says = "too many requests wait for that machine: try again";
      if (request.kind !== "hello")
        options.reply(machine, { kind: "reply", to: request.id, outcome: { ok: false, status: 429, says } });
      return;
    }
    limit.running++;
    void serve(member, request).finally(() => {
      limit.running--;
    });
  };
}
