/** The body of a hook's request: an envelope `{provider, _meta, payload}`, or the bare payload. */

import { isRecord, type JsonRecord, readText } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import type { ClockReading, Moment, Place } from "../core/session/event.ts";

/** What the forwarder saw around the hook. Each field has its right shape or is null. */
export interface HookMeta {
  readonly id: string | null;
  readonly at: number | null;
  /** Microseconds since boot, on a clock that nobody can set. */
  readonly seq: number | null;
  readonly boot: string | null;
  readonly workspace: string | null;
  readonly attended: boolean | null;
  readonly place: Place | null;
}

export interface HookMessage {
  readonly provider: string;
  readonly meta: HookMeta;
  readonly payload: JsonRecord;
}

export function openEnvelope(
  body: unknown,
  defaultProvider: string,
  host: string | null,
): HookMessage | null {
  if (!isRecord(body)) return null;
  const enveloped = isRecord(body._meta) && isRecord(body.payload);
  const payload = enveloped ? (body.payload as JsonRecord) : body;
  const outer = enveloped ? (body._meta as JsonRecord) : {};
  const meta = isRecord(payload._meta) ? { ...outer, ...payload._meta } : outer;
  return {
    // A string that is no provider's name must not be taken for the default.
    provider: typeof body.provider === "string" ? body.provider : defaultProvider,
    meta: readMeta(meta, host),
    payload,
  };
}

function whole(value: unknown, max: number): number | null {
  return typeof value === "number" && value >= 0 && value <= max ? Math.floor(value) : null;
}

function readMeta(meta: JsonRecord, host: string | null): HookMeta {
  const at =
    whole(meta.at, 8.64e15) ?? (typeof meta.collected_at === "string" ? Date.parse(meta.collected_at) : null);
  return {
    id: readText(meta.id, limits.maxIdLength),
    at: at !== null && Number.isFinite(at) ? at : null,
    seq: typeof meta.seq === "number" && meta.seq >= 0 && Number.isFinite(meta.seq) ? meta.seq : null,
    boot: readText(meta.boot, limits.maxIdLength),
    workspace: readText(meta.workspace_id, limits.maxIdLength),
    attended: typeof meta.attended === "boolean" ? meta.attended : null,
    place: readPlace(meta, host),
  };
}

function readPlace(meta: JsonRecord, host: string | null): Place | null {
  const pid = whole(meta.pid, 2 ** 31);
  const tty = readText(meta.tty, limits.maxIdLength);
  const env = isRecord(meta.env) ? readEnv(meta.env) : null;
  const terminalSessionId = readText(meta.terminal_session_id, limits.maxIdLength);
  if (pid === null && tty === null && terminalSessionId === null && env === null) return null;
  const procStart = meta.procStart;
  return {
    local: host !== null && meta.host === host,
    pid: pid === 0 ? null : pid,
    procStart: typeof procStart === "number" ? String(procStart) : readText(procStart, limits.maxIdLength),
    tty,
    terminalSessionId,
    env: env ?? {},
  };
}

/** null: it says nothing. What came as it should is not copied. */
function readEnv(given: JsonRecord): Readonly<Record<string, string>> | null {
  let count = 0;
  for (const name in given) {
    if (++count > limits.maxEnv || !isVariable(name, given[name])) return goodPartOf(given);
  }
  return count === 0 ? null : (given as Record<string, string>);
}

function goodPartOf(given: JsonRecord): Readonly<Record<string, string>> | null {
  const good = Object.entries(given)
    .slice(0, limits.maxEnv)
    .filter((entry): entry is [string, string] => isVariable(entry[0], entry[1]));
  return good.length === 0 ? null : Object.fromEntries(good);
}

function isVariable(name: string, value: unknown): boolean {
  return name.length <= limits.maxIdLength && readText(value, limits.maxEnvLength) !== null;
}

/** A forwarder's clocks are read within a moment of each other, and ours tick in steps of 10 ms. */
const clockSlackMs = 20;
const futureMs = 2_000;

/** When it happened, on our clocks: the forwarder's stamp where it can be believed, else the time of arrival. */
export function stampEvent(meta: Pick<HookMeta, "at" | "seq" | "boot">, here: ClockReading): Moment {
  const at = meta.at === null || meta.at > here.at + futureMs ? here.at : meta.at;
  const byWall = here.t - Math.max(0, here.at - at);
  if (meta.seq === null || meta.boot === null || meta.boot !== here.boot) return { at, t: byWall };
  const bySeq = meta.seq / 1_000;
  if (bySeq > here.t + futureMs) return { at, t: byWall };
  if (Math.abs(bySeq - byWall) <= clockSlackMs) return { at, t: byWall };
  // The wall clock is finer; but if the two disagree, somebody has set it, and its time is told by the clock of now.
  const t = Math.min(bySeq, here.t);
  return { at: Math.round(here.at - (here.t - t)), t };
}
