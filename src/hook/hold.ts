/**
 * The hook of a permission request stays, and prints the person's answer if one comes through beckon. The dialog is in the
 * terminal all the while. Whatever goes wrong here, it prints nothing, and the dialog decides.
 */
import { writeSync } from "node:fs";
import { limits } from "../core/limits.ts";
import { timing } from "../core/timing.ts";
import type { Paths } from "../storage/paths.ts";
import { verifyDecision } from "../system/decision-signature.ts";
import { openLine } from "./line.ts";
import { readSmall, readStat, type Surroundings } from "./meta.ts";
import { readToken } from "./post.ts";
import { chooseTarget, type Target } from "./target.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface Waiting {
  readonly agent: string;
  readonly payload: Fields;
  readonly meta: Fields;
  /** The envelope as it was sent: with its text untouched. */
  readonly body: string;
  readonly places: Paths;
  readonly seeing: Promise<Surroundings>;
  /** How long it waits, for tests. */
  readonly times?: Partial<Times>;
}

interface Times {
  readonly tickMs: number;
  readonly totalMs: number;
  readonly silentMs: number;
  readonly againMs: number;
}

const usual: Times = {
  tickMs: timing.holdHeartbeatMs,
  totalMs: timing.holdTotalMs,
  silentMs: timing.holdSilenceMs,
  againMs: timing.holdReconnectMs,
};
const betweenTriesMs = 300;
const lastWordMs = 500;

/** Resolves when there is nothing to wait for any more. */
export async function hold(waiting: Waiting, target: Target, token: string | null): Promise<void> {
  const { body, meta } = waiting;
  if (!mayHold(waiting) || !target.isLoopback || typeof meta.id !== "string") return;
  const { id } = meta;
  const times = { ...usual, ...waiting.times };
  const letGo = Promise.withResolvers<null>();
  let heardAt = performance.now();
  const endAt = heardAt + times.totalMs;
  const { pid, procStart } = await waiting.seeing;

  const tick = async () => {
    const now = performance.now();
    if (now > endAt || now - heardAt > times.silentMs) return letGo.resolve(null);
    if (pid !== null && !(await isThere(pid, procStart))) letGo.resolve(null);
  };
  const onSign = () => {
    heardAt = performance.now();
  };
  const ticking = setInterval(tick, times.tickMs);
  let toldBy: Connection = { target, token };
  let isPrinted = false;
  const lastWords: Promise<void>[] = [];
  onSignals(() => {
    // "No", Esc or /exit in the terminal: the agent tells nobody else. What was printed before is the last word itself.
    if (!isPrinted && lastWords.length === 0) lastWords.push(say(toldBy, { id, how: "stopped" }));
    letGo.resolve(null);
  });

  let connection: Connection | null = toldBy;
  let searchUntil = 0;
  while (connection) {
    toldBy = connection;
    const openedAt = performance.now();
    const line = openLine(connection, "/api/hold", body, onSign);
    const said = await Promise.race([line.said, letGo.promise]);
    const decision = said === null ? null : provenBy(connection.target, id, said);
    isPrinted = decision !== null && print(decision);
    if (isPrinted) lastWords.push(say(connection, { id, how: "printed" }));
    // Left open until then: of a line that closes before, nobody knows why.
    await Promise.all(lastWords);
    line.close();
    if (said !== "broken") break;
    // One that breaks at once, again and again, is no beckon that was restarted.
    const lasted = performance.now() - openedAt;
    if (searchUntil === 0 || lasted > times.againMs) searchUntil = performance.now() + times.againMs;
    connection = await Promise.race([findAgain(waiting, searchUntil, onSign), letGo.promise]);
  }
  clearInterval(ticking);
}

interface Connection {
  readonly target: Target;
  readonly token: string | null;
}

/** A subagent's dialog would not show while its hook runs; a run that nobody sits at would wait for nobody. */
function mayHold({ agent, payload, meta }: Waiting): boolean {
  if (agent !== "claude" || payload.hook_event_name !== "PermissionRequest") return false;
  return payload.agent_id === undefined && meta.attended !== false;
}

async function isThere(pid: number, start: string | null): Promise<boolean> {
  if (process.platform === "linux") {
    const stat = await readStat(pid);
    return stat !== null && (start === null || stat.start === start);
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** In place of what the forwarder does with them: its event is kept already. */
function onSignals(stop: () => void): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.removeAllListeners(signal);
    process.on(signal, stop);
  }
}

/** A beckon that was restarted; null: none came, or the person wants it off. */
async function findAgain(
  { places, seeing }: Waiting,
  until: number,
  onSign: () => void,
): Promise<Connection | null> {
  for (let tries = 0; performance.now() < until; tries++) {
    // A restart takes a second or two; after that there is no hurry.
    await Bun.sleep(tries < 10 ? betweenTriesMs : betweenTriesMs * 4);
    // While it looks for one, none can be silent.
    onSign();
    if ((await readSmall(places.off)) !== null) return null;
    const target = await chooseTarget(process.env, places, [], seeing);
    if (target?.isLoopback) {
      const token = await readToken(places.authHeader);
      if (await answers({ target, token })) return { target, token };
    }
  }
  return null;
}

/** Somebody listens there: a line that is refused at once would end the wait. */
async function answers({ target }: Connection): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const line = openLine({ target, token: null }, "/health", null, () => resolve(true));
  line.said.then(() => resolve(false));
  setTimeout(resolve, betweenTriesMs, false);
  const is = await promise;
  line.close();
  return is;
}

/** One small request, and not a moment longer than need be. */
async function say(connection: Connection, word: object): Promise<void> {
  const line = openLine(connection, "/api/hold/end", JSON.stringify(word), () => {});
  await Promise.race([line.said, Bun.sleep(lastWordMs)]);
  line.close();
}

/** The decision, if it is beckon's own, whoever stands behind that port. */
function provenBy({ key }: Target, id: string, said: string): string | null {
  const decision = key === null ? null : verifyDecision(key, id, said);
  return decision !== null && isDecision(decision) ? decision : null;
}

/** Of the known shape: anything else would be an error line in the person's terminal. */
export function isDecision(text: string): boolean {
  if (text.length > limits.maxDecisionBytes) return false;
  try {
    const { hookSpecificOutput: output, ...more } = fieldsOf(JSON.parse(text));
    const { hookEventName, decision, ...others } = fieldsOf(output);
    const { behavior, message = "" } = fieldsOf(decision);
    const isAlone = Object.keys(more).length + Object.keys(others).length === 0;
    const isKnown = hookEventName === "PermissionRequest" && typeof message === "string";
    return isAlone && isKnown && typeof behavior === "string" && known.has(behavior);
  } catch {
    return false;
  }
}

const known: ReadonlySet<string> = new Set(["allow", "deny"]);

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Whole, or not at all as far as the agent is concerned: half a JSON text is no decision. */
function print(text: string): boolean {
  try {
    let rest = Buffer.from(`${text}\n`);
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
    return true;
  } catch {
    return false;
  }
}
