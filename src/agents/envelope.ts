/** The body of a hook's request: an envelope `{provider, _meta, payload}`, or a payload without one. */
import {
  asRecord,
  isRecord,
  type JsonRecord,
  readFlag,
  readString,
  readText,
  readTime,
} from "../core/json.ts";
import { limits } from "../core/limits.ts";
import type { ClockReading, Moment, Place } from "../core/session/event.ts";
import { findCaller } from "./callers.ts";

/** What the forwarder saw around the hook. Each field has its type or is null. */
export interface HookMeta {
  readonly id: string | null;
  readonly at: number | null;
  /** Microseconds since boot, on a clock that cannot be set. */
  readonly seq: number | null;
  readonly boot: string | null;
  readonly workspace: string | null;
  readonly attended: boolean | null;
  readonly place: Place | null;
}

export interface HookMessage {
  /** The agent that called the hook, which need not be the one whose hook it is. */
  readonly provider: string;
  readonly meta: HookMeta;
  readonly payload: JsonRecord;
}

/** null if the body is not an object. `host` names this machine as the forwarder does. */
export function openEnvelope(
  body: unknown,
  defaultProvider: string,
  host: string | null,
): HookMessage | null {
  if (!isRecord(body)) return null;
  const hasEnvelope = isRecord(body._meta) && isRecord(body.payload);
  const payload = hasEnvelope ? (body.payload as JsonRecord) : body;
  const outerMeta = hasEnvelope ? (body._meta as JsonRecord) : {};
  const meta = isRecord(payload._meta) ? { ...outerMeta, ...payload._meta } : outerMeta;
  const parsed = parseMeta(addPayloadPlace(meta, payload), host);
  // An unknown name must not count as the default: the event would belong to another agent.
  const called = readString(body.provider) ?? defaultProvider;
  return { provider: findCaller(called, payload, parsed.place?.env ?? {}), meta: parsed, payload };
}

/** Some forwarders put the terminal into the payload. What `_meta` says is more exact. */
function addPayloadPlace(meta: JsonRecord, { pid, tmux_pane }: JsonRecord): JsonRecord {
  if (pid === undefined && tmux_pane === undefined) return meta;
  const env = typeof tmux_pane === "string" ? { TMUX_PANE: tmux_pane } : {};
  return { pid, ...meta, env: { ...env, ...asRecord(meta.env) } };
}

const maxTime = 8.64e15;
const maxPid = 2 ** 31;

function parseMeta(meta: JsonRecord, host: string | null): HookMeta {
  return {
    id: readText(meta.id, limits.maxIdLength),
    at: asInteger(meta.at, maxTime) ?? readTime(meta.collected_at),
    seq: typeof meta.seq === "number" && meta.seq >= 0 && Number.isFinite(meta.seq) ? meta.seq : null,
    boot: readText(meta.boot, limits.maxIdLength),
    workspace: readText(meta.workspace_id, limits.maxIdLength),
    attended: readFlag(meta.attended),
    place: parsePlace(meta, host),
  };
}

function asInteger(value: unknown, max: number): number | null {
  return typeof value === "number" && value >= 0 && value <= max ? Math.floor(value) : null;
}

/** null if the forwarder knew nothing about the terminal. `local` if it was sent from this machine. */
function parsePlace(meta: JsonRecord, thisHost: string | null): Place | null {
  const pid = asInteger(meta.pid, maxPid);
  const tty = readText(meta.tty, limits.maxIdLength);
  const env = isRecord(meta.env) ? parseVariables(meta.env) : null;
  const terminalSessionId = readText(meta.terminal_session_id, limits.maxIdLength);
  const hookParent = asInteger(meta.ppid, maxPid);
  if (pid === null && tty === null && terminalSessionId === null && env === null && !hookParent) return null;
  const { procStart } = meta;
  return {
    local: thisHost !== null && meta.host === thisHost,
    pid: pid === 0 ? null : pid,
    procStart: typeof procStart === "number" ? String(procStart) : readText(procStart, limits.maxIdLength),
    tty,
    terminalSessionId,
    env: env ?? {},
    ...(pid === null && hookParent ? { hookParent } : {}),
  };
}

type Variables = Readonly<Record<string, string>>;

/** null if there are none. Valid variables are not copied: that is nearly every event. */
function parseVariables(env: JsonRecord): Variables | null {
  let count = 0;
  for (const name in env) {
    if (++count > limits.maxEnv || !isVariable(name, env[name])) return pickVariables(env);
  }
  return count === 0 ? null : (env as Record<string, string>);
}

function pickVariables(env: JsonRecord): Variables | null {
  const valid = Object.entries(env)
    .slice(0, limits.maxEnv)
    .filter((entry): entry is [string, string] => isVariable(entry[0], entry[1]));
  return valid.length === 0 ? null : Object.fromEntries(valid);
}

function isVariable(name: string, value: unknown): boolean {
  return name.length <= limits.maxIdLength && readText(value, limits.maxEnvLength) !== null;
}

/** The forwarder reads its two clocks within a moment, and the clock since boot ticks in steps of 10 ms. */
const clockSlackMs = 20;
/** How far in the future a stamp may be. */
const maxAheadMs = 2_000;
/** How old a stamp may be. Events wait in the spool for days at most, and a clock that was never set says 1970. */
const maxBehindMs = 365 * 24 * 60 * 60_000;

/** When the event happened, on this machine's clocks: the forwarder's stamp if it is plausible, else the time of arrival. */
export function stampEvent(meta: Pick<HookMeta, "at" | "seq" | "boot">, now: ClockReading): Moment {
  const age = now.at - (meta.at ?? now.at);
  const at = meta.at === null || age < -maxAheadMs || age > maxBehindMs ? now.at : meta.at;
  const wallT = now.t - Math.max(0, now.at - at);
  if (meta.seq === null || meta.boot === null || meta.boot !== now.boot) return { at, t: wallT };
  const bootT = meta.seq / 1_000;
  if (bootT > now.t + maxAheadMs) return { at, t: wallT };
  // The wall clock is finer.
  if (Math.abs(bootT - wallT) <= clockSlackMs) return { at, t: wallT };
  // The wall clock was set in between: the time since boot is right, and the wall time is computed from it.
  const t = Math.min(bootT, now.t);
  return { at: Math.round(now.at - (now.t - t)), t };
}
