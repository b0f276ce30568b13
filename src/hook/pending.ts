/**
 * The hook of a permission request keeps its connection open and prints the decision if the user answers through beckon.
 * The terminal shows its dialog all the while. Whatever goes wrong here, the hook prints nothing, and the dialog decides.
 */
import { writeSync } from "node:fs";
import { limits } from "../core/limits.ts";
import { timing } from "../core/timing.ts";
import type { Paths } from "../storage/paths.ts";
import { verifyDecision } from "../system/decision-signature.ts";
import { isAlive } from "../system/processes.ts";
import { hasForeignListener } from "../system/sockets.ts";
import { type Exchange, openRequest } from "./http.ts";
import { maxParents, readProcess, readSmall, type Sender, type Surroundings } from "./meta.ts";
import { chooseTarget, type Target } from "./target.ts";

export interface PendingEvent {
  readonly id: string;
  readonly agent: Sender;
  /** The envelope as it was sent, for a beckon that was restarted. */
  readonly body: string;
  readonly paths: Paths;
  readonly surroundings: Promise<Surroundings>;
  /** For tests. */
  readonly timeouts?: Partial<PendingTimeouts>;
}

interface PendingTimeouts {
  /** Between two checks of everything below. */
  readonly checkMs: number;
  readonly totalMs: number;
  /** Without a byte from beckon. */
  readonly silenceMs: number;
  readonly reconnectMs: number;
}

const defaultTimeouts: PendingTimeouts = {
  checkMs: timing.pendingHeartbeatMs,
  totalMs: timing.pendingTotalMs,
  silenceMs: timing.pendingSilenceMs,
  reconnectMs: timing.pendingReconnectMs,
};
const retryMs = 300;
/** A restart takes a second or two: after this many tries they are further apart. */
const quickRetries = 10;
const reportTimeoutMs = 500;

/** `exchange`: the request that delivered the event and is now pending. Resolves when there is nothing left to wait for. */
export async function waitForDecision(
  event: PendingEvent,
  target: Target,
  exchange: Exchange,
): Promise<void> {
  const timeouts = { ...defaultTimeouts, ...event.timeouts };
  const endAt = performance.now() + timeouts.totalMs;
  const { pid, procStart } = await event.surroundings;
  const isAgentAlive = pid === null ? await watchParents() : async () => isAlive(pid, procStart);
  let open: { target: Target; exchange: Exchange; since: number } | null = {
    target,
    exchange,
    since: performance.now(),
  };
  let lastTarget = target;
  let isPrinted = false;
  const reports: Promise<void>[] = [];
  const released = Promise.withResolvers<"released">();
  const release = () => released.resolve("released");

  const check = async () => {
    const now = performance.now();
    const isSilent = open !== null && now - open.exchange.lastByteAt() > timeouts.silenceMs;
    if (now > endAt || isSilent || !(await isAgentAlive())) release();
  };
  const checking = setInterval(check, timeouts.checkMs);
  onSignals(() => {
    if (!isPrinted && reports.length === 0) reports.push(report(lastTarget, event.id, "stopped"));
    release();
  });

  let reconnectUntil = 0;
  while (open) {
    lastTarget = open.target;
    const line = await Promise.race([open.exchange.readLine(), released.promise]);
    const decision = line === null || line === "released" ? null : readDecision(open.target.key, event, line);
    isPrinted = decision !== null && print(decision);
    if (isPrinted) reports.push(report(open.target, event.id, "printed"));
    // Closed only after the report: beckon cannot tell why a connection closes.
    await Promise.all(reports);
    open.exchange.close();
    if (line !== null) break;
    // A connection that always breaks at once does not mean that beckon was restarted: the search goes on from where it was.
    const openMs = performance.now() - open.since;
    if (reconnectUntil === 0 || openMs > timeouts.reconnectMs)
      reconnectUntil = performance.now() + timeouts.reconnectMs;
    open = null;
    const next = await Promise.race([findRestarted(event, reconnectUntil), released.promise]);
    if (next === null || next === "released") break;
    open = {
      target: next,
      exchange: openRequest(next, "/api/hold", event.body),
      since: performance.now(),
    };
  }
  clearInterval(checking);
}

/** Programs that run a hook for an agent, and wait for it even if the agent is gone. */
const shells: ReadonlySet<string> = new Set([
  "sh",
  "dash",
  "bash",
  "ash",
  "zsh",
  "ksh",
  "fish",
  "timeout",
  "env",
]);

/**
 * For an agent that could not be identified. The returned function resolves with false once the process that runs this hook has
 * ended, or the parent of the shell that does: their children then get another parent.
 */
async function watchParents(): Promise<() => Promise<boolean>> {
  const parent = process.ppid;
  if (process.platform !== "linux") return async () => process.ppid === parent && isAlive(parent, null);
  const chain: { readonly pid: number; readonly parent: number }[] = [];
  for (let pid = process.pid; chain.length < maxParents; ) {
    const found = await readProcess(pid);
    if (found === null || (chain.length > 0 && !shells.has(found.name))) break;
    chain.push(found);
    pid = found.parent;
  }
  return async () => {
    for (const { pid, parent: expected } of chain)
      if ((await readProcess(pid))?.parent !== expected) return false;
    return true;
  };
}

/** Replaces the forwarder's own handlers: its event is delivered already. */
function onSignals(stop: () => void): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.removeAllListeners(signal);
    process.on(signal, stop);
  }
}

/** Null if no beckon came up in time, or the user has turned it off. */
async function findRestarted({ paths, surroundings }: PendingEvent, until: number): Promise<Target | null> {
  for (let tries = 0; performance.now() < until; tries++) {
    await Bun.sleep(tries < quickRetries ? retryMs : retryMs * 4);
    if ((await readSmall(paths.offMarker)) !== null) return null;
    const target = await chooseTarget(process.env, paths, [], surroundings);
    if (target?.isLoopback && (await isAnswering(target))) return target;
  }
  return null;
}

async function isAnswering(target: Target): Promise<boolean> {
  const exchange = openRequest({ ...target, token: null }, "/health", null);
  const status = await Promise.race([exchange.status, Bun.sleep(retryMs)]);
  exchange.close();
  return typeof status === "number";
}

/** "stopped": the agent ended the hook, for "No", Esc or /exit in the terminal. It reports that in no other way. */
export async function report(target: Target, id: string, how: "printed" | "stopped"): Promise<void> {
  // The request may have waited for an hour: its port can be another user's by now.
  if (target.isLoopback && (await hasForeignListener(target.url))) return;
  const exchange = openRequest(target, "/api/hold/end", JSON.stringify({ id, how }));
  await Promise.race([exchange.status, Bun.sleep(reportTimeoutMs)]);
  exchange.close();
}

/** Null if the line is not a decision that beckon made for this request: another program may have the port. */
function readDecision(key: string | null, { id, agent }: PendingEvent, line: string): string | null {
  const decision = key === null ? null : verifyDecision(key, id, line);
  return decision !== null && isDecision(decision, agent) ? decision : null;
}

export function isDecision(text: string, { forwarding }: Sender): boolean {
  if (text.length > limits.maxDecisionBytes) return false;
  try {
    return forwarding?.isDecision(JSON.parse(text)) === true;
  } catch {
    return false;
  }
}

/** The agent ignores half a JSON text, so a failed write is not a decision. */
function print(text: string): boolean {
  try {
    let rest = Buffer.from(`${text}\n`);
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
    return true;
  } catch {
    return false;
  }
}
