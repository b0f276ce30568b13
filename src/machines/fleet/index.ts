/**
 * A fleet, while beckon runs: what this machine says there (writer.ts), what the others say (reader.ts, peer.ts), and what their user asks of
 * this machine. It is loaded only if this machine is in one.
 */
import { asRecord, type JsonRecord } from "../../core/json.ts";
import { hourMs } from "../../core/timing.ts";
import type { FleetMachine } from "../index.ts";
import { createHello, type HelloOptions } from "../requests.ts";
import type { FleetRecord } from "./fleet-file.ts";
import { createIncomingRequests, type IncomingRequestsOptions } from "./incoming-requests.ts";
import { readMembers } from "./membership.ts";
import { createPeer, type Peer } from "./peer.ts";
import { createPlaces } from "./places.ts";
import { createFleetPresence, type FleetPresence, type FleetPresenceOptions } from "./presence.ts";
import { createFleetReader } from "./reader.ts";
import { openRedis, type Redis, RedisProblem } from "./redis.ts";
import type { FleetReport, MemberWaits } from "./report.ts";
import { shareOf, shareSession } from "./share.ts";
import { formatText, type RequestHead } from "./wire.ts";
import { createFleetWriter, type FleetWriter, type WriterOptions } from "./writer.ts";

export interface FleetOptions
  extends Omit<IncomingRequestsOptions, "fleet" | "nextNumber" | "reply" | "pending">,
    HelloOptions,
    Pick<FleetPresenceOptions, "readPresence">,
    Pick<WriterOptions, "sessions" | "schedule"> {
  readonly pending: WriterOptions["pending"] & IncomingRequestsOptions["pending"];
  /** The user's name for it. */
  readonly name: string;
  readonly record: FleetRecord;
  /** The list of members has changed. */
  readonly onMembers: (record: FleetRecord) => void;
  /** How much the server keeps. */
  readonly keeps: () => { readonly hours: number; readonly entries: number };
  /** What `saveWritten` and `saveRead` returned in an earlier run. */
  readonly saved: JsonRecord;
  /** What `saveWritten` returns has changed. */
  readonly onSaveable: () => void;
  /** What `saveRead` returns has changed. */
  readonly onRead: () => void;
  /** What `report` returns has changed. */
  readonly onChange: () => void;
}

export interface Fleet
  extends Pick<FleetWriter, "onChange" | "onTransition" | "onRefresh">,
    Pick<FleetPresence, "beat"> {
  readonly record: () => FleetRecord;
  /** The other members, as machines to follow, with what they call themselves. */
  members(): readonly (FleetMachine & { readonly suggestedName: string })[];
  /** `findWaits`: what waits on a machine, by its id. */
  report(findWaits: (machine: string) => MemberWaits): FleetReport;
  /** What this machine has said. */
  saveWritten(): JsonRecord;
  /** How far the others were followed: not to be saved before the history has everything up to there. */
  saveRead(): JsonRecord;
  stop(): Promise<void>;
}

/** Of one machine, until it reads them. */
const maxWaitingRequests = 200;
const trimMs = hourMs / 6;

export function openFleet(options: FleetOptions): Fleet {
  const { clock, schedule, name } = options;
  let record = options.record;
  const own = record.machine;
  const fleet = () => record;
  const places = createPlaces(record.id);
  const redis = openRedis(record);
  const peers = new Map<string, Peer>();
  const trim = createTrimmer(redis, places.log, options);
  let lastProblem: string | null = null;

  const writer = createFleetWriter({
    ...options,
    fleet,
    redis,
    hello: () => createHello(options),
    share: (described) => {
      const shared = shareSession(described, shareOf(record));
      return record.answers ? shared : { ...shared, answerable: [] };
    },
    maxEntries: () => options.keeps().entries,
    onChange() {
      options.onSaveable();
      reportProblem(writer.problem());
    },
  });

  const send = (head: RequestHead, message: Parameters<typeof formatText>[1]): void =>
    void writer
      .post("request", places.requestsTo(head.to), formatText(head, message), maxWaitingRequests)
      // Who waits for it is told that it is not known what became of it.
      .catch(() => {});

  const reader = createFleetReader({
    fleet,
    openRedis: () => openRedis(record),
    readMembers: updateMembers,
    peerOf: (machine) => peers.get(machine) ?? null,
    peers: () => peers,
    onRequest: createIncomingRequests({
      ...options,
      fleet,
      nextNumber: writer.nextNumber,
      reply: (to, message) => send({ to }, message),
    }),
    onConnected() {
      presence.beat();
      writer.flush();
    },
    onRead: options.onRead,
    onChange: () => options.onChange(),
    onProblem: (reason) => options.onProblem(`fleet ${name}: ${reason}`),
    position: typeof options.saved.position === "string" ? options.saved.position : null,
    schedule,
  });

  const presence = createFleetPresence({
    ...options,
    fleet,
    peers,
    isConnected: reader.isConnected,
    lastWritten: writer.lastWritten,
    write: (pulse) =>
      writer.post("pulse", places.pulses, JSON.stringify(pulse), Math.max(100, 4 * (peers.size + 1))),
    // With a new key first: the others see by it that there is one.
    before: () => updateMembers(redis),
    async after() {
      await writer.check();
      await trim();
    },
  });

  function updatePeers(): void {
    const { members } = record.members;
    for (const [id, peer] of peers) {
      if (members.some((member) => member.id === id)) continue;
      peer.lose("it was removed from the fleet");
      peers.delete(id);
    }
    const ownName = members.find(({ id }) => id === own)?.name ?? "";
    for (const { id } of members) {
      if (id === own || peers.has(id)) continue;
      const peer = createPeer({
        known: asRecord(asRecord(options.saved.states)[id]),
        clock,
        ownName,
        send: (request, ends) => send({ to: id, ends }, request),
        problem: reader.problem,
        schedule,
      });
      peers.set(id, peer);
    }
  }

  async function updateMembers(at: Redis): Promise<void> {
    const { fleet: now, problem, isRemoved } = await readMembers(at, record);
    if (isRemoved)
      throw new RedisProblem(
        `this machine was removed from it. Run: beckon fleet leave --fleet ${name}`,
        true,
      );
    if (problem !== null) reportProblem(problem);
    if (now === record) return;
    record = now;
    updatePeers();
    options.onMembers(record);
  }

  /** Once for each problem. */
  function reportProblem(problem: string | null): void {
    if (problem !== null && problem !== lastProblem) options.onProblem(`fleet ${name}: ${problem}`);
    lastProblem = problem;
    options.onChange();
  }

  updatePeers();

  return {
    record: fleet,
    onChange: writer.onChange,
    onTransition: writer.onTransition,
    onRefresh() {
      writer.onRefresh();
      presence.onRefresh();
    },
    beat: presence.beat,
    members: () =>
      record.members.members.flatMap(({ id, name: suggestedName, person }) => {
        const peer = peers.get(id);
        const { isTeller, findUserElsewhere } = presence;
        const about = { id, fleet: { name, kind: record.kind, person }, suggestedName };
        return peer ? [{ ...about, isTeller, findUserElsewhere, open: peer.follow }] : [];
      }),
    report: (findWaits) => ({
      name,
      state: reader.isConnected() ? "connected" : "not connected",
      problem: reader.problem() ?? writer.problem(),
      waiting: writer.waiting(),
      dropped: Object.fromEntries(reader.dropped()),
      members: record.members.members.map(({ id, name: called, person }) => {
        const isThere = id === own || peers.get(id)?.pulse() != null;
        return { id, name: called, person, isThere, ...findWaits(id) };
      }),
    }),
    saveWritten: writer.save,
    saveRead: () => ({
      position: reader.position(),
      states: Object.fromEntries([...peers].map(([machine, peer]) => [machine, peer.states()])),
    }),
    async stop() {
      await presence.stop();
      writer.stop();
      await reader.stop();
      redis.close();
    },
  };
}

/** Drops what is too old from the log, now and then. */
function createTrimmer(redis: Redis, log: string, { clock, keeps }: Pick<FleetOptions, "clock" | "keeps">) {
  let trimmedT = Number.NEGATIVE_INFINITY;
  return async (): Promise<void> => {
    if (clock().t - trimmedT < trimMs) return;
    trimmedT = clock().t;
    const oldest = Math.floor(clock().at - keeps().hours * hourMs);
    await redis.send("XTRIM", [log, "MINID", "~", String(oldest)]);
  };
}
