/** From the start of the process to its first answer, and from a POST to the changed state. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bodies } from "./bodies.ts";
import {
  against,
  type Program,
  preparePrograms,
  putLoad,
  type Receiver,
  startBeckon,
  withFolder,
} from "./processes.ts";
import { type Case, formatComparison, formatFigures, interleave, percentile } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const posts = 2_000;
const sessions = 1_000;
const events = 100_000;

/** Makes a state folder whose snapshot has the sessions, and whose journal has all the events after it. */
async function fill(binary: string, home: string): Promise<void> {
  const since = Date.now() - 60 * 60_000;
  const work = { sessions, events, since, connections: 16 };
  const first = await startBeckon(binary, home);
  await putLoad({ ...work, port: first.port, authorization: first.authorization, part: 0, events: sessions });
  await first.stop();
  const snapshot = readFileSync(join(home, "snapshot.json"));
  const second = await startBeckon(binary, home);
  await putLoad({ ...work, port: second.port, authorization: second.authorization, part: 1 });
  await second.stop("SIGKILL");
  // Undoes the snapshots that the second one saved.
  writeFileSync(join(home, "snapshot.json"), snapshot);
  rmSync(join(home, "snapshot.previous.json"), { force: true });
}

async function measureStart(binary: string, template: string | null, home: string): Promise<number> {
  if (template) cpSync(template, home, { recursive: true });
  else mkdirSync(home);
  const beckon = await startBeckon(binary, home);
  await beckon.stop("SIGKILL");
  const lastLine = readFileSync(join(home, "beckon.log"), "utf8").split("\n").at(-2) ?? "";
  const replayed = /(\d+) events from the journal/.exec(lastLine)?.[1];
  if (Number(replayed) !== (template ? events : 0)) throw new Error(`${replayed} events were replayed`);
  rmSync(home, { recursive: true });
  return beckon.startMs;
}

/** One POST at a time. A second request, which is not timed, then has to show the changed state. */
async function measurePosts({ port, authorization }: Receiver): Promise<number[]> {
  const [name = "", value = ""] = authorization.split(": ");
  const headers = { [name]: value, "content-type": "application/json" };
  const tookMs: number[] = [];
  const work = { part: 0, sessions: 50, events: posts, since: Date.now() - 60 * 60_000 };
  for (const { text, sessionId } of bodies(work)) {
    const url = `http://127.0.0.1:${port}`;
    const started = performance.now();
    const response = await fetch(`${url}/api/hook`, { method: "POST", headers, body: text });
    await response.arrayBuffer();
    tookMs.push(performance.now() - started);
    const session = await (await fetch(`${url}/api/sessions/${sessionId}`, { headers })).json();
    const isChanged = (session as { lastEventAt?: number }).lastEventAt === JSON.parse(text)._meta.at;
    if (!response.ok || !isChanged) {
      throw new Error(`the answer is ${response.status}, but the state has not changed`);
    }
  }
  return tookMs;
}

await withFolder(async (folder) => {
  const programs = preparePrograms(folder);
  const cases: Case[] = [];
  let count = 0;
  const nextHome = () => join(folder, `home-${++count}`);
  const nameOf = ({ name }: Program, start: string) => (name === against ? `${start} (${name})` : start);
  for (const program of programs) {
    const full = join(folder, `full-${program.name}`);
    await fill(program.binary, full);
    cases.push(
      { name: nameOf(program, "empty"), run: () => measureStart(program.binary, null, nextHome()) },
      {
        name: nameOf(program, "1,000 sessions and 100,000 events"),
        run: () => measureStart(program.binary, full, nextHome()),
      },
    );
  }
  const figures = await interleave(cases, { rounds, warmUp: 1 });
  console.log(formatFigures(figures, "ms to the first answer", ["empty"], 0));

  const tookMs: number[][] = [];
  for (const { name, binary } of programs) {
    const beckon = await startBeckon(binary, join(folder, `posts-${name}`));
    tookMs.push(await measurePosts(beckon));
    await beckon.stop();
  }
  const row = (label: string, part: number) => ({
    label,
    values: tookMs.map((list) => percentile(list, part)),
    digits: 2,
  });
  const rows = [row("POST to changed state, p50 ms", 0.5), row("POST to changed state, p99 ms", 0.99)];
  console.log(
    formatComparison(
      rows,
      programs.map(({ name }) => name),
    ),
  );
});
