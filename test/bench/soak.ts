/**
 * How much memory beckon uses over hours of ordinary work: 34 events a second, twenty sessions at a time, and every minute
 * one ends and another starts. BENCH_SOAK_MINUTES says for how long; the memory of the last half must not grow.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { binary } from "../repo.ts";
import { bodies, sessionIdOf } from "./bodies.ts";
import { type Receiver, residentMb, startBeckon, withFolder } from "./processes.ts";

const minutes = Number(process.env.BENCH_SOAK_MINUTES ?? 120);
const perSecond = 34;
const sessions = 20;
const perMinute = perSecond * 60;
/** Growth of the last half that counts as none: what one garbage collection more or less makes. */
const allowedMb = 5;

/** Session `n` of this minute: every minute another one of the twenty is replaced. */
function idInMinute(n: number, minute: number): string {
  const generation = Math.floor((minute + sessions - 1 - n) / sessions);
  return sessionIdOf(generation * sessions + n);
}

async function runMinute(beckon: Receiver, minute: number): Promise<void> {
  const [, authorization = ""] = beckon.authorization.split(": ");
  const post = async (text: string): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${beckon.port}/api/hook`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: text,
    });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  };
  const since = Date.now() - minute * (perMinute / sessions) * 200;
  const started = performance.now();
  let n = 0;
  for (const { sessionId, text } of bodies({ part: minute, sessions, events: perMinute, since })) {
    const id = idInMinute(n % sessions, minute);
    await post(text.replaceAll(sessionId, id));
    n++;
    const aheadMs = (n * 1_000) / perSecond - (performance.now() - started);
    if (aheadMs > 0) await Bun.sleep(aheadMs);
  }
  const replaced = minute % sessions;
  const end = {
    session_id: idInMinute(replaced, minute),
    hook_event_name: "SessionEnd",
    reason: "other",
    cwd: "/",
  };
  await post(JSON.stringify({ provider: "claude", _meta: { at: Date.now() }, payload: end }));
}

/** Least squares over one reading a minute. */
function growthPerMinute(readings: readonly number[]): number {
  const middle = (readings.length - 1) / 2;
  const mean = readings.reduce((sum, value) => sum + value, 0) / readings.length;
  const above = readings.reduce((sum, value, n) => sum + (n - middle) * (value - mean), 0);
  const below = readings.reduce((sum, _, n) => sum + (n - middle) ** 2, 0);
  return below === 0 ? 0 : above / below;
}

const highestMb = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;

async function measure(folder: string): Promise<boolean> {
  const beckon = await startBeckon(process.env.BENCH_SOAK_BINARY ?? binary, join(folder, "home"));
  const readings: number[] = [residentMb(beckon.pid)];
  for (let minute = 0; minute < minutes; minute++) {
    await runMinute(beckon, minute);
    readings.push(residentMb(beckon.pid));
    console.log(`after ${minute + 1} min: ${readings.at(-1)?.toFixed(1)} MB`);
  }
  const lastHalf = readings.slice(Math.ceil(readings.length / 2));
  const growth = growthPerMinute(lastHalf);
  console.log(
    `${minutes} min, ${minutes * perMinute} events: ${readings[0]?.toFixed(1)} MB at the start, ${highestMb(beckon.pid).toFixed(1)} MB at most, ` +
      `${readings.at(-1)?.toFixed(1)} MB at the end; the last half grew by ${(growth * 1_000).toFixed(0)} kB a minute`,
  );
  await beckon.stop();
  return growth * lastHalf.length < allowedMb;
}

process.exit((await withFolder(measure)) ? 0 : 1);
