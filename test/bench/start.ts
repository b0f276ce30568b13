/** From the start of the process to its first answer; and from a POST to the state that it changed. */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { bodies } from "./bodies.ts";
import { compile, inFolder, put, type Receiver, startBeckon } from "./processes.ts";
import { interleave, median, table } from "./rounds.ts";

const rounds = 9;
const posts = 2_000;

async function fill(binary: string, home: string, events: number): Promise<void> {
  const beckon = await startBeckon(binary, home);
  const { port, authorization } = beckon;
  const since = Date.now() - 60 * 60_000;
  await put({ port, authorization, part: 0, sessions: 1_000, events, since, connections: 16 });
  // Killed, so that the journal has what the last snapshot has not.
  await beckon.stop("SIGKILL");
}

async function startMs(binary: string, from: string | null, home: string): Promise<number> {
  if (from) cpSync(from, home, { recursive: true });
  else mkdirSync(home);
  const beckon = await startBeckon(binary, home);
  await beckon.stop("SIGKILL");
  return beckon.startMs;
}

/** One at a time: the state is looked at with a second request as soon as the first is answered. */
async function postToStateMs({ port, authorization }: Receiver): Promise<number[]> {
  const [name = "", value = ""] = authorization.split(": ");
  const headers = { [name]: value, "content-type": "application/json" };
  const took: number[] = [];
  const work = { part: 0, sessions: 50, events: posts, since: Date.now() - 60 * 60_000 };
  for (const { text, sessionId } of bodies(work)) {
    const started = performance.now();
    const url = `http://127.0.0.1:${port}`;
    const posted = await fetch(`${url}/api/hook`, { method: "POST", headers, body: text });
    const seen = await fetch(`${url}/api/sessions/${sessionId}`, { headers });
    took.push(performance.now() - started);
    if (!posted.ok || !seen.ok) throw new Error(`answered ${posted.status} and ${seen.status}`);
    await seen.arrayBuffer();
  }
  return took.sort((a, b) => a - b);
}

await inFolder(async (folder) => {
  const binary = await compile(folder);
  const full = join(folder, "full");
  await fill(binary, full, 100_000);
  let count = 0;
  const figures = await interleave(
    [
      { name: "nothing known", run: () => startMs(binary, null, join(folder, `home-${++count}`)) },
      {
        name: "1,000 sessions, 100,000 events",
        run: () => startMs(binary, full, join(folder, `home-${++count}`)),
      },
    ],
    { rounds, warmUp: 1 },
  );
  console.log(table(figures, "ms to the first answer", ["nothing known"], 0));
  const beckon = await startBeckon(binary, join(folder, "posts"));
  const took = await postToStateMs(beckon);
  await beckon.stop();
  const p99 = took[Math.floor(took.length * 0.99)] ?? 0;
  console.log(
    `POST to state changed and read back: p50 ${median(took).toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
  );
});
