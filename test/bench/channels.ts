/**
 * What channels cost: an event while five channels hang beside an event without channels, the start and the memory without any,
 * the memory with each service in use, and the time from a tap on the phone to the printed decision.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceSettings } from "../../src/channels/channel.ts";
import { findService } from "../../src/channels/index.ts";
import { createRequest, parseDecision } from "../answers/fixture.ts";
import type { FakeService } from "../channels/servers/fake-service.ts";
import { serverStarters } from "../channels/servers/index.ts";
import { startNtfyServer } from "../channels/servers/ntfy.ts";
import { waitUntil } from "../wait-until.ts";
import {
  against,
  cpuMsOf,
  type Program,
  preparePrograms,
  putLoad,
  type Receiver,
  residentMb,
  startBeckon,
  withFolder,
} from "./processes.ts";
import { formatFigures, interleave, median, meets, percentile, ratio } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const warmUp = 3;
const events = 10_000;
const sessions = 100;
const connections = 16;
const channelCount = 5;
const answers = Number(process.env.BENCH_ANSWERS ?? 20);
const calmMs = 4_000;
const since = Date.now() - 60 * 60_000;

const eager = { detail: "full", answers: "all", when: "always", afterSeconds: 0 };

function writeChannels(home: string, channels: Readonly<Record<string, object>>, secrets: object = {}): void {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.json"), JSON.stringify({ channels }));
  writeFileSync(join(home, "channel-secrets.json"), JSON.stringify(secrets), { mode: 0o600 });
}

/** Takes every connection and answers none. */
function startHangingServer() {
  return Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
}

const none = "no channel";
const hanging = `${channelCount} channels that hang`;

async function measureEvents({ binary }: Program, folder: string): Promise<boolean> {
  const server = startHangingServer();
  const home = join(folder, "home-hanging");
  const settings = { type: "ntfy", server: `http://127.0.0.1:${server.port}`, topic: "t", replyTopic: "r" };
  const names = Array.from({ length: channelCount }, (_, n) => `phone-${n}`);
  writeChannels(home, Object.fromEntries(names.map((name) => [name, { ...settings, ...eager }])));
  const receivers: readonly (readonly [string, Receiver])[] = [
    [none, await startBeckon(binary, join(folder, "home-none"))],
    [hanging, await startBeckon(binary, home)],
  ];
  try {
    await Bun.sleep(calmMs);
    const measureRound = async ({ port, authorization, pid }: Receiver, round: number): Promise<number> => {
      const before = cpuMsOf(pid);
      const part = warmUp + round;
      await putLoad({ port, authorization, part, sessions, events, since, connections });
      return ((cpuMsOf(pid) - before) * 1_000) / events;
    };
    const figures = await interleave(
      receivers.map(([name, receiver]) => ({ name, run: (round) => measureRound(receiver, round) })),
      { rounds, warmUp },
    );
    console.log(formatFigures(figures, "µs of CPU an event", [none], 1));
    const factor = ratio(figures, hanging, none);
    return meets(`an event with ${hanging}, of one without channels`, factor, "at most", 1.1);
  } finally {
    for (const [, receiver] of receivers) await receiver.stop("SIGKILL");
    server.stop(true);
  }
}

async function measureWithout(programs: readonly Program[], folder: string): Promise<boolean> {
  let count = 0;
  const memory = new Map<string, number[]>();
  const figures = await interleave(
    programs.map(({ name, binary }) => ({
      name,
      async run(round) {
        const beckon = await startBeckon(binary, join(folder, `home-start-${++count}`));
        await Bun.sleep(calmMs);
        if (round >= 0) memory.set(name, [...(memory.get(name) ?? []), residentMb(beckon.pid)]);
        await beckon.stop("SIGKILL");
        return beckon.startMs;
      },
    })),
    { rounds, warmUp: 1 },
  );
  console.log(formatFigures(figures, "ms to the first answer, no channel", [against], 1));
  console.log(formatFigures(memory, "MB resident, no channel", [against], 1));
  if (programs.length === 1) return true;
  return [
    meets("start without channels, of the other build", ratio(figures, "beckon", against), "at most", 1.05),
    meets("memory without channels, of the other build", ratio(memory, "beckon", against), "at most", 1.02),
  ].every(Boolean);
}

/** Each service in use: connected, and an alert sent. */
async function measureInUse({ binary }: Program, folder: string): Promise<boolean> {
  const types = Object.keys(serverStarters);
  const everything = "all of them";
  const cases = [["no channel"], ...types.map((type) => [type]), [everything, ...types]];
  let count = 0;
  const memory = await interleave(
    cases.map(([name = "", ...several]) => ({
      name,
      run: () => {
        const used = several.length > 0 ? several : types.filter((type) => type === name);
        return measureMemory(binary, join(folder, `home-use-${++count}`), used);
      },
    })),
    { rounds: Math.min(rounds, 5), warmUp: 1 },
  );
  console.log(formatFigures(memory, "MB resident, in use", [], 1));
  const added = median(memory.get(everything) ?? []) - median(memory.get("no channel") ?? []);
  return meets("MB that all services in use add", added, "at most", 30);
}

async function measureMemory(binary: string, home: string, types: readonly string[]): Promise<number> {
  const servers: [string, FakeService][] = [];
  for (const type of types) {
    const server = await serverStarters[type]?.();
    if (server) servers.push([type, server]);
  }
  const channels = servers.map(([type, { settings, secrets, accounts }]) => {
    const listed = accounts.listed === "" ? {} : { accounts: [accounts.listed] };
    const answers = isTwoWay(type, settings, secrets) ? "all" : "off";
    return [type, { type, ...settings, ...eager, ...listed, answers }] as const;
  });
  const secrets = servers.map(([type, server]) => [type, server.secrets] as const);
  writeChannels(home, Object.fromEntries(channels), Object.fromEntries(secrets));
  const beckon = await startBeckon(binary, home);
  try {
    const hook = Bun.spawn([binary, "hook", "claude"], {
      env: { PATH: process.env.PATH ?? "", HOME: home, BECKON_HOME: home, CLAUDE_CODE_SESSION_ATTENDED: "1" },
      stdin: new Blob([JSON.stringify(createRequest("session-1", { tool_input: { command: "echo 1" } }))]),
      stdout: "ignore",
      stderr: "inherit",
    });
    for (const [type, server] of servers)
      await waitUntil(() => server.messages().length > 0, 10_000, `a message through ${type}`);
    await Bun.sleep(calmMs);
    const resident = residentMb(beckon.pid);
    hook.kill();
    await hook.exited;
    return resident;
  } finally {
    await beckon.stop("SIGKILL");
    for (const [, server] of servers) await server.stop();
  }
}

const isTwoWay = (type: string, settings: ServiceSettings, secrets: Readonly<Record<string, string>>) =>
  findService(type)?.canAnswer(settings, (field) => secrets[field] ?? null) === true;

async function measureAnswers({ binary }: Program, folder: string): Promise<boolean> {
  const phone = await startNtfyServer();
  const home = join(folder, "home-answers");
  writeChannels(home, { phone: { type: "ntfy", ...phone.settings, ...eager } }, { phone: phone.secrets });
  const beckon = await startBeckon(binary, home);
  const tookMs: number[] = [];
  try {
    for (let n = 0; n < answers; n++) {
      const request = createRequest(`session-${n}`, { tool_input: { command: `echo ${n}` } });
      const hook = Bun.spawn([binary, "hook", "claude"], {
        env: {
          PATH: process.env.PATH ?? "",
          HOME: home,
          BECKON_HOME: home,
          CLAUDE_CODE_SESSION_ATTENDED: "1",
        },
        stdin: new Blob([JSON.stringify(request)]),
        stdout: "pipe",
        stderr: "inherit",
      });
      await waitUntil(() => phone.messages().at(-1)?.buttons.includes("Allow"), 10_000, "a message");
      await waitUntil(() => phone.messages().at(-1)?.text.includes(`echo ${n}`), 10_000, "its text");
      const started = performance.now();
      await phone.tap("Allow");
      const printed = await hook.stdout.text();
      tookMs.push(performance.now() - started);
      if (parseDecision(printed).behavior !== "allow") throw new Error(`the hook printed ${printed}`);
    }
  } finally {
    await beckon.stop("SIGKILL");
    await phone.stop();
  }
  console.log(
    `from the tap to the printed decision: p50 ${median(tookMs).toFixed(1)} ms, p95 ${percentile(tookMs, 0.95).toFixed(1)} ms, ${answers} answers`,
  );
  return meets("from the tap to the printed decision, p50 ms", median(tookMs), "at most", 100);
}

process.exitCode = (await withFolder(async (folder) => {
  const programs = preparePrograms(folder);
  const [own] = programs;
  if (!own) return false;
  const isCheap = await measureEvents(own, folder);
  const isQuick = await measureAnswers(own, folder);
  const isSmall = await measureInUse(own, folder);
  const isFree = await measureWithout(programs, folder);
  return isCheap && isQuick && isSmall && isFree;
}))
  ? 0
  : 1;
