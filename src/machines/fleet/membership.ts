/** How a machine comes into a fleet and leaves it: what `beckon fleet` does at the server. */
import { randomBytes } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { isRecord, parseJson } from "../../core/json.ts";
import type { FleetRecord } from "./fleet-file.ts";
import { readEpochKeys } from "./fleet-file.ts";
import {
  createInvitationSecret,
  type Invitation,
  invitationMs,
  nameInvitation,
  sayJoining,
} from "./invitation.ts";
import {
  createOwnKeys,
  decrypt,
  decryptOwn,
  deriveKey,
  encrypt,
  encryptFor,
  keyBytes,
  type OwnKeys,
} from "./keys.ts";
import {
  hashList,
  type Member,
  type MemberList,
  MemberListSchema,
  MemberSchema,
  readNextList,
  signList,
} from "./members.ts";
import { createPlaces } from "./places.ts";
import { type Redis, RedisProblem } from "./redis.ts";
import { createMachineId, createOpener, createSealer } from "./seal.ts";

export interface OwnMachine {
  /** What the others call it. */
  readonly name: string;
  readonly person: string;
}

const contextOf = (fleet: string, purpose: string): Buffer => Buffer.from(`beckon fleet ${fleet} ${purpose}`);
const wrapKey = (fleet: string, member: Member, key: Uint8Array): string =>
  encryptFor(member, contextOf(fleet, "key"), key).toString("base64url");

const createKey = (): Buffer => randomBytes(keyBytes);
const readKey = (text: string): Buffer => Buffer.from(text, "base64url");

type NewFleet = Pick<
  FleetRecord,
  "url" | "password" | "ca" | "certificate" | "key" | "kind" | "share" | "answers"
>;

/** A fleet of this machine alone. */
export async function createFleet(redis: Redis, own: OwnMachine, settings: NewFleet): Promise<FleetRecord> {
  const id = randomBytes(16).toString("hex");
  const keys = createOwnKeys();
  const machine = createMachineId();
  const { signing, opening } = keys;
  const member: Member = { id: machine, ...own, signing, opening };
  const key = createKey();
  const members: MemberList = {
    version: 1,
    before: "",
    epoch: 1,
    keys: { [machine]: wrapKey(id, member, key) },
    members: [member],
    by: machine,
  };
  const fleet: FleetRecord = {
    ...settings,
    id,
    machine,
    keys,
    members,
    epochKeys: { 1: key.toString("base64url") },
  };
  await writeList(redis, fleet, members);
  return fleet;
}

/** False if another machine has written a list of this version. */
async function writeList(redis: Redis, fleet: FleetRecord, list: MemberList): Promise<boolean> {
  const signed = signList(fleet.id, list, fleet.keys);
  // Sealed with the key that everybody has who may read it: the one before, for a new epoch.
  const epoch = fleet.members.epoch;
  const key = readEpochKeys(fleet).get(epoch);
  if (!key) throw new RedisProblem("this machine has no key of the fleet");
  const sealed = createSealer(fleet.id, fleet.machine, fleet.keys)
    .seal("members", { number: list.version, text: signed }, epoch, key)
    .toString("base64");
  const written = await redis.send("HSETNX", [createPlaces(fleet.id).members, String(list.version), sealed]);
  return Number(written) === 1;
}

const createOpenerOf = (fleet: FleetRecord) =>
  createOpener({
    fleet: fleet.id,
    keys: () => readEpochKeys(fleet),
    findMember: (id) => fleet.members.members.find((member) => member.id === id)?.signing ?? null,
  });

export interface ReadMembers {
  readonly fleet: FleetRecord;
  /** What is wrong with the next list; null if there is none, or nothing is. */
  readonly problem: string | null;
  /** This machine is not in the list any more. */
  readonly isRemoved: boolean;
}

/** Goes forward to the latest list of members at the server. */
export async function readMembers(redis: Redis, known: FleetRecord): Promise<ReadMembers> {
  const { members: place } = createPlaces(known.id);
  let fleet = known;
  for (;;) {
    const { version } = fleet.members;
    const sealed = await redis.send("HGET", [place, String(version + 1)]);
    if (typeof sealed !== "string") return { fleet, problem: null, isRemoved: false };
    const opened = createOpenerOf(fleet).open("members", Buffer.from(sealed, "base64"));
    if (typeof opened === "string")
      return { fleet, problem: `the list of members: ${opened}`, isRemoved: false };
    const list = readNextList(fleet.id, opened.text, fleet.members);
    if (typeof list === "string") return { fleet, problem: list, isRemoved: false };
    if (!list.members.some(({ id }) => id === fleet.machine))
      return { fleet, problem: null, isRemoved: true };
    const taken = takeList(fleet, list);
    if (taken === null)
      return { fleet, problem: "the fleet's new key is not for this machine", isRemoved: false };
    fleet = taken;
  }
}

/** null if its key cannot be opened here. */
function takeList(fleet: FleetRecord, list: MemberList): FleetRecord | null {
  if (list.epoch === fleet.members.epoch) return { ...fleet, members: list };
  const wrapped = Object.hasOwn(list.keys, fleet.machine) ? list.keys[fleet.machine] : undefined;
  const key = wrapped && decryptOwn(fleet.keys, contextOf(fleet.id, "key"), readKey(wrapped));
  if (!key) return null;
  // What was sealed with the key before is still on its way.
  const before = fleet.epochKeys[fleet.members.epoch] ?? "";
  return {
    ...fleet,
    members: list,
    epochKeys: { [fleet.members.epoch]: before, [list.epoch]: key.toString("base64url") },
  };
}

/** Changes the list; `change` gets the latest one, and may be called again when another machine was faster. */
async function changeMembers(
  redis: Redis,
  known: FleetRecord,
  change: (list: MemberList) => { readonly members: readonly Member[]; readonly hasNewKey: boolean },
): Promise<FleetRecord> {
  for (;;) {
    const { fleet, problem, isRemoved } = await readMembers(redis, known);
    if (problem !== null) throw new RedisProblem(problem, true);
    if (isRemoved) throw new RedisProblem("this machine was removed from the fleet", true);
    const { members, hasNewKey } = change(fleet.members);
    const epoch = fleet.members.epoch + (hasNewKey ? 1 : 0);
    const key = hasNewKey ? createKey() : readKey(fleet.epochKeys[epoch] ?? "");
    const list: MemberList = {
      version: fleet.members.version + 1,
      before: hashList(fleet.members),
      epoch,
      keys: Object.fromEntries(members.map((member) => [member.id, wrapKey(fleet.id, member, key)])),
      members: [...members],
      by: fleet.machine,
    };
    if (await writeList(redis, fleet, list))
      return {
        ...fleet,
        members: list,
        epochKeys: { ...fleet.epochKeys, [epoch]: key.toString("base64url") },
      };
  }
}

export const rotateKey = (redis: Redis, fleet: FleetRecord): Promise<FleetRecord> =>
  changeMembers(redis, fleet, ({ members }) => ({ members, hasNewKey: true }));

/** The others get a new key, which the removed one never had. */
export const removeMember = (redis: Redis, fleet: FleetRecord, id: string): Promise<FleetRecord> =>
  changeMembers(redis, fleet, ({ members }) => ({
    members: members.filter((member) => member.id !== id),
    hasNewKey: true,
  }));

/** The others should change the key afterwards: this machine has it. */
export async function leaveFleet(redis: Redis, fleet: FleetRecord): Promise<void> {
  if (fleet.members.members.length === 1) return;
  await changeMembers(redis, fleet, ({ members }) => ({
    members: members.filter(({ id }) => id !== fleet.machine),
    hasNewKey: false,
  }));
}

const sealOnce = (fleet: FleetRecord, text: string): string => {
  const { epoch } = fleet.members;
  const key = readEpochKeys(fleet).get(epoch) ?? new Uint8Array(keyBytes);
  return createSealer(fleet.id, fleet.machine, fleet.keys)
    .seal("members", { number: 0, text }, epoch, key)
    .toString("base64");
};

/** Any member can let the machine in that uses it. */
export async function inviteMachine(
  redis: Redis,
  fleet: FleetRecord,
  name: string,
  now: number,
): Promise<Invitation> {
  const secret = createInvitationSecret();
  const invitation: Invitation = {
    fleet: fleet.id,
    name,
    url: fleet.url,
    kind: fleet.kind,
    list: hashList(fleet.members),
    secret,
    ends: now + invitationMs,
  };
  const sealed = sealOnce(fleet, JSON.stringify({ secret, ends: invitation.ends, list: fleet.members }));
  await redis.send("HSET", [createPlaces(fleet.id).invitations, nameInvitation(secret), sealed]);
  return invitation;
}

const keyOf = (secret: string): Buffer =>
  deriveKey(Buffer.from(secret, "base64url"), Buffer.alloc(0), "invitation");

/** A machine that wants to come in. */
export interface Joining {
  readonly member: Member;
  readonly keys: OwnKeys;
  /** To be compared with what the other machine shows. */
  readonly words: string;
}

export async function askToJoin(
  redis: Redis,
  invitation: Invitation,
  own: OwnMachine,
  now: number,
): Promise<Joining> {
  const leftMs = invitation.ends - now;
  if (leftMs <= 0) throw new RedisProblem("this invitation has ended: ask for another one", true);
  const keys = createOwnKeys();
  const member: Member = { id: createMachineId(), ...own, signing: keys.signing, opening: keys.opening };
  const { asked } = createPlaces(invitation.fleet).joining(nameInvitation(invitation.secret));
  const text = encrypt(
    keyOf(invitation.secret),
    contextOf(invitation.fleet, "join"),
    Buffer.from(JSON.stringify(member)),
  );
  const set = await redis.send("SET", [asked, text.toString("base64"), "NX", "PX", String(leftMs)]);
  if (set !== "OK")
    throw new RedisProblem("this invitation is in use on another machine: ask for another one", true);
  return { member, keys, words: sayJoining(invitation, member) };
}

/** A machine that waits for a member's yes. */
export interface Waiting {
  readonly invitation: string;
  readonly secret: string;
  readonly member: Member;
  readonly words: string;
  /** The list that the invitation names. */
  readonly list: MemberList;
}

const Invited = Type.Object({ secret: Type.String(), ends: Type.Number(), list: MemberListSchema });

/** Invitations that have ended are removed. */
export async function listWaiting(redis: Redis, fleet: FleetRecord, now: number): Promise<Waiting[]> {
  const places = createPlaces(fleet.id);
  const opener = createOpenerOf(fleet);
  const all = await redis.send("HGETALL", [places.invitations]);
  const waiting: Waiting[] = [];
  for (const [invitation, sealed] of Object.entries(isRecord(all) ? all : {})) {
    const opened = opener.open("members", Buffer.from(String(sealed), "base64"));
    const invited = typeof opened === "string" ? null : parseJson(opened.text);
    if (!Check(Invited, invited) || invited.ends < now || nameInvitation(invited.secret) !== invitation) {
      await redis.send("HDEL", [places.invitations, invitation]);
      continue;
    }
    const { secret, list } = invited;
    const asked = await redis.send("GET", [places.joining(invitation).asked]);
    if (typeof asked !== "string") continue;
    const plain = decrypt(keyOf(secret), contextOf(fleet.id, "join"), Buffer.from(asked, "base64"));
    const member = plain && parseJson(plain.toString());
    if (!Check(MemberSchema, member)) continue;
    waiting.push({
      invitation,
      secret,
      member,
      list,
      words: sayJoining({ fleet: fleet.id, secret }, member),
    });
  }
  return waiting;
}

const Welcome = Type.Object({
  /** From the list that the invitation names to the one that has the new machine. */
  lists: Type.Array(Type.String(), { maxItems: 1_000 }),
  first: MemberListSchema,
  epochKey: Type.String(),
});
type Welcome = Static<typeof Welcome>;

/** Lets the machine in. */
export async function welcome(
  redis: Redis,
  known: FleetRecord,
  { invitation, member, list }: Waiting,
): Promise<FleetRecord> {
  const places = createPlaces(known.id);
  // Once: the member that removes the invitation lets the machine in.
  if (Number(await redis.send("HDEL", [places.invitations, invitation])) !== 1)
    throw new RedisProblem("this invitation was used already", true);
  const fleet = await changeMembers(redis, known, ({ members }) => ({
    members: [...members.filter(({ id }) => id !== member.id), member],
    hasNewKey: false,
  }));
  const lists = await readSignedLists(redis, fleet, list.version + 1);
  const text: Welcome = { first: list, lists, epochKey: fleet.epochKeys[fleet.members.epoch] ?? "" };
  const answer = encryptFor(member, contextOf(fleet.id, "welcome"), Buffer.from(JSON.stringify(text)));
  const { answered, asked } = places.joining(invitation);
  await redis.send("SET", [answered, answer.toString("base64"), "PX", String(invitationMs)]);
  await redis.send("DEL", [asked]);
  return fleet;
}

/** The lists as their makers signed them, from this version on. */
async function readSignedLists(redis: Redis, fleet: FleetRecord, from: number): Promise<string[]> {
  const { members: place } = createPlaces(fleet.id);
  const opener = createOpenerOf(fleet);
  const lists: string[] = [];
  for (let version = from; version <= fleet.members.version; version++) {
    const sealed = await redis.send("HGET", [place, String(version)]);
    const opened = opener.open("members", Buffer.from(String(sealed), "base64"));
    if (typeof opened === "string") throw new RedisProblem(`the list of members: ${opened}`, true);
    lists.push(opened.text);
  }
  return lists;
}

type JoinSettings = Pick<FleetRecord, "password" | "ca" | "certificate" | "key" | "share" | "answers">;

/** null while no member has said yes. Throws if what came is not from a member. */
export async function readWelcome(
  redis: Redis,
  invitation: Invitation,
  joining: Joining,
  settings: JoinSettings,
): Promise<FleetRecord | null> {
  const { fleet: id, url, kind } = invitation;
  const { answered } = createPlaces(id).joining(nameInvitation(invitation.secret));
  const answer = await redis.send("GET", [answered]);
  if (typeof answer !== "string") return null;
  const plain = decryptOwn(joining.keys, contextOf(id, "welcome"), Buffer.from(answer, "base64"));
  const welcomed = plain && parseJson(plain.toString());
  if (!Check(Welcome, welcomed) || hashList(welcomed.first) !== invitation.list)
    throw new RedisProblem("what came is not from a member of the fleet", true);
  let members = welcomed.first;
  for (const signed of welcomed.lists) {
    const next = readNextList(id, signed, members);
    if (typeof next === "string") throw new RedisProblem(next, true);
    members = next;
  }
  const machine = joining.member.id;
  const own = members.members.find((member) => member.id === machine);
  if (own?.signing !== joining.keys.signing || own.opening !== joining.keys.opening)
    throw new RedisProblem("the list of members does not have this machine", true);
  await redis.send("DEL", [answered]);
  const epochKeys = { [members.epoch]: welcomed.epochKey };
  return { ...settings, id, url, kind, machine, keys: joining.keys, members, epochKeys };
}
