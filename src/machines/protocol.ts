/**
 * What two machines say to each other: JSON, one message a line. The machine that runs the sessions (the owner) describes them; the
 * one that shows them too (the follower) asks for what the user wants. Neither trusts the other to keep to this: every line is
 * checked, and a kind that is not known is ignored, so that a newer beckon can be linked to an older one.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import { isNestedDeeper, isRecord, parseJson } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { connectionShape } from "../core/terminals/ssh.ts";

export const protocolVersion = 1;
/** The oldest version that this one understands. */
export const minProtocolVersion = 1;

/** A session with everything that is asked of the user has some KB; a long diff has some hundred. */
export const maxLineBytes = 2 * 1024 * 1024;
export const maxMirroredSessions = 2_000;
/** Of one session, in one message. */
export const maxPastAsks = 500;
export const maxPastSpans = 2_000;
const maxPastSessions = 500;

const id = Type.String({ minLength: 1, maxLength: limits.maxIdLength });
const text = Type.String({ maxLength: limits.maxTextLength });
const longText = Type.String({ maxLength: 256 * 1024 });
/** Shown as it is. */
const version = Type.String({ pattern: "^[\\w.+-]{1,64}$" });
const agentId = Type.String({ pattern: "^[a-z][a-z0-9-]{0,31}$" });
const moment = Type.Object({ at: Type.Number(), t: Type.Number() });
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const Question = Type.Object({
  header: text,
  question: longText,
  options: Type.Array(Type.Object({ label: longText, description: longText }), {
    maxItems: limits.maxOptions,
  }),
  isMultiple: Type.Boolean(),
});

const oneOf = <Value extends string>(values: readonly Value[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));

const AskKind = oneOf(["permission", "question", "plan", "elicitation", "idle"] as const);
const SpanState = oneOf(["working", "waiting", "ready", "failed"] as const);

const Details = Type.Object({
  kind: AskKind,
  tool: orNull(text),
  heading: longText,
  isGenericHeading: Type.Optional(Type.Literal(true)),
  startsWithSubject: Type.Optional(Type.Literal(true)),
  lines: Type.Array(longText, { maxItems: 20_000 }),
  otherChangesAt: Type.Optional(Type.Integer({ minimum: 0 })),
  isWhole: Type.Boolean(),
  dangers: Type.Array(text, { maxItems: limits.maxHookItems }),
  always: Type.Array(longText, { maxItems: limits.maxHookItems }),
  questions: Type.Array(Question, { maxItems: limits.maxOptions }),
  takesNoReason: Type.Optional(Type.Literal(true)),
});

/** What can be answered. The id is the ask's own, in the session beside it. */
const DescribedAsk = Type.Object({
  id,
  answerId: Type.String({ minLength: 1, maxLength: 2 * limits.maxIdLength }),
  details: Details,
  /** For what leaves the follower's machine: without secrets. */
  masked: Type.Object({ details: orNull(Details), hasSecret: Type.Boolean() }),
});

/** The session is checked with the snapshot's schema (state/session-schema.ts). */
const DescribedSession = Type.Object({
  session: Type.Record(Type.String(), Type.Unknown()),
  answerable: Type.Array(DescribedAsk, { maxItems: limits.maxOpenAsks }),
});

/** Names a point of what the owner says. It grows over restarts of the owner too. */
const seq = Type.Integer({ minimum: 0 });

const PastAsk = Type.Object({
  request: orNull(id),
  kind: AskKind,
  agentId: orNull(id),
  tool: orNull(text),
  summary: text,
  openedAt: Type.Number(),
  closedAt: orNull(Type.Number()),
  waitedMs: orNull(Type.Number({ minimum: 0 })),
  /** One of askEndings: a newer beckon may know more. */
  how: orNull(text),
  place: orNull(text),
  detail: orNull(longText),
});

/** What the owner's history has of a session. */
const PastSession = Type.Object({
  agent: id,
  sessionId: id,
  project: orNull(text),
  cwd: orNull(Type.String({ maxLength: limits.maxPathLength })),
  branch: orNull(text),
  title: orNull(text),
  model: orNull(text),
  startedAt: Type.Number(),
  lastAt: Type.Number(),
  endedAt: orNull(Type.Number()),
  attended: orNull(Type.Boolean()),
  tokens: orNull(Type.Integer({ minimum: 0 })),
  costMicros: orNull(Type.Integer({ minimum: 0 })),
  asks: Type.Array(PastAsk, { maxItems: maxPastAsks }),
  spans: Type.Array(Type.Object({ state: SpanState, from: Type.Number(), to: orNull(Type.Number()) }), {
    maxItems: maxPastSpans,
  }),
});

/** `SSH_CONNECTION` of the login in which a pane is seen. */
const login = Type.String({ pattern: connectionShape.source });

/** It is part of a command that beckon prints. */
const promptId = Type.String({ pattern: "^[0-9a-f]{8}$" });

const Outcome = Type.Union([
  /** `logins`: those whose terminals show the session's pane. */
  Type.Object({
    ok: Type.Literal(true),
    says: text,
    logins: Type.Optional(Type.Array(login, { maxItems: 8 })),
    /** What became of a prompt. */
    prompt: Type.Optional(
      Type.Object({
        id: promptId,
        state: oneOf(["queued", "sent", "delivered", "not taken", "unknown"] as const),
        says: text,
      }),
    ),
  }),
  /** Refused, with the HTTP status that the same request gets at the owner's own API. */
  Type.Object({ ok: Type.Literal(false), status: Type.Integer(), says: text }),
]);

/** What the owner says. */
const ownerMessages = {
  /** First. `now` is the owner's clock when it was sent. */
  hello: Type.Object({
    protocol: Type.Integer(),
    version,
    /** Names the installation, so that a machine is not linked twice. */
    machineId: id,
    now: moment,
    agents: Type.Array(agentId, { maxItems: 64 }),
    /** It tells the user by phone or chat itself, and that works as far as it knows. */
    hasChannels: Type.Boolean(),
  }),
  /** That has changed. */
  channels: Type.Object({ areWorking: Type.Boolean() }),
  /**
   * What its sessions did after the follower's `resume`, as its history has it, in one message or several: the last is not a part. The
   * follower may know some of it. `upTo`: messages up to this number are about what was in the history then.
   */
  missed: Type.Object({
    sessions: Type.Array(PastSession, { maxItems: maxPastSessions }),
    isPart: Type.Optional(Type.Literal(true)),
    upTo: Type.Optional(seq),
  }),
  /** Every session, in one message or several: the last is not a part. Those that are in none of them are gone. */
  sessions: Type.Object({
    seq,
    sessions: Type.Array(DescribedSession, { maxItems: maxMirroredSessions }),
    isPart: Type.Optional(Type.Literal(true)),
  }),
  session: Type.Object({ seq, described: DescribedSession }),
  gone: Type.Object({ seq, agent: id, sessionId: id }),
  /** How an ask ended. Its session was described without it before. */
  "ask-ended": Type.Object({
    seq,
    agent: id,
    sessionId: id,
    ask: id,
    how: text,
    /** "terminal", "menu on laptop"; null if nobody answered. */
    where: orNull(text),
  }),
  reply: Type.Object({ to: id, outcome: Outcome }),
  alive: Type.Object({}),
  /** Last: why it ends the link. The same would happen again. */
  refused: Type.Object({ says: text }),
} as const;

const Answer = Type.Union([
  Type.Object({ do: Type.Literal("allow") }),
  Type.Object({ do: Type.Literal("always"), choice: Type.Integer({ minimum: 0 }) }),
  Type.Object({
    do: Type.Literal("deny"),
    message: orNull(Type.String({ maxLength: limits.maxAnswerLength })),
  }),
  Type.Object({
    do: Type.Literal("reply"),
    replies: Type.Array(
      Type.Array(Type.String({ maxLength: limits.maxAnswerLength }), { maxItems: limits.maxOptions }),
      { maxItems: limits.maxOptions },
    ),
  }),
]);

const Step = Type.Object({
  front: oneOf(["notification", "menu", "command line", "list", "page", "channel", "API", "rule"] as const),
  by: Type.Optional(text),
  isWholeShown: Type.Boolean(),
  shownMs: orNull(Type.Number()),
  isConfirmed: Type.Boolean(),
  hasSecret: Type.Optional(Type.Boolean()),
  refusesMarked: Type.Optional(Type.Boolean()),
});

/** What the follower says. */
const followerMessages = {
  /** First. `name` is the user's name for the follower's machine, for the owner's log. */
  hello: Type.Object({
    protocol: Type.Integer(),
    version,
    name: text,
    /** Names the link: the owner ends an older one with the same id, of which it may not know yet that it is lost. */
    linkId: Type.Optional(id),
    /** How far the follower has followed the machine with this id. Absent if it never has. */
    resume: Type.Optional(Type.Object({ machineId: id, seq })),
    /** It wants to see the test sessions of the owner's `beckon doctor` too. */
    seesProbes: Type.Optional(Type.Boolean()),
  }),
  /** `id` names the request in its reply. */
  answer: Type.Object({ id, agent: id, sessionId: id, answerId: text, answer: Answer, step: Step }),
  focus: Type.Object({ id, agent: id, sessionId: id }),
  /** In which logins is its pane seen now? */
  look: Type.Object({ id, agent: id, sessionId: id }),
  /** The session's next prompt, not before `afterMs` from now. One that comes again with the same `promptId` is not sent again. */
  send: Type.Object({
    id,
    promptId,
    agent: id,
    sessionId: id,
    text: Type.String({ minLength: 1, maxLength: limits.maxSentPromptLength }),
    when: oneOf(["now", "idle", "quota"] as const),
    afterMs: orNull(Type.Number({ minimum: 0 })),
    by: text,
  }),
  /** Something was lost on the way here: describe all sessions again. */
  everything: Type.Object({}),
} as const;

type MessageOf<Schemas extends Record<string, TSchema>> = {
  [Kind in keyof Schemas & string]: { readonly kind: Kind } & Static<Schemas[Kind]>;
}[keyof Schemas & string];

export type OwnerMessage = MessageOf<typeof ownerMessages>;
export type FollowerMessage = MessageOf<typeof followerMessages>;
/** What its user wants done. */
export type FollowerRequest = Extract<FollowerMessage, { kind: "answer" | "focus" | "look" | "send" }>;
export type RequestOutcome = Static<typeof Outcome>;
export type DescribedSession = Static<typeof DescribedSession>;
export type DescribedPast = Static<typeof PastSession>;
export type DescribedAsk = Static<typeof DescribedAsk>;

/** No message is nested deeper; a short line may be: it costs nothing to read. */
const maxDepth = 64;
const safeLength = 16 * 1024;

/** Compiling a schema takes some milliseconds; after that, checking takes a fraction of the time. A few messages are checked without. */
const compileFrom = 40;

/** Checks values again and again, as those that describe sessions are. */
export function createCheck<Schema extends TSchema>(schema: Schema) {
  let checked = 0;
  let compiled: TypeCheck<Schema> | null = null;
  return (value: unknown): value is Static<Schema> => {
    if (++checked >= compileFrom) compiled ??= TypeCompiler.Compile(schema);
    return compiled ? compiled.Check(value) : Value.Check(schema, value);
  };
}

const createChecks = (schemas: Record<string, TSchema>) =>
  new Map(Object.entries(schemas).map(([kind, schema]) => [kind, createCheck(schema)]));

/** null for a kind that is not known; a text says what is wrong with the line. */
function parseMessage<Schemas extends Record<string, TSchema>>(
  schemas: Schemas,
  checks: ReturnType<typeof createChecks>,
  line: string,
): MessageOf<Schemas> | string | null {
  if (line.length > safeLength && isNestedDeeper(line, maxDepth)) return "a line is nested too deeply";
  const message = parseJson(line);
  if (!isRecord(message) || typeof message.kind !== "string") return "a line is not a message";
  const { kind } = message;
  const check = checks.get(kind);
  if (!check) return null;
  // Finding where it is wrong takes several times as long.
  if (check(message)) return message as MessageOf<Schemas>;
  const [first] = Value.Errors(schemas[kind] as TSchema, message);
  return `a message "${kind}" is not valid at ${first?.path || "/"}`;
}

const ownerChecks = createChecks(ownerMessages);
const followerChecks = createChecks(followerMessages);
export const parseOwnerMessage = (line: string) => parseMessage(ownerMessages, ownerChecks, line);
export const parseFollowerMessage = (line: string) => parseMessage(followerMessages, followerChecks, line);

export const formatMessage = (message: OwnerMessage | FollowerMessage): string =>
  `${JSON.stringify(message)}\n`;
