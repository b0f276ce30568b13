/**
 * What a machine says to its fleet, as the server of Redis keeps it: signed by the machine, then encrypted with the fleet's key. The
 * server sees how long it is and when it came.
 *
 *   sealed = 1 | epoch (4 bytes) | salt (16) | nonce | encrypted { signature (64) | machine (8) | number (8) | text } | tag
 *
 * Each entry has a key of its own, made from the fleet's key and the salt: no nonce can be used twice with one key, however many
 * machines write.
 */
import { randomBytes } from "node:crypto";
import {
  createSigner,
  createThreadedVerifier,
  createVerifier,
  decrypt,
  deriveKey,
  encrypt,
  type OwnKeys,
} from "./keys.ts";

/** Where it is written: what is sealed for one place cannot be put into another. */
export type SealedPlace = "log" | "request" | "members" | "pulse";

/** Bytes of a machine's id, which is written in hexadecimal digits. */
const machineBytes = 8;
export const machineIdShape = /^[0-9a-f]{16}$/;
export const createMachineId = (): string => randomBytes(machineBytes).toString("hex");

export interface SealedEntry {
  readonly machine: string;
  /** Grows with each entry of the machine, also over its restarts. */
  readonly number: number;
  readonly text: string;
}

const format = 1;
const saltBytes = 16;
const signatureBytes = 64;
const headBytes = 1 + 4 + saltBytes;
const innerBytes = signatureBytes + machineBytes + 8;

function writeHead(epoch: number): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(format);
  head.writeUInt32BE(epoch, 1);
  randomBytes(saltBytes).copy(head, 5);
  return head;
}

/** Everything that is signed or bound and not inside the text. */
const createContext = (fleet: string, place: SealedPlace, head: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`beckon fleet ${fleet} ${place}\n`), head]);

/** The key of each epoch: it changes when a machine is removed, or the user says so. */
export type EpochKeys = ReadonlyMap<number, Uint8Array>;

export interface Sealer {
  seal(place: SealedPlace, entry: Omit<SealedEntry, "machine">, epoch: number, key: Uint8Array): Buffer;
}

export function createSealer(fleet: string, machine: string, keys: OwnKeys): Sealer {
  const sign = createSigner(keys);
  const id = Buffer.from(machine, "hex");
  return {
    seal(place, { number, text }, epoch, key) {
      const head = writeHead(epoch);
      const context = createContext(fleet, place, head);
      const count = Buffer.alloc(8);
      count.writeBigUInt64BE(BigInt(number));
      const said = Buffer.concat([id, count, Buffer.from(text)]);
      const signature = sign(Buffer.concat([context, said]));
      const own = deriveKey(key, head.subarray(5), "entry");
      return Buffer.concat([head, encrypt(own, context, Buffer.concat([signature, said]))]);
    },
  };
}

/** Why an entry counts for nothing. */
export type Fault = "damaged" | "unknown key" | "not a member" | "wrong signature";

export interface Opener {
  open(place: SealedPlace, sealed: Uint8Array): SealedEntry | Fault;
  /** The same for many, with the help of other threads. */
  openMany(place: SealedPlace, sealed: readonly Uint8Array[]): Promise<readonly (SealedEntry | Fault)[]>;
}

/** An entry that somebody with the fleet's key has written: its signature says whether it was the machine that it names. */
interface UnverifiedEntry extends SealedEntry {
  readonly signed: Buffer<ArrayBuffer>;
  readonly signature: Buffer<ArrayBuffer>;
  /** The machine's key. */
  readonly signing: string;
}

export interface OpenerOptions {
  readonly fleet: string;
  readonly keys: () => EpochKeys;
  /** The signing key of a member; null for everybody else. */
  readonly findMember: (machine: string) => string | null;
}

export function createOpener({ fleet, keys, findMember }: OpenerOptions): Opener {
  const verifierOf = createKnown((signing) => createVerifier({ signing }));
  const threadedVerifierOf = createKnown((signing) => createThreadedVerifier({ signing }));

  function read(place: SealedPlace, sealed: Uint8Array): UnverifiedEntry | Fault {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes.length < headBytes || bytes.readUInt8() !== format) return "damaged";
    const key = keys().get(bytes.readUInt32BE(1));
    if (!key) return "unknown key";
    const head = bytes.subarray(0, headBytes);
    const context = createContext(fleet, place, head);
    const plain = decrypt(deriveKey(key, head.subarray(5), "entry"), context, bytes.subarray(headBytes));
    if (!plain || plain.length < innerBytes) return "damaged";
    const said = plain.subarray(signatureBytes);
    const machine = said.subarray(0, machineBytes).toString("hex");
    const signing = findMember(machine);
    if (signing === null) return "not a member";
    return {
      machine,
      number: Number(said.readBigUInt64BE(machineBytes)),
      text: said.subarray(machineBytes + 8).toString(),
      signed: Buffer.concat([context, said]),
      signature: plain.subarray(0, signatureBytes),
      signing,
    };
  }

  const judge = ({ machine, number, text }: UnverifiedEntry, isTrue: boolean): SealedEntry | Fault =>
    isTrue ? { machine, number, text } : "wrong signature";

  return {
    open(place, sealed) {
      const entry = read(place, sealed);
      if (typeof entry === "string") return entry;
      return judge(entry, verifierOf(entry.signing)(entry.signed, entry.signature));
    },
    openMany: (place, all) =>
      Promise.all(
        all.map(async (sealed) => {
          const entry = read(place, sealed);
          if (typeof entry === "string") return entry;
          const { machine, signing, signed, signature } = entry;
          // A key that this cannot use must not spoil what others wrote.
          const isTrue = await threadedVerifierOf(signing)(signed, signature).catch(() => false);
          // It may have been removed meanwhile.
          return findMember(machine) === signing ? judge(entry, isTrue) : "not a member";
        }),
      ),
  };
}

/** Reading a key takes longer than what is done with it, and a member's never changes. */
function createKnown<Verifier>(create: (signing: string) => Verifier): (signing: string) => Verifier {
  const known = new Map<string, Verifier>();
  return (signing) => {
    const found = known.get(signing) ?? create(signing);
    known.set(signing, found);
    return found;
  };
}
