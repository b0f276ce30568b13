/** The fleets that this machine is in, with its keys and the server's password. Only its owner may read the file. */
import { dirname } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { asRecord } from "../../core/json.ts";
import { ensurePrivateFolder } from "../../storage/files.ts";
import { loadJsonState, saveJsonState } from "../../storage/json-state.ts";
import type { Paths } from "../../storage/paths.ts";
import { MemberListSchema } from "./members.ts";
import { type EpochKeys, machineIdShape } from "./seal.ts";

const text = Type.String({ minLength: 1, maxLength: 4_096 });
const secret = Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" });
const pem = Type.Union([Type.String({ maxLength: 64 * 1024 }), Type.Null()]);

const FleetRecord = Type.Object({
  /** Its name at the server. */
  id: Type.String({ pattern: "^[0-9a-f]{32}$" }),
  url: text,
  password: Type.Union([text, Type.Null()]),
  ca: pem,
  certificate: pem,
  key: pem,
  /** Personal: the machines of one person, who may answer from each. A team: everybody sees who is blocked. */
  kind: Type.Union([Type.Literal("personal"), Type.Literal("team")]),
  /** What of its sessions this machine shows to the others. */
  share: Type.Union([Type.Literal("minimal"), Type.Literal("summary"), Type.Literal("full")]),
  /** Whether the other machines of this person may answer here. */
  answers: Type.Boolean(),
  /** This machine's id in the fleet. */
  machine: Type.String({ pattern: machineIdShape.source }),
  keys: Type.Object({ signing: secret, opening: secret, secretSigning: secret, secretOpening: secret }),
  /** The latest list of members that this machine knows. */
  members: MemberListSchema,
  /** The fleet's key in each epoch that is still read. */
  epochKeys: Type.Record(Type.String({ pattern: "^[1-9][0-9]*$" }), secret),
});

export type FleetRecord = Static<typeof FleetRecord>;
export type FleetRecords = Readonly<Record<string, FleetRecord>>;

export function readFleets({ fleets: path }: Pick<Paths, "fleets">): {
  readonly fleets: FleetRecords;
  readonly problem: string | null;
} {
  const { value, problem } = loadJsonState(path, { readOnly: true });
  const entries = Object.entries(asRecord(value.fleets)).flatMap(([name, record]): [string, FleetRecord][] =>
    Check(FleetRecord, record) ? [[name, record]] : [],
  );
  return { fleets: Object.fromEntries(entries), problem };
}

/** `change` gets the fleets as they are now. Throws if the file is damaged: its keys would be lost. */
export function changeFleets(
  paths: Pick<Paths, "fleets">,
  change: (fleets: FleetRecords) => FleetRecords,
): void {
  const { fleets, problem } = readFleets(paths);
  if (problem !== null) throw new Error(problem);
  ensurePrivateFolder(dirname(paths.fleets));
  saveJsonState(paths.fleets, { fleets: change(fleets) });
}

/** The key of each epoch, now. Reading the keys takes longer than opening an entry with one. */
export function createEpochKeys(fleet: () => FleetRecord): () => EpochKeys {
  let known: { readonly from: FleetRecord; readonly keys: EpochKeys } | null = null;
  return () => {
    const from = fleet();
    if (known?.from !== from) known = { from, keys: readEpochKeys(from) };
    return known.keys;
  };
}

export const readEpochKeys = ({ epochKeys }: FleetRecord): EpochKeys =>
  new Map(Object.entries(epochKeys).map(([epoch, key]) => [Number(epoch), Buffer.from(key, "base64url")]));
