/**
 * What linked machines cost: memory and CPU of an idle link and of a mirrored session, besides ssh itself; on the machine that is
 * followed; and how much later than there an event is seen here, over a real ssh whose echo is measured in the same run.
 *
 * BENCH_IDLE_MS and BENCH_ROUNDS make it shorter.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatMessage, type OwnerMessage, protocolVersion } from "../../src/machines/protocol.ts";
import { readLines } from "../../src/system/lines.ts";
import { readCommandLine, readSystemFile } from "../../src/system/processes.ts";
import { blocked, minute } from "../core/view/menu/fixture.ts";
import { waitUntil } from "../wait-until.ts";
import {
  cpuMsOf,
  familyOf,
  findFreePort,
  preparePrograms,
  proportionalMb,
  type Receiver,
  residentMb,
  startBeckon,
  withFolder,
} from "./processes.ts";
import { followEvents, request } from "./requests.ts";
import { meets, percentile, sum } from "./rounds.ts";

const idleMs = Number(process.env.BENCH_IDLE_MS ?? 60_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 100);
/** After this long beckon has given back what the start needed. */
const calmMs = 25_000;
const links = 50;
const sessions = 500;
const floodPerSecond = 1_000;

const smallOwner = join(import.meta.dir, "../fixtures/small-owner.sh");

const describe = (n: number, more: object = {}) => ({
  session: { ...blocked("shop", minute), sessionId: `s${n}`, newest: 1, ...more },
  answerable: [],
});

const sayHello = (machineId: string, count: number): string => {
  const now = { at: Date.now(), t: performance.now() };
  const facts = { version: "1", machineId, now, agents: ["claude"], hasChannels: false };
  const all = Array.from({ length: count }, (_, n) => describe(n));
  const messages: OwnerMessage[] = [
    { kind: "hello", protocol: protocolVersion, ...facts },
    ...all.map(
      (described): OwnerMessage => ({ kind: "sessions", seq: 1, sessions: [described], isPart: true }),
    ),
    { kind: "sessions", seq: 1, sessions: [] },
  ];
  return messages.map(formatMessage).join("");
};

interface Follower {
  readonly name: string;
  readonly home: string;
  readonly app: Receiver;
}

const countLinked = async (app: Receiver): Promise<number> =>
  (await (await request(app, "/api/machines")).text()).split('"linked"').length - 1;

async function startFollower(
  folder: string,
  binary: string,
  name: string,
  machines: Readonly<Record<string, unknown>>,
): Promise<Follower> {
  const home = join(folder, name.replaceAll(" ", "-"));
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.json"), JSON.stringify({ machines }));
  const app = await startBeckon(binary, home);
  await waitUntil(async () => (await countLinked(app)) === Object.keys(machines).length, 60_000);
  return { name, home, app };
}

/** Machines that say hello with so many sessions each. `flood` is the path of what is said later. */
function createOwners(folder: string, name: string, count: number, sessionCount: number, flood?: string) {
  const entries = Array.from({ length: count }, (_, n) => {
    const file = join(folder, `${name}-${n}.jsonl`);
    writeFileSync(file, sayHello(`${name}-${n}`, sessionCount));
    return [`m${n}`, { command: ["sh", smallOwner, file, ...(flood === undefined ? [] : [flood])] }] as const;
  });
  return Object.fromEntries(entries);
}

async function measureIdle(folder: string, binary: string): Promise<boolean> {
  const followers = [
    await startFollower(folder, binary, "no machine", {}),
    await startFollower(folder, binary, "one link", createOwners(folder, "one", 1, 0)),
    await startFollower(folder, binary, "many links", createOwners(folder, "many", links, 0)),
    await startFollower(folder, binary, "many sessions", createOwners(folder, "full", 1, sessions)),
  ];
  await Bun.sleep(calmMs);
  const before = followers.map(({ app }) => cpuMsOf(app.pid));
  await Bun.sleep(idleMs);
  const [none, one, many, full] = followers.map(({ name, app }, index) => {
    const cpuMs = ((cpuMsOf(app.pid) - (before[index] ?? 0)) * 60_000) / idleMs;
    const mb = proportionalMb(app.pid) ?? residentMb(app.pid);
    console.log(
      `${name}: ${residentMb(app.pid).toFixed(1)} MB resident, ${mb.toFixed(1)} MB proportional, ${cpuMs.toFixed(0)} ms CPU a minute`,
    );
    return { cpuMs, mb };
  });
  for (const { app } of followers) await app.stop();
  if (!none || !one || !many || !full) return false;
  console.log(`the first link, with the code of it: ${(one.mb - none.mb).toFixed(1)} MB`);
  return [
    meets("MB of each further link", (many.mb - one.mb) / (links - 1), "at most", 1),
    meets("ms CPU a minute of each link", (many.cpuMs - none.cpuMs) / links, "at most", 20),
    meets("MB of a mirrored session", (full.mb - one.mb) / sessions, "at most", 1),
    meets("ms CPU a minute of a mirrored session", (full.cpuMs - one.cpuMs) / sessions, "at most", 20),
  ].every(Boolean);
}

/** A thousand messages a second for five seconds. */
async function measureFlood(folder: string, binary: string): Promise<boolean> {
  const flood = join(folder, "flood.jsonl");
  const lines = Array.from({ length: floodPerSecond - 10 }, (_, n) =>
    formatMessage({ kind: "session", seq: 2, described: describe(n % 20, { detail: `step ${n}` }) }),
  );
  writeFileSync(flood, lines.join(""));
  const { app } = await startFollower(folder, binary, "flood", createOwners(folder, "flood", 1, 20, flood));
  const cpuBefore = cpuMsOf(app.pid);
  await Bun.sleep(6_000);
  const cpuMs = cpuMsOf(app.pid) - cpuBefore;
  const started = performance.now();
  await request(app, "/api/sessions");
  console.log(`the list, right after the flood: ${(performance.now() - started).toFixed(0)} ms`);
  const log = readFileSync(join(folder, "flood", "beckon.log"), "utf8");
  await app.stop();
  return [
    meets("ms CPU of a message in a flood", cpuMs / (5 * lines.length), "at most", 1),
    meets("messages dropped, by the log", log.split("the rest is dropped").length - 1, "at most", 0),
  ].every(Boolean);
}

/** An sshd of this user on 127.0.0.1. Returns the command that runs another one over it. */
async function startSshd(folder: string) {
  const port = findFreePort();
  const must = (...command: string[]) => {
    if (Bun.spawnSync(command).exitCode !== 0) throw new Error(`${command.join(" ")} failed`);
  };
  for (const key of ["key", "host"])
    must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", join(folder, key));
  cpSync(join(folder, "key.pub"), join(folder, "authorized_keys"));
  mkdirSync("/run/sshd", { recursive: true });
  const conf = [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${folder}/host`,
    `AuthorizedKeysFile ${folder}/authorized_keys`,
    "StrictModes no",
    "UsePAM no",
    "PidFile none",
    "UseDNS no",
  ];
  writeFileSync(join(folder, "sshd_config"), `${conf.join("\n")}\n`);
  const sshd = Bun.spawn([
    "/usr/sbin/sshd",
    "-D",
    "-f",
    join(folder, "sshd_config"),
    "-E",
    join(folder, "sshd.log"),
  ]);
  const ssh = [
    ...["ssh", "-F", "none", "-T", "-p", String(port), "-i", join(folder, "key"), "-o", "BatchMode=yes"],
    ...["-o", "StrictHostKeyChecking=no", "-o", `UserKnownHostsFile=${folder}/known`, "-o", "LogLevel=ERROR"],
    "127.0.0.1",
  ];
  const isUp = () => Bun.spawnSync([...ssh, "true"], { stdin: "ignore" }).exitCode === 0;
  const explain = () => Bun.spawnSync([...ssh, "-v", "true"], { stdin: "ignore" }).stderr.toString();
  await waitUntil(isUp, 60_000, explain, 500);
  return { ssh, stop: () => sshd.kill() };
}

/** Round trips of a line of 2 KB over the same ssh. */
async function createEcho(ssh: readonly string[]): Promise<() => Promise<number>> {
  const child = Bun.spawn([...ssh, "cat"], { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
  let onLine = (): void => {};
  void readLines(child.stdout, 1e6, () => onLine());
  const line = `${"x".repeat(2_000)}\n`;
  return async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    onLine = resolve;
    const started = performance.now();
    child.stdin.write(line);
    child.stdin.flush();
    await promise;
    return performance.now() - started;
  };
}

async function measureLatency(folder: string, binary: string): Promise<boolean> {
  const { ssh, stop } = await startSshd(folder);
  try {
    return await compareViews(folder, binary, ssh);
  } finally {
    stop();
  }
}

async function compareViews(folder: string, binary: string, ssh: readonly string[]): Promise<boolean> {
  const ownerHome = join(folder, "owner");
  const owner = await startBeckon(binary, ownerHome);
  const link = `env BECKON_HOME=${ownerHome} HOME=${ownerHome} ${binary} link`;
  const mbBefore = residentMb(owner.pid);
  const { app } = await startFollower(folder, binary, "laptop", { devbox: { command: [...ssh, link] } });
  const [there, here, echo] = [await followEvents(owner), await followEvents(app), await createEcho(ssh)];
  const figures = { there: [] as number[], here: [] as number[], echo: [] as number[] };
  for (let round = -5; round < rounds; round++) {
    const marker = `marker-${round + 1_000}-`;
    const seen = [there(marker), here(marker)];
    const echoMs = await echo();
    const started = performance.now();
    const event = {
      session_id: "s",
      hook_event_name: "UserPromptSubmit",
      prompt: marker,
      cwd: "/home/dev/proj",
    };
    await request(owner, "/api/hook", { method: "POST", body: JSON.stringify(event) });
    const [thereMs = 0, hereMs = 0] = (await Promise.all(seen)).map((at) => at - started);
    // Events that follow each other at once are sent together on both machines.
    await Bun.sleep(50);
    if (round < 0) continue;
    figures.there.push(thereMs);
    figures.here.push(hereMs);
    figures.echo.push(echoMs);
  }
  const print = (name: string, values: readonly number[]) =>
    console.log(
      `${name}: p50 ${percentile(values, 0.5).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)} ms`,
    );
  print("event → view of its own machine", figures.there);
  print("event → view of a linked machine", figures.here);
  print("echo over the same ssh", figures.echo);
  const linkMb = familyOf(app.pid).length > 1 ? findLinkMb(ownerHome) : Number.NaN;
  console.log(
    `the followed app: ${(residentMb(owner.pid) - mbBefore).toFixed(1)} MB more than before it was linked; its \`beckon link\`: ${linkMb.toFixed(1)} MB proportional`,
  );
  await app.stop();
  await owner.stop();
  const later = percentile(figures.here, 0.5) - percentile(figures.echo, 0.5);
  return meets(
    "event → here without the echo, ÷ event → there",
    later / percentile(figures.there, 0.5),
    "at most",
    1.2,
  );
}

/** Memory of the `beckon link` that carries the messages, on the followed machine. */
function findLinkMb(ownerHome: string): number {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const isLink = (pid: number) => {
    const args = readCommandLine(pid);
    return (
      args.at(-1) === "link" &&
      (readSystemFile(`/proc/${pid}/environ`) ?? "").includes(`BECKON_HOME=${ownerHome}`)
    );
  };
  return sum(pids.filter(isLink).map((pid) => proportionalMb(pid) ?? residentMb(pid)));
}

const isMet = await withFolder(async (folder) => {
  const [program] = preparePrograms(folder);
  if (!program) return false;
  const parts = [measureLatency, measureFlood, measureIdle];
  const results: boolean[] = [];
  for (const measure of parts) results.push(await measure(folder, program.binary));
  return results.every(Boolean);
});
process.exit(isMet ? 0 : 1);
