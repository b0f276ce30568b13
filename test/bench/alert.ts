/** From the start of a PermissionRequest's hook to the notification server's Notify: how long until you are alerted. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startBus, startServer } from "../desktop/private-bus.ts";
import { waitUntil } from "../wait-until.ts";
import { findFreePort, type Program, preparePrograms, withFolder } from "./processes.ts";
import { formatComparison, meets, percentile } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 200);
/** Measured on the CLI: it runs its own Notification hook this long after the dialog opened. */
const ownNotificationMs = 6_070;
const pauseMs = 120;
/** Nothing is shown before the start has settled. */
const settleMs = 1_500;
const targetMs = 60;

type Subject = Awaited<ReturnType<typeof startSubject>>;

/** beckon on a session bus of its own. */
async function startSubject({ name, binary }: Program, folder: string) {
  const bus = await startBus();
  const server = await startServer(bus);
  const home = join(folder, `home-${name}`);
  mkdirSync(home);
  const env = { ...bus.env, HOME: home, BECKON_HOME: home, BECKON_PORT: String(findFreePort()) };
  const app = Bun.spawn([binary], { env, stdio: ["ignore", "ignore", "inherit"] });
  await waitUntil(() => Bun.file(join(home, "endpoint.json")).exists(), 5_000);
  return {
    name,
    server,
    tookMs: [] as number[],
    async runHook(event: object): Promise<void> {
      const hook = Bun.spawn([binary, "hook", "claude"], { env, stdio: ["pipe", "ignore", "inherit"] });
      hook.stdin.write(JSON.stringify({ session_id: "bench", cwd: "/home/dev/proj", ...event }));
      await hook.stdin.end();
      await hook.exited;
    },
    async stop(): Promise<void> {
      app.kill();
      await app.exited;
      server.quit();
      await bus.stop();
    },
  };
}

async function alertOnce({ server, runHook, tookMs }: Subject, round: number): Promise<void> {
  const bash = { tool_name: "Bash", tool_input: { command: `make step-${round}` } };
  await runHook({ hook_event_name: "PreToolUse", tool_use_id: `t${round}`, ...bash });
  // An update of an alert, as when it gets its buttons, replaces the one on the screen.
  const countAlerts = () => server.received.filter(({ replaces }) => replaces === 0).length;
  const before = countAlerts();
  const started = performance.now();
  const asking = runHook({ hook_event_name: "PermissionRequest", ...bash });
  while (countAlerts() === before) await Bun.sleep(0.2);
  tookMs.push(performance.now() - started);
  await runHook({ hook_event_name: "PostToolUse", tool_use_id: `t${round}`, ...bash });
  // The hook waits for an answer until the tool has run.
  await asking;
  await waitUntil(() => server.onScreen.size === 0, 2_000);
  if (countAlerts() !== before + 1) throw new Error("one ask was alerted about more than once");
  await Bun.sleep(pauseMs);
}

async function measure(folder: string): Promise<boolean> {
  const subjects: Subject[] = [];
  try {
    for (const program of preparePrograms(folder)) subjects.push(await startSubject(program, folder));
    await Bun.sleep(settleMs);
    for (let round = 0; round < rounds; round++) {
      for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
        await alertOnce(subject, round);
      }
    }
  } finally {
    for (const subject of subjects) await subject.stop();
  }
  const row = (label: string, part: number) => ({
    label,
    values: subjects.map(({ tookMs }) => percentile(tookMs, part)),
  });
  const rows = [row("p50 ms", 0.5), row("p90 ms", 0.9), row("p99 ms", 0.99), row("largest ms", 1)];
  console.log(
    `from the hook's start to Notify, ${rounds} times (the CLI's own hook: ${ownNotificationMs} ms)`,
  );
  console.log(
    formatComparison(
      rows,
      subjects.map(({ name }) => name),
    ),
  );
  const [own] = subjects;
  return meets("p99 until the alert, ms", percentile(own?.tookMs ?? [], 0.99), "at most", targetMs);
}

process.exitCode = (await withFolder(measure)) ? 0 : 1;
