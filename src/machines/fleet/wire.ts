/**
 * What is inside of what is sealed: a line about the entry, then a line of the protocol that links speak too. Both are checked: a member
 * is a stranger too.
 */
import { type Static, Type } from "@sinclair/typebox";
import { parseJson } from "../../core/json.ts";
import {
  createCheck,
  type FollowerMessage,
  formatMessage,
  type OwnerMessage,
  parseFollowerMessage,
  parseOwnerMessage,
} from "../protocol.ts";
import { machineIdShape } from "./seal.ts";

/** The machine's clocks when it made the entry. */
const clocks = { at: Type.Number(), t: Type.Number() };
const machine = Type.String({ pattern: machineIdShape.source });

const LogHead = Type.Object({
  ...clocks,
  /** The number of the machine's entry before; null if this is the first of its run. A gap shows that one was lost. */
  before: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  /** Newer states of the session follow: it came when the server was away, and is for the history. */
  isLate: Type.Optional(Type.Literal(true)),
});

const RequestHead = Type.Object({
  to: machine,
  /** When it counts no more, on the clock of the machine that it is for. Absent in a reply. */
  ends: Type.Optional(Type.Number()),
});

const Pulse = Type.Object({
  ...clocks,
  /** It stops. */
  isLast: Type.Optional(Type.Literal(true)),
  /** The number of the last entry that it has written to the log. */
  last: Type.Optional(Type.Integer({ minimum: 0 })),
  /** It tells its user by phone or chat, and that works. */
  hasChannels: Type.Boolean(),
  /** How long ago the last input of its user was; null if they are not there. Absent where nobody may know. */
  inputAgoMs: Type.Optional(Type.Union([Type.Number({ minimum: 0 }), Type.Null()])),
});

export type LogHead = Static<typeof LogHead>;
export type RequestHead = Static<typeof RequestHead>;
export type Pulse = Static<typeof Pulse>;

export interface LogText {
  readonly head: LogHead;
  readonly message: OwnerMessage;
}

/** What a machine asks of another: what its user wants done, or what it has missed. */
export type FleetRequest = Exclude<FollowerMessage, { kind: "everything" }>;
export type FleetReply = Extract<OwnerMessage, { kind: "reply" | "missed" }>;

export type RequestText =
  | { readonly head: RequestHead; readonly reply: FleetReply }
  | { readonly head: RequestHead; readonly request: FleetRequest };

export const formatText = (head: object, message: Parameters<typeof formatMessage>[0]): string =>
  `${JSON.stringify(head)}\n${formatMessage(message)}`;

const isLogHead = createCheck(LogHead);
const isRequestHead = createCheck(RequestHead);
const isPulse = createCheck(Pulse);

function splitText<Head>(
  isHead: (value: unknown) => value is Head,
  text: string,
): readonly [Head, string] | null {
  const end = text.indexOf("\n");
  const head = end < 0 ? null : parseJson(text.slice(0, end));
  return isHead(head) ? [head, text.slice(end + 1).trimEnd()] : null;
}

/** null if it makes no sense, or is of a kind that is not known. */
export function parseLogText(text: string): LogText | null {
  const split = splitText(isLogHead, text);
  const message = split && parseOwnerMessage(split[1]);
  return split && message && typeof message !== "string" ? { head: split[0], message } : null;
}

export function parseRequestText(text: string): RequestText | null {
  const split = splitText(isRequestHead, text);
  if (!split) return null;
  const [head, line] = split;
  // Only a request has to be done in time.
  if (head.ends === undefined) {
    const reply = parseOwnerMessage(line);
    if (!reply || typeof reply === "string") return null;
    return reply.kind === "reply" || reply.kind === "missed" ? { head, reply } : null;
  }
  const request = parseFollowerMessage(line);
  if (!request || typeof request === "string" || request.kind === "everything") return null;
  return { head, request };
}

export function parsePulse(text: string): Pulse | null {
  const pulse = parseJson(text);
  return isPulse(pulse) ? pulse : null;
}
