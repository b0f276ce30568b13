/**
 * A fleet, while beckon runs: what this machine says there (writer.ts), what the others say (reader.ts, peer.ts), and what their user asks of
 * this machine. It is loaded only if this machine is in one.
 */
import type { Schedule } from "../../core/interfaces/index.ts";
import type { PastSession } from "../../core/interfaces/wire.ts";
import { asRecord, type JsonRecord } from "../../core/json.ts";
import type { ClockReading } from "../../core/session/event.ts";
import { toSingleLine, truncateEnd } from "../../core/text/text.ts";
import { hourMs } from "../../core/timing.ts";
import { waitAtMost } from "../../system/schedule.ts";
import { findPastStart, shortenPast, splitByLength } from "../described.ts";
import type { FleetMachine } from "../index.ts";
import type { FollowerRequest, RequestOutcome } from "../protocol.ts";
import { createRateLimit, type RateLimit } from "../rate-limit.ts";
import {
  type AskedOptions,
  actFor,
  createHello,
  type HelloOptions,
  maxMessagesPerSecond,
  maxNameWidth,
  maxRequests,
} from "../requests.ts";
import type { FleetRecord } from "./fleet-file.ts";
import { readMembers } from "./membership.ts";
import { createPeer, type Peer, pulseMs } from "./peer.ts";
import { createPlaces } from "./places.ts";
import { createFleetReader } from "./reader.ts";
import { openRedis, type Redis, RedisProblem } from "./redis.ts";
import type { FleetReport } from "./report.ts";
import { shareOf, shareSession } from "./share.ts";
import { formatText, type Pulse, type RequestHead, type RequestText } from "./wire.ts";
import { createFleetWriter, type FleetWriter, type WriterOptions } from "./writer.ts";

export interface FleetOptions
  extends AskedOptions,
    HelloOptions,
    Pick<WriterOptions, "sessions" | "pending"> {
  readonly pending: WriterOptions["pending"] & AskedOptions["pending"];
  /** What the history has of this machine's sessions since then. */
  readonly findPast: (since: number) => Promise<readonly PastSession[]>;
  /** The user's name for it. */
  readonly name: string;
  readonly record: FleetRecord;
  /** The list of members has changed. */
  readonly onMembers: (record: FleetRecord) => void;
  /** How much the server keeps. */
  readonly keeps: () => { readonly hours: number; readonly entries: number };
  /** Resolves with whether its user was there a moment ago. */
  readonly readPresence: () => Promise<boolean>;
  /** What `save` returned in an earlier run. */
  readonly saved: JsonRecord;
  /** What `save` returns has changed. */
  readonly onSaveable: () => void;
  /** What `report` returns has changed. */
  readonly onChange: () => void;
  readonly clock: () => ClockReading;
  readonly schedule: Schedule;
  readonly onProblem: (text: string) => void;
}

export interface Fleet extends Pick<FleetWriter, "onChange" | "onTransition" | "onRefresh"> {
  readonly record: () => FleetRecord;
  /** The other members, as machines to follow, with what they call themselves. */
  members(): readonly (FleetMachine & { readonly suggestedName: string })[];
  report(): FleetReport;
  /** Says at once that this machine is there. */
  beat(): void;
  save(): JsonRecord;
  stop(): Promise<void>;
}

/** Of one machine, until it reads them. */
const maxWaitingRequests = 200;
/** A server that hangs does not keep beckon from being stopped. */
const lastWordMs = 1_000;
/** A desktop that does not answer is one that knows nothing. */
const presenceMs = 2_000;
/** How far the clock of a machine that asks may be ahead. */
const maxRequestMs = 60_000;

export function openFleet(options: FleetOptions): Fleet {
  const { clock, schedule, name } = options;
  let record = options.record;
  const own = record.machine;
  const places = createPlaces(record.id);
  const redis = openRedis(record);
  const peers = new Map<string, Peer>();
  const limits = new Map<string, { readonly rate: RateLimit; running: number }>();
  let isStopped = false;
  let cancelBeat = () => {};
  let trimmedT = Number.NEGATIVE_INFINITY;
  let lastProblem: string | null = null;
  let isAttended = false;
  /** What the others know of it. */
  let hadChannels: boolean | null = null;

  const writer = createFleetWriter({
    ...options,
    fleet: () => record,
    redis,
    hello: () => createHello(options),
    share: (described) => {
      const shared = shareSession(described, shareOf(record));
      return record.answers ? shared : { ...shared, answerable: [] };
    },
    maxEntries: () => options.keeps().entries,
    onChange() {
      options.onSaveable();
      report();
    },
  });

  const peerOf = (machine: string): Peer | null => peers.get(machine) ?? null;

  function updatePeers(): void {
    const others = record.members.members.filter(({ id }) => id !== own);
    for (const [id, peer] of peers) {
      if (others.some((member) => member.id === id)) continue;
      peer.lose("it was removed from the fleet");
      peers.delete(id);
    }
    for (const { id } of others)
      if (!peers.has(id))
        peers.set(
          id,
          createPeer({
            known: asRecord(asRecord(options.saved.states)[id]),
            clock,
            ownName: record.members.members.find((member) => member.id === own)?.name ?? "",
            send: (request, ends) => send(id, { to: id, ends }, request),
            problem: reader.problem,
          }),
        );
  }

  const send = (to: string, head: RequestHead, message: Parameters<typeof formatText>[1]): void =>
    void writer
      .post("request", places.requestsTo(to), formatText(head, message), maxWaitingRequests)
      // Who waits for it is told that it is not known what became of it.
      .catch(() => {});

  async function updateMembers(at: Redis): Promise<void> {
    const { fleet, problem, isRemoved } = await readMembers(at, record);
    if (isRemoved)
      throw new RedisProblem(
        `this machine was removed from it. Run: beckon fleet leave --fleet ${name}`,
        true,
      );
    if (problem !== null) report(problem);
    if (fleet === record) return;
    record = fleet;
    updatePeers();
    options.onMembers(record);
  }

  /** Once for each problem. */
  function report(problem: string | null = writer.problem()): void {
    if (problem !== null && problem !== lastProblem) options.onProblem(`fleet ${name}: ${problem}`);
    lastProblem = problem;
    options.onChange();
  }

  function answer(machine: string, { head, request }: Extract<RequestText, { request: unknown }>): void {
    const member = record.members.members.find(({ id }) => id === machine);
    const limit = limits.get(machine) ?? {
      rate: createRateLimit(maxMessagesPerSecond, () => {}),
      running: 0,
    };
    limits.set(machine, limit);
    const now = clock().at;
    const { ends } = head;
    // Nobody waits for it any more, or its sender's clock is wrong.
    if (!member || ends === undefined || ends < now || ends > now + maxRequestMs || !limit.rate.take())
      return;
    const reply = (outcome: RequestOutcome) =>
      request.kind !== "hello" && send(machine, { to: machine }, { kind: "reply", to: request.id, outcome });
    if (limit.running >= maxRequests) {
      reply({ ok: false, status: 429, says: "too many requests wait for that machine: try again" });
      return;
    }
    limit.running++;
    if (request.kind === "hello") {
      void sendMissed(machine, request.resume?.seq ?? null)
        .catch((error) => options.onProblem(`what ${member.name} has missed could not be sent: ${error}`))
        .then(() => {
          limit.running--;
        });
      return;
    }
    void act(request, member.name)
      .catch((error): RequestOutcome => {
        options.onProblem(`a request of ${member.name} failed: ${error}`);
        return { ok: false, status: 500, says: "beckon failed there: see its log" };
      })
      .then((outcome) => {
        limit.running--;
        reply(outcome);
      });
  }

  /** From this machine's history, to a machine of the same person that sees everything. */
  async function sendMissed(to: string, seq: number | null): Promise<void> {
    const isAllowed = record.kind === "personal" && record.share === "full" && seq !== null;
    const past = isAllowed ? await options.findPast(findPastStart(seq, clock().at)) : [];
    const parts = splitByLength(past.map(shortenPast));
    // Also if there is nothing: it asks until it is answered.
    for (const sessions of parts.length === 0 ? [[]] : parts) send(to, { to }, { kind: "missed", sessions });
  }

  /** A team sees who is blocked, and answers only for itself. */
  async function act(request: FollowerRequest, from: string): Promise<RequestOutcome> {
    if (!record.answers || record.kind !== "personal")
      return { ok: false, status: 403, says: "other machines may not answer there" };
    return actFor(request, truncateEnd(toSingleLine(from), maxNameWidth), options);
  }

  const reader = createFleetReader({
    fleet: () => record,
    openRedis: () => openRedis(record),
    readMembers: updateMembers,
    peerOf,
    peers: () => peers,
    onRequest: answer,
    onConnected() {
      beat();
      writer.flush();
    },
    onChange: () => options.onChange(),
    onProblem: (reason) => options.onProblem(`fleet ${name}: ${reason}`),
    position: typeof options.saved.position === "string" ? options.saved.position : null,
    schedule,
  });

  /**
   * Everybody who has channels gets to the same result: where the user is, or else the first by its id. While it changes, two may tell the
   * user, or one that has just stopped: there is no lock that somebody could keep.
   */
  function isTeller(): boolean {
    if (!options.hasChannels()) return false;
    const others = [...peers].flatMap(([id, peer]) => {
      const said = peer.pulse();
      return said?.hasChannels ? [{ id, isAttended: said.isAttended === true }] : [];
    });
    const rank = (isPresent: boolean) => (isPresent ? 0 : 1);
    const [first] = [{ id: own, isAttended }, ...others].sort(
      (a, b) => rank(a.isAttended) - rank(b.isAttended) || (a.id < b.id ? -1 : 1),
    );
    return first?.id === own;
  }

  async function pulse(isLast: boolean): Promise<void> {
    const isPersonal = record.kind === "personal";
    if (isPersonal && !isLast) isAttended = (await waitAtMost(presenceMs, options.readPresence())) === true;
    const { at, t } = clock();
    hadChannels = options.hasChannels();
    const said: Pulse = { at, t, hasChannels: hadChannels, ...(isPersonal ? { isAttended } : {}) };
    const text = JSON.stringify(isLast ? { ...said, isLast } : said);
    await writer.post("pulse", places.pulses, text, Math.max(100, 4 * record.members.members.length));
  }

  /** Says that this machine is there, and sees whether there are new members. */
  function beat(): void {
    cancelBeat();
    if (isStopped) return;
    cancelBeat = schedule(beat, pulseMs);
    if (!reader.isConnected()) return;
    // With a new key first: the others see by it that there is one.
    void updateMembers(redis)
      .then(() => pulse(false))
      .then(trim)
      .catch(() => {});
    options.onSaveable();
  }

  async function trim(): Promise<void> {
    if (clock().t - trimmedT < hourMs / 6) return;
    trimmedT = clock().t;
    const oldest = Math.floor(clock().at - options.keeps().hours * hourMs);
    await redis.send("XTRIM", [places.log, "MINID", "~", String(oldest)]);
  }

  const saveStates = (): JsonRecord =>
    Object.fromEntries([...peers].map(([machine, peer]) => [machine, peer.states()]));

  updatePeers();
  cancelBeat = schedule(beat, pulseMs);

  return {
    record: () => record,
    onChange: writer.onChange,
    onTransition: writer.onTransition,
    onRefresh() {
      writer.onRefresh();
      // Who tells the user may change.
      if (reader.isConnected() && options.hasChannels() !== hadChannels) beat();
    },
    members: () =>
      record.members.members.flatMap(({ id, name: suggestedName, person }) => {
        const peer = peerOf(id);
        const fleet = { name, kind: record.kind, person };
        return peer ? [{ id, fleet, open: peer.follow, isTeller, suggestedName }] : [];
      }),
    report: () => ({
      name,
      state: reader.isConnected() ? "connected" : "not connected",
      problem: reader.problem() ?? writer.problem(),
      waiting: writer.waiting(),
      dropped: Object.fromEntries(reader.dropped()),
      members: record.members.members.map(({ id, name: called, person }) => ({
        id,
        name: called,
        person,
        isThere: id === own || peerOf(id)?.pulse() != null,
      })),
    }),
    beat,
    save: () => ({ ...writer.save(), position: reader.position(), states: saveStates() }),
    async stop() {
      isStopped = true;
      cancelBeat();
      if (reader.isConnected())
        await waitAtMost(
          lastWordMs,
          pulse(true).catch(() => {}),
        );
      writer.stop();
      await reader.stop();
      redis.close();
    },
  };
}
