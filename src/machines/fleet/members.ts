/**
 * Who belongs to a fleet. The list has versions; each is signed by a member of the version before, and names it by its hash. A machine
 * keeps the version that it knows and goes only forward from it: a server that forgets, or hands out an older list, changes nothing.
 */
import { createHash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { parseJson } from "../../core/json.ts";
import { createSigner, createVerifier, isPublicKeys, type OwnKeys } from "./keys.ts";
import { machineIdShape } from "./seal.ts";

const key = Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" });
const name = Type.String({ minLength: 1, maxLength: 40 });

export const MemberSchema = Type.Object({
  id: Type.String({ pattern: machineIdShape.source }),
  name,
  /** Whose machine it is. */
  person: name,
  signing: key,
  opening: key,
});

export const MemberListSchema = Type.Object({
  version: Type.Integer({ minimum: 1 }),
  /** The hash of the version before; "" for the first. */
  before: Type.String({ maxLength: 64 }),
  epoch: Type.Integer({ minimum: 1, maximum: 0xffffffff }),
  /** The epoch's key for each member, encrypted for it alone. */
  keys: Type.Record(Type.String(), Type.String({ maxLength: 200 })),
  members: Type.Array(MemberSchema, { minItems: 1, maxItems: 10_000 }),
  /** Who made this version. */
  by: Type.String({ pattern: machineIdShape.source }),
});

export type Member = Static<typeof MemberSchema>;
export type MemberList = Static<typeof MemberListSchema>;

const signedText = (fleet: string, text: string): Buffer => Buffer.from(`beckon members ${fleet}\n${text}`);

export const hashList = (list: MemberList): string =>
  createHash("sha256").update(JSON.stringify(list)).digest("hex");

/** As it is kept at the server, inside of what is sealed. */
export function signList(fleet: string, list: MemberList, keys: OwnKeys): string {
  const text = JSON.stringify(list);
  return JSON.stringify({
    text,
    signature: createSigner(keys)(signedText(fleet, text)).toString("base64url"),
  });
}

const Signed = Type.Object({
  text: Type.String({ maxLength: 8 * 1024 * 1024 }),
  signature: Type.String({ maxLength: 100 }),
});

/** The list that follows `known`. A text says why it does not. */
export function readNextList(fleet: string, signed: string, known: MemberList): MemberList | string {
  const outer = parseJson(signed);
  if (!Check(Signed, outer)) return "the list of members is damaged";
  const list = parseJson(outer.text);
  if (!Check(MemberListSchema, list)) return "the list of members is not valid";
  const maker = known.members.find(({ id }) => id === list.by);
  if (!maker) return "the list of members was made by a machine that is not a member";
  const signature = Buffer.from(outer.signature, "base64url");
  if (!createVerifier(maker)(signedText(fleet, outer.text), signature))
    return "the list of members has a wrong signature";
  if (list.version !== known.version + 1 || list.before !== hashList(known))
    return "the list of members does not follow the one that is known here";
  if (list.epoch < known.epoch) return "the list of members goes back to an older key";
  return hasOddMember(list.members) ?? list;
}

function hasOddMember(members: readonly Member[]): string | null {
  if (new Set(members.map(({ id }) => id)).size !== members.length) return "a member is listed twice";
  const odd = members.find((member) => !isPublicKeys(member));
  return odd ? "a member has keys that are none" : null;
}
