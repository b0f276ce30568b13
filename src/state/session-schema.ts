import { isRecord } from "../core/json.ts";
import type { AgentEvent, FileStatus, Moment, Place, Tokens } from "../core/session/event.ts";
import {
  type Ask,
  type Child,
  newSession,
  type Session,
  type ToolCall,
  type Turn,
} from "../core/session/session.ts";

type Check = (value: unknown) => boolean;
type Shape<T> = { readonly [Field in keyof T]-?: Check };

const text: Check = (value) => typeof value === "string";
const number: Check = (value) => typeof value === "number";
const flag: Check = (value) => typeof value === "boolean";
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const orAbsent =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
/** A table, so that a new name cannot be forgotten here. */
const oneOf =
  <Name extends string>(names: Readonly<Record<Name, true>>): Check =>
  (value) =>
    typeof value === "string" && Object.hasOwn(names, value);
const textOrNull = orNull(text);

function shaped<T>(shape: Shape<T>): Check {
  const fields = Object.entries<Check>(shape);
  return (value) => isRecord(value) && fields.every(([name, check]) => check(value[name]));
}

const moment: Shape<Moment> = { at: number, t: number };

const ask = shaped<Ask>({
  ...moment,
  id: text,
  kind: oneOf<Ask["kind"]>({ permission: true, question: true, plan: true, elicitation: true, idle: true }),
  agentId: textOrNull,
  tool: textOrNull,
  toolUseId: textOrNull,
  promptId: textOrNull,
  inputKey: textOrNull,
  summary: text,
  options: listOf(text),
  questions: orAbsent(number),
  request: textOrNull,
  from: oneOf<Ask["from"]>({ hook: true, reminder: true, file: true }),
  hidden: flag,
});

const child = shaped<Child>({
  ...moment,
  agentId: text,
  type: text,
  running: flag,
  detail: textOrNull,
  startedAt: number,
});

const call = shaped<ToolCall>({
  ...moment,
  toolUseId: textOrNull,
  tool: text,
  agentId: textOrNull,
  promptId: textOrNull,
  inputKey: text,
  summary: text,
  ended: flag,
});

const place = shaped<Place>({
  local: flag,
  pid: orNull(number),
  procStart: textOrNull,
  tty: textOrNull,
  terminalSessionId: textOrNull,
  env: (value) => isRecord(value) && Object.values(value).every(text),
});

const isSession = shaped<Session>({
  agent: text,
  sessionId: text,
  startedAt: number,
  last: shaped<Moment>(moment),
  newest: number,
  turn: shaped<Turn>({ ...moment, running: flag, byHook: flag, error: textOrNull }),
  detail: textOrNull,
  prompted: orNull(shaped<Moment>(moment)),
  stopped: orNull(shaped<Moment>(moment)),
  answered: orNull(shaped<Moment>(moment)),
  beforeCompact: orNull(shaped<NonNullable<Session["beforeCompact"]>>({ running: flag, detail: textOrNull })),
  asks: listOf(ask),
  asksOpened: number,
  children: listOf(child),
  tools: listOf(call),
  file: orNull(
    shaped<NonNullable<Session["file"]>>({
      ...moment,
      status: oneOf<FileStatus>({ idle: true, busy: true, waiting: true, shell: true }),
      waitingFor: textOrNull,
    }),
  ),
  moved: shaped<Moment>(moment),
  settled: flag,
  ended: orNull(shaped<NonNullable<Session["ended"]>>({ ...moment, reason: text, whileBusy: flag })),
  payloads: listOf(shaped<Session["payloads"][number]>({ key: text, t: number })),
  background: textOrNull,
  attended: orNull(flag),
  cwd: textOrNull,
  firstCwd: textOrNull,
  project: textOrNull,
  transcriptPath: textOrNull,
  place: orNull(place),
  gitBranch: textOrNull,
  title: textOrNull,
  model: textOrNull,
  tokens: orNull(shaped<Tokens>({ input: number, output: number, cached: number })),
  turnCount: number,
  lastPrompt: textOrNull,
  lastResponse: textOrNull,
  currentSkill: textOrNull,
});

/** null: it is none. A field that the version which saved it did not know yet gets its first value. */
export function parseSession(value: unknown): Session | null {
  if (!isRecord(value) || !isRecord(value.last)) return null;
  const { at, t } = value.last as unknown as Moment;
  const asks = Array.isArray(value.asks) ? { asks: value.asks.map(withRequest) } : {};
  const whole = { ...newSession({ at, t } as AgentEvent), ...value, ...asks };
  return isSession(whole) ? (whole as Session) : null;
}

/** Saved before asks knew who had asked: nobody can answer them from here. */
function withRequest(value: unknown): unknown {
  return isRecord(value) && !("request" in value) ? { ...value, request: null } : value;
}
