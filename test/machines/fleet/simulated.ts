/** Machines of a fleet that are not there: their records, and what they would write. */
import type { FleetRecord } from "../../../src/machines/fleet/fleet-file.ts";
import { createOwnKeys } from "../../../src/machines/fleet/keys.ts";
import type { Member, MemberList } from "../../../src/machines/fleet/members.ts";
import { createPlaces } from "../../../src/machines/fleet/places.ts";
import { createMachineId, createSealer } from "../../../src/machines/fleet/seal.ts";
import { formatText } from "../../../src/machines/fleet/wire.ts";
import { type OwnerMessage, protocolVersion } from "../../../src/machines/protocol.ts";
import { blocked, minute } from "../../core/view/menu/fixture.ts";
import { noCertificates } from "./redis-server.ts";

/** Records of machines that are all in one fleet. */
export function createFleetRecords(url: string, count: number): FleetRecord[] {
  const id = crypto.randomUUID().replaceAll("-", "");
  const machines = Array.from({ length: count }, (_, n) => ({
    keys: createOwnKeys(),
    id: createMachineId(),
    name: `m${n}`,
  }));
  const members: Member[] = machines.map(({ keys, ...rest }) => ({
    ...rest,
    person: "kim",
    signing: keys.signing,
    opening: keys.opening,
  }));
  const by = members[0]?.id ?? "";
  const list: MemberList = { version: 1, before: "", epoch: 1, keys: {}, members, by };
  const epochKeys = { 1: createOwnKeys().signing };
  const settings = {
    ...noCertificates,
    url,
    password: null,
    kind: "personal",
    share: "full",
    answers: true,
  } as const;
  return machines.map(({ id: machine, keys }) => ({
    ...settings,
    id,
    machine,
    keys,
    members: list,
    epochKeys,
  }));
}

export interface SimulatedMachine {
  /** What it has sealed for the next change of one of its sessions, which happens at this wall time. */
  change(session: number, prompt: string, at?: number): string;
  hello(): string;
  pulse(): string;
  readonly now: string;
  last: number;
}

export function simulateMachine(record: FleetRecord): SimulatedMachine {
  const sealer = createSealer(record.id, record.machine, record.keys);
  const key = Buffer.from(record.epochKeys[1] ?? "", "base64url");
  let number = Date.now() * 1_000;
  let before: number | null = null;
  const clocks = () => ({ at: Date.now(), t: performance.now() });
  function seal(message: OwnerMessage, at = Date.now()): string {
    const head = { ...clocks(), at, before };
    const own = ++number;
    before = own;
    simulated.last = own;
    return sealer.seal("log", { number: own, text: formatText(head, message) }, 1, key).toString("base64");
  }
  const facts = {
    protocol: protocolVersion,
    version: "1",
    machineId: record.machine,
    agents: [],
    hasChannels: false,
  };
  const simulated: SimulatedMachine = {
    now: createPlaces(record.id).nowOf(record.machine),
    last: 0,
    change: (n, prompt, at) =>
      seal(
        {
          kind: "session",
          seq: number + 1,
          described: {
            session: { ...blocked("shop", minute), sessionId: `s${n}`, newest: 1, lastPrompt: prompt },
            answerable: [],
          },
        },
        at,
      ),
    hello: () => seal({ kind: "hello", now: clocks(), ...facts }),
    pulse: () =>
      sealer
        .seal(
          "pulse",
          { number: Date.now() * 1_000, text: JSON.stringify({ ...clocks(), hasChannels: false }) },
          1,
          key,
        )
        .toString("base64"),
  };
  return simulated;
}
