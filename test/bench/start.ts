/** From the start of the process to its first answer; and from a POST to the state that it changed. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bodies } from "./bodies.ts";
import { compile, inFolder, put, type Receiver, startBeckon } from "./processes.ts";
import { interleave, median, table } from "./rounds.ts";

const rounds = 9;
const posts = 2_000;
const sessions = 1_000;
const events = 100_000;

/** A folder whose snapshot knows the sessions, and whose journal has all the events after it. */
async function fill(binary: string, home: string): Promise<void> {
  const since = Date.now() - 60 * 60_000;
  const work = { sessions, events, since, connections: 16 };
  const first = await startBeckon(binary, home);
  await put({ ...work, port: first.port, authorization: first.authorization, part: 0, events: sessions });
  await first.stop();
  const snapshot = readFileSync(join(home, "snapshot.json"));
  const second = await startBeckon(binary, home);
  await put({ ...work, port: second.port, authorization: second.authorization, part: 1 });
  await second.stop("SIGKILL");
  // Those that it saved meanwhile are undone.
  writeFileSync(join(home, "snapshot.json"), snapshot);
  rmSync(join(home, "snapshot.previous.json"), { force: true });
}

async function startMs(binary: string, from: string | null, home: string): Promise<number> {
  if (from) cpSync(from, home, { recursive: true });
  else mkdirSync(home);
  const beckon = await startBeckon(binary, home);
  await beckon.stop("SIGKILL");
  const replayed = /(\d+) events from the journal/.exec(
    readFileSync(join(home, "beckon.log"), "utf8").split("\n").at(-2) ?? "",
  );
  if (Number(replayed?.[1]) !== (from ? events : 0)) throw new Error(`${replayed?.[1]} events were replayed`);
  rmSync(home, { recursive: true });
  return beckon.startMs;
}

/** One at a time, to the answer; a second request, not timed, must then find the state changed. */
async function postToStateMs({ port, authorization }: Receiver): Promise<number[]> {
  const [name = "", value = ""] = authorization.split(": ");
  const headers = { [name]: value, "content-type": "application/json" };
  const took: number[] = [];
  const work = { part: 0, sessions: 50, events: posts, since: Date.now() - 60 * 60_000 };
  for (const { text, sessionId } of bodies(work)) {
    const url = `http://127.0.0.1:${port}`;
    const started = performance.now();
    const posted = await fetch(`${url}/api/hook`, { method: "POST", headers, body: text });
    await posted.arrayBuffer();
    took.push(performance.now() - started);
    const seen = await fetch(`${url}/api/sessions/${sessionId}`, { headers });
    const { lastEventAt } = (await seen.json()) as { lastEventAt?: number };
    const isChanged = lastEventAt === JSON.parse(text)._meta.at;
    if (!posted.ok || !isChanged) throw new Error(`answered ${posted.status}, but the state is not changed`);
  }
  return took.sort((a, b) => a - b);
}

await inFolder(async (folder) => {
  const binary = await compile(folder);
  const full = join(folder, "full");
  await fill(binary, full);
  let count = 0;
  const figures = await interleave(
    [
      { name: "nothing known", run: () => startMs(binary, null, join(folder, `home-${++count}`)) },
      {
        name: "1,000 sessions, and 100,000 events after the snapshot",
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
    `POST to state changed, ${posts} times: p50 ${median(took).toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
  );
});
