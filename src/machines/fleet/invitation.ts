/**
 * An invitation to a fleet: where it is, which list of members the new machine can trust, and a secret that hides what the two machines
 * say to each other until the new one is a member. It works once, for ten minutes.
 */
import { createHash, randomBytes } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { parseJson } from "../../core/json.ts";
import type { PublicKeys } from "./keys.ts";
import { sayWords } from "./spoken-words.ts";

export const invitationMs = 10 * 60_000;
const secretBytes = 16;
const start = "beckon-fleet-";

const Invitation = Type.Object({
  fleet: Type.String({ pattern: "^[0-9a-f]{32}$" }),
  name: Type.String({ minLength: 1, maxLength: 40 }),
  url: Type.String({ maxLength: 500 }),
  kind: Type.Union([Type.Literal("personal"), Type.Literal("team")]),
  /** The hash of the list of members. */
  list: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  secret: Type.String({ pattern: "^[A-Za-z0-9_-]{22}$" }),
  /** Wall time. */
  ends: Type.Integer(),
});

export type Invitation = Static<typeof Invitation>;

export const createInvitationSecret = (): string => randomBytes(secretBytes).toString("base64url");

/** The invitation's name at the server, which says nothing about its secret. */
export const nameInvitation = (secret: string): string =>
  createHash("sha256").update(`beckon invitation ${secret}`).digest("hex").slice(0, 32);

export const formatInvitation = (invitation: Invitation): string =>
  start + Buffer.from(JSON.stringify(invitation)).toString("base64url");

/** null if the text is not an invitation. */
export function readInvitation(text: string): Invitation | null {
  const trimmed = text.trim();
  if (!trimmed.startsWith(start)) return null;
  const value = parseJson(Buffer.from(trimmed.slice(start.length), "base64url").toString());
  return Check(Invitation, value) ? value : null;
}

/** Both users see the same words only if both machines have the same keys before them. */
export function sayJoining(
  invitation: Pick<Invitation, "fleet" | "secret">,
  joining: PublicKeys & { readonly id: string },
): string {
  const { fleet, secret } = invitation;
  const { id, signing, opening } = joining;
  const said = ["beckon join", fleet, nameInvitation(secret), id, signing, opening].join("\n");
  return sayWords(createHash("sha256").update(said).digest());
}
