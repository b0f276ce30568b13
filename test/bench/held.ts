/** What thirty asks cost while they wait for an answer: beckon, and the hook of each. */
import { join } from "node:path";
import { decisionOf, request } from "../answers/world.ts";
import { until } from "../world.ts";
import { compile, cpuMsOf, inFolder, type Receiver, residentMb, shareMb, startBeckon } from "./processes.ts";
import { meets } from "./rounds.ts";

const asks = 30;
const waitMs = 20_000;
const calmMs = 3_000;
const startMs = 30_000;

interface Listed {
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
    stdin: new Blob([JSON.stringify(request(session))]),
    stdout: "pipe",
    stderr: "inherit",
  });
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
/** By share where the system says it: hooks have most of their pages in common. */
const memoryMb = (pids: readonly number[]): number => sum(pids.map((pid) => shareMb(pid) ?? residentMb(pid)));

const call = ({ port, authorization }: Receiver, path: string, given?: object): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: given ? "POST" : "GET",
    headers: { authorization: authorization.split(": ")[1] ?? "", "content-type": "application/json" },
    ...(given ? { body: JSON.stringify(given) } : {}),
  });

async function measure(folder: string): Promise<boolean> {
  const binary = await compile(folder);
  const home = join(folder, "home");
  const beckon = await startBeckon(binary, home);
  const waiting = async (): Promise<Listed[]> => {
    const { sessions } = (await (await call(beckon, "/api/sessions")).json()) as { sessions: Listed[] };
    return sessions.filter((session) => session.asks.some(({ answerId }) => answerId !== undefined));
  };
  await Bun.sleep(calmMs);
  const before = memoryMb([beckon.pid]);
  const hooks = Array.from({ length: asks }, (_, n) => startHook(binary, home, `session-${n}`));
  try {
    await until(async () => (await waiting()).length === asks, startMs);
    await Bun.sleep(calmMs);
    const pids = hooks.map(({ pid }) => pid);
    const [appMs, hooksMs] = [cpuMsOf(beckon.pid), sum(pids.map(cpuMsOf))];
    await Bun.sleep(waitMs);
    const cpu = { app: cpuMsOf(beckon.pid) - appMs, hooks: sum(pids.map(cpuMsOf)) - hooksMs };
    const [app, held] = [memoryMb([beckon.pid]), memoryMb(pids)];
    console.log(`beckon: ${before.toFixed(0)} MB with none, ${app.toFixed(0)} MB with ${asks} asks open`);
    console.log(`their hooks: ${held.toFixed(0)} MB, ${(held / asks).toFixed(1)} MB each`);
    console.log(`CPU in ${waitMs / 1_000} s: beckon ${cpu.app} ms, hooks ${cpu.hooks} ms`);

    const startedAt = performance.now();
    for (const { sessionId, asks } of await waiting())
      await call(beckon, `/api/sessions/${sessionId}/answer`, { ask: asks[0]?.answerId, do: "allow" });
    const printed = await Promise.all(hooks.map(({ stdout }) => stdout.text()));
    const allowed = printed.filter((text) => text !== "" && decisionOf(text).behavior === "allow");
    console.log(`all answered, one after the other, in ${(performance.now() - startedAt).toFixed(0)} ms`);
    return [
      meets("asks that were answered", allowed.length, "at least", asks),
      meets("CPU while they wait, of one core", (cpu.app + cpu.hooks) / waitMs, "at most", 0.1),
      meets("memory of a hook that waits, MB", held / asks, "at most", 10),
    ].every(Boolean);
  } finally {
    for (const hook of hooks) hook.kill("SIGKILL");
    await beckon.stop();
  }
}

process.exitCode = (await inFolder(measure)) ? 0 : 1;
