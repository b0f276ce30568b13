/** What thirty requests cost while they wait for an answer: beckon, and the hook of each. */
import { join } from "node:path";
import { createRequest, parseDecision } from "../answers/fixture.ts";
import { waitUntil } from "../wait-until.ts";
import {
  cpuMsOf,
  type Program,
  preparePrograms,
  proportionalMb,
  type Receiver,
  residentMb,
  startBeckon,
  withFolder,
} from "./processes.ts";
import { formatComparison, meets } from "./rounds.ts";

const requests = 30;
const waitMs = 20_000;
const calmMs = 3_000;
const startTimeoutMs = 30_000;

interface ListedSession {
  readonly sessionId: string;
  readonly asks: readonly { readonly answerId?: string }[];
}

function startHook(binary: string, home: string, session: string) {
  return Bun.spawn([binary, "hook", "claude"], {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      BECKON_HOME: home,
      CLAUDE_CODE_SESSION_ATTENDED: "1",
      CLAUDE_PID: String(process.pid),
    },
    stdin: new Blob([JSON.stringify(createRequest(session))]),
    stdout: "pipe",
    stderr: "inherit",
  });
}

/** Hooks share most of their pages, so these count in parts where the system reports it. */
const memoryMb = (...pids: readonly number[]): number => proportionalMb(...pids) ?? residentMb(...pids);

const call = ({ port, authorization }: Receiver, path: string, body?: object): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: body ? "POST" : "GET",
    headers: { authorization: authorization.split(": ")[1] ?? "", "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

interface Costs {
  readonly answered: number;
  readonly appMb: number;
  readonly appWithRequestsMb: number;
  readonly hookMb: number;
  readonly appCpuMs: number;
  readonly hooksCpuMs: number;
  readonly answeringMs: number;
}

async function measureProgram({ name, binary }: Program, folder: string): Promise<Costs> {
  const home = join(folder, `home-${name}`);
  const beckon = await startBeckon(binary, home);
  const listWaiting = async (): Promise<ListedSession[]> => {
    const { sessions } = (await (await call(beckon, "/api/sessions")).json()) as {
      sessions: ListedSession[];
    };
    return sessions.filter((session) => session.asks.some(({ answerId }) => answerId !== undefined));
  };
  await Bun.sleep(calmMs);
  const appMb = memoryMb(beckon.pid);
  const hooks = Array.from({ length: requests }, (_, n) => startHook(binary, home, `session-${n}`));
  try {
    await waitUntil(async () => (await listWaiting()).length === requests, startTimeoutMs);
    await Bun.sleep(calmMs);
    const pids = hooks.map(({ pid }) => pid);
    const [appBefore, hooksBefore] = [cpuMsOf(beckon.pid), cpuMsOf(...pids)];
    await Bun.sleep(waitMs);
    const appCpuMs = cpuMsOf(beckon.pid) - appBefore;
    const hooksCpuMs = cpuMsOf(...pids) - hooksBefore;
    const appWithRequestsMb = memoryMb(beckon.pid);
    const hookMb = memoryMb(...pids) / requests;

    const started = performance.now();
    for (const { sessionId, asks } of await listWaiting()) {
      await call(beckon, `/api/sessions/${sessionId}/answer`, { ask: asks[0]?.answerId, do: "allow" });
    }
    const printed = await Promise.all(hooks.map(({ stdout }) => stdout.text()));
    const answeringMs = performance.now() - started;
    const allowed = printed.filter((text) => text !== "" && parseDecision(text).behavior === "allow");
    return {
      answered: allowed.length,
      ...{ appMb, appWithRequestsMb, hookMb, appCpuMs, hooksCpuMs, answeringMs },
    };
  } finally {
    for (const hook of hooks) hook.kill("SIGKILL");
    await beckon.stop();
  }
}

async function measure(folder: string): Promise<boolean> {
  const programs = preparePrograms(folder);
  const costs: Costs[] = [];
  for (const program of programs) costs.push(await measureProgram(program, folder));
  const row = (label: string, pick: (costs: Costs) => number, digits = 1) => ({
    label,
    values: costs.map(pick),
    digits,
  });
  console.log(
    formatComparison(
      [
        row("beckon, MB", (cost) => cost.appMb),
        row(`beckon with ${requests} requests, MB`, (cost) => cost.appWithRequestsMb),
        row("one hook that waits, MB", (cost) => cost.hookMb),
        row(`CPU of beckon in ${waitMs / 1_000} s, ms`, (cost) => cost.appCpuMs, 0),
        row(`CPU of all hooks in ${waitMs / 1_000} s, ms`, (cost) => cost.hooksCpuMs, 0),
        row("answering all, one after the other, ms", (cost) => cost.answeringMs, 0),
      ],
      programs.map(({ name }) => name),
    ),
  );
  const [own] = costs;
  if (!own) return false;
  return [
    meets("requests that were answered", own.answered, "at least", requests),
    meets("CPU while they wait, of one core", (own.appCpuMs + own.hooksCpuMs) / waitMs, "at most", 0.1),
    meets("memory of a hook that waits, MB", own.hookMb, "at most", 10),
  ].every(Boolean);
}

process.exitCode = (await withFolder(measure)) ? 0 : 1;
