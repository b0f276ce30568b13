/** The shape of a session in the snapshot. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import { isRecord } from "../core/json.ts";
import type { AgentEvent } from "../core/session/event.ts";
import { createSession, type Session } from "../core/session/session.ts";

const text = Type.String();
const number = Type.Number();
const flag = Type.Boolean();
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const textOrNull = orNull(text);
const oneOf = <Name extends string>(...names: Name[]) => Type.Union(names.map((name) => Type.Literal(name)));

const moment = { at: number, t: number };

const askKind = oneOf("permission", "question", "plan", "elicitation", "idle");
const ask = Type.Object({
  ...moment,
  id: text,
  kind: askKind,
  agentId: textOrNull,
  tool: textOrNull,
  toolUseId: textOrNull,
  promptId: textOrNull,
  inputKey: textOrNull,
  summary: text,
  options: Type.Array(text),
  questions: Type.Optional(number),
  request: textOrNull,
  from: oneOf("hook", "reminder", "file"),
  hidden: flag,
});

const usage = orNull(
  Type.Object({
    tokens: Type.Object({ input: number, output: number, cacheRead: number, cacheWrite: number }),
    costMicros: orNull(number),
  }),
);
const context = orNull(Type.Object({ used: number, window: orNull(number) }));

const quota = orNull(Type.Object({ usedPercent: number, resetsAt: orNull(number) }));

const child = Type.Object({
  ...moment,
  agentId: text,
  type: text,
  name: textOrNull,
  team: Type.Optional(text),
  running: flag,
  detail: textOrNull,
  startedAt: number,
  model: textOrNull,
  usage,
  context,
  transcriptPath: textOrNull,
});

const skill = Type.Object({
  ...moment,
  name: text,
  args: textOrNull,
  triggerCommand: text,
  targetDocPath: textOrNull,
  phase: oneOf("in_progress", "completed"),
  turnSeq: number,
});

const task = Type.Object({
  id: textOrNull,
  status: oneOf("pending", "in_progress", "completed"),
  subject: Type.Optional(text),
});

const toolCall = Type.Object({
  ...moment,
  toolUseId: textOrNull,
  tool: text,
  agentId: textOrNull,
  promptId: textOrNull,
  inputKey: text,
  summary: text,
  asks: Type.Optional(askKind),
  editPaths: Type.Optional(Type.Array(text)),
  ended: flag,
});

const place = Type.Object({
  local: flag,
  pid: orNull(number),
  procStart: textOrNull,
  tty: textOrNull,
  terminalSessionId: textOrNull,
  env: Type.Record(text, text),
  hookParent: Type.Optional(number),
});

type Writable<T> = T extends object ? { -readonly [Key in keyof T]: Writable<T[Key]> } : T;
type IsSame<A, B> = [A, B] extends [B, A] ? true : false;

/** Returns the schema. Does not compile if a field of T is missing in it or has another type. */
const schemaOf =
  <T>() =>
  <Schema extends TSchema>(
    schema: IsSame<Static<Schema>, Writable<T>> extends true ? Schema : "the schema differs from the type",
  ) =>
    schema as Schema;

const sessionSchema = schemaOf<Session>()(
  Type.Object({
    machine: textOrNull,
    unreachableSince: orNull(number),
    agent: text,
    sessionId: text,
    startedAt: number,
    last: Type.Object(moment),
    newest: number,
    turn: Type.Object({ ...moment, running: flag, byHook: flag, error: textOrNull }),
    detail: textOrNull,
    prompted: orNull(Type.Object(moment)),
    promptId: textOrNull,
    stopped: orNull(Type.Object(moment)),
    answered: orNull(Type.Object(moment)),
    beforeCompact: orNull(Type.Object({ running: flag, detail: textOrNull })),
    asks: Type.Array(ask),
    asksOpened: number,
    children: Type.Array(child),
    tools: Type.Array(toolCall),
    file: orNull(
      Type.Object({ ...moment, status: oneOf("idle", "busy", "waiting", "shell"), waitingFor: textOrNull }),
    ),
    moved: Type.Object(moment),
    settled: flag,
    ended: orNull(Type.Object({ ...moment, reason: text, whileBusy: flag })),
    payloads: Type.Array(Type.Object({ key: text, t: number })),
    background: textOrNull,
    attended: orNull(flag),
    cwd: textOrNull,
    firstCwd: textOrNull,
    project: textOrNull,
    transcriptPath: textOrNull,
    place: orNull(place),
    attach: textOrNull,
    gitBranch: textOrNull,
    title: textOrNull,
    model: textOrNull,
    usage,
    context,
    rateLimits: orNull(Type.Object({ fiveHour: quota, sevenDay: quota })),
    tasks: Type.Array(task),
    permissionMode: textOrNull,
    approvals: oneOf("user", "model"),
    startSource: textOrNull,
    turnCount: number,
    lastPrompt: textOrNull,
    lastResponse: textOrNull,
    currentSkill: textOrNull,
    skill: orNull(skill),
    documents: Type.Array(Type.Object({ path: text, kind: text })),
    port: orNull(Type.Object({ id: text, title: text, project: text, since: number })),
    untracked: orNull(Type.Object({ ...moment, tool: text, path: textOrNull, isBlocked: flag })),
    edits: Type.Array(Type.Object({ ...moment, path: text })),
    sharedFiles: Type.Array(
      Type.Object({
        ...moment,
        path: text,
        machine: textOrNull,
        agent: text,
        sessionId: text,
        project: textOrNull,
      }),
    ),
    repositoryFiles: Type.Array(Type.Object({ ...moment, repository: text, commit: text, path: text })),
    failing: orNull(
      Type.Object({
        ...moment,
        agentId: textOrNull,
        tool: text,
        inputKey: text,
        summary: text,
        count: number,
      }),
    ),
  }),
);

/** Compiling the schema takes about 8 ms of a start; after that, checking a session takes a quarter of the time. */
const compileFrom = 40;
let checked = 0;
let compiled: TypeCheck<typeof sessionSchema> | null = null;

/** The valid sessions of the list. A field that an earlier version did not save gets the value of a new session. */
export function parseSessions(values: readonly unknown[]): Session[] {
  checked += values.length;
  // One by one too: those of other machines are checked at each change.
  if (checked >= compileFrom) compiled ??= TypeCompiler.Compile(sessionSchema);
  return values.flatMap((value) => {
    const session = fillMissingFields(value);
    const isValid = compiled ? compiled.Check(session) : Value.Check(sessionSchema, session);
    return isValid ? [session as Session] : [];
  });
}

function fillMissingFields(value: unknown): unknown {
  if (!isRecord(value) || !isRecord(value.last)) return null;
  const { at, t } = value.last;
  return { ...createSession({ at, t } as AgentEvent), newest: t, ...value };
}
