/** What beckon costs while nothing happens, beside a tray that systray2 shows and that does nothing else. */
import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDesktop, type VirtualDesktop } from "../desktop/desktop-harness.ts";
import { waitUntil } from "../wait-until.ts";
import {
  compileEntry,
  cpuMsOf,
  familyOf,
  findFreePort,
  type Program,
  preparePrograms,
  processStart,
  proportionalMb,
  residentMb,
  withFolder,
} from "./processes.ts";
import { formatComparison, meets } from "./rounds.ts";

const idleMs = Number(process.env.BENCH_IDLE_MS ?? 60_000);
/** After this long the start is over, and what it needed has been given back. */
const calmMs = 20_000;
/** After this long the code that runs every second has been compiled: before, that costs more than running it. */
const compiledMs = 120_000;
const sessions = 20;
const blocked = 3;

const targetMb = 50;
const targetCpuMs = 100;

interface Subject {
  readonly name: string;
  readonly desktop: VirtualDesktop;
  readonly pid: number;
}

/** beckon on a panel with a StatusNotifierItem tray, with sessions whose processes run. */
async function startBeckonOnPanel({ name, binary }: Program): Promise<Subject> {
  const desktop = await startDesktop({ panel: true, notifications: true });
  const state = join(desktop.home, "state");
  const port = findFreePort();
  const app = desktop.spawn([binary], { BECKON_HOME: state, BECKON_PORT: String(port) });
  await waitUntil(() => Bun.file(join(state, "endpoint.json")).exists(), 10_000);
  const authorization = readFileSync(join(state, "auth-header"), "utf8").trim().split(": ")[1] ?? "";
  const post = (body: object) =>
    fetch(`http://127.0.0.1:${port}/api/hook`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  for (let n = 0; n < sessions; n++) await startSession(desktop, n, post);
  return { name, desktop, pid: app.pid };
}

/** A live process with a status file, as the CLI writes it, and its hooks. */
async function startSession(
  desktop: VirtualDesktop,
  n: number,
  post: (body: object) => Promise<Response>,
): Promise<void> {
  const { pid } = desktop.spawn(["sleep", "3600"]);
  const procStart = processStart(pid);
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const host = `${boot}/${readlinkSync("/proc/self/ns/pid")}`;
  const cwd = `/home/ann/proj-${n}`;
  const status = n < blocked ? { status: "waiting", waitingFor: "permission prompt" } : { status: "busy" };
  const now = Date.now();
  const folder = join(desktop.home, ".claude/sessions");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, `${pid}.json`),
    JSON.stringify({
      pid,
      procStart,
      sessionId: `s${n}`,
      cwd,
      updatedAt: now,
      statusUpdatedAt: now,
      ...status,
    }),
  );
  const events = n < blocked ? ["UserPromptSubmit", "PermissionRequest"] : ["UserPromptSubmit"];
  for (const hook_event_name of events) {
    const payload = { session_id: `s${n}`, hook_event_name, cwd, tool_name: "Bash", prompt: "go" };
    await post({ provider: "claude", _meta: { id: crypto.randomUUID(), pid, procStart, host }, payload });
  }
}

/** Only a tray, on the older kind of panel that systray2's helper is made for. */
async function startSystray(binary: string): Promise<Subject> {
  const desktop = await startDesktop();
  desktop.spawn(["trayer", "--edge", "top"]);
  const folder = join(desktop.home, "helper");
  mkdirSync(folder);
  const app = desktop.spawn([binary, folder, String(sessions)]);
  const { value } = await app.stdout.getReader().read();
  if (!new TextDecoder().decode(value).includes("ready")) {
    throw new Error(`systray2 is not ready: ${await app.stderr.text()}`);
  }
  return { name: "systray2 only", desktop, pid: app.pid };
}

const subtract = (values: readonly number[], others: readonly number[]): number[] =>
  values.map((value, n) => value - (others[n] ?? 0));

async function measure(folder: string): Promise<boolean> {
  const systray = join(folder, "systray-only");
  await compileEntry(join(import.meta.dir, "systray-only.ts"), systray);
  const subjects: Subject[] = [];
  try {
    for (const program of preparePrograms(folder)) subjects.push(await startBeckonOnPanel(program));
    subjects.push(await startSystray(systray));
    await Bun.sleep(calmMs);
    // All of them over the same minutes.
    const families = subjects.map(({ pid }) => familyOf(pid));
    const readCpuMs = () => families.map((pids) => cpuMsOf(...pids));
    const before = readCpuMs();
    await Bun.sleep(idleMs);
    const early = subtract(readCpuMs(), before);
    await Bun.sleep(Math.max(0, compiledMs - calmMs - idleMs));
    const compiled = readCpuMs();
    await Bun.sleep(idleMs);
    const cpuMs = subtract(readCpuMs(), compiled);
    const resident = families.map((pids) => residentMb(...pids));
    const proportional = families.map((pids) => proportionalMb(...pids) ?? Number.NaN);
    console.log(`${sessions} sessions, ${idleMs / 1_000} s, all processes of each`);
    console.log(
      formatComparison(
        [
          { label: "CPU ms, soon after the start", values: early, digits: 0 },
          { label: "CPU ms", values: cpuMs, digits: 0 },
          { label: "resident MB", values: resident },
          { label: "proportional MB", values: proportional },
          { label: "processes", values: families.map((pids) => pids.length), digits: 0 },
        ],
        subjects.map(({ name }) => name),
      ),
    );
    const [ownCpuMs = 0, ownMb = 0] = [cpuMs[0], resident[0]];
    return [
      meets("idle CPU, ms a minute", (ownCpuMs * 60_000) / idleMs, "at most", targetCpuMs),
      meets("resident memory, MB", ownMb, "at most", targetMb),
      meets("resident memory, of systray2's alone", ownMb / (resident.at(-1) ?? 0), "at most", 1),
    ].every(Boolean);
  } finally {
    for (const { desktop } of subjects) await desktop.stop();
  }
}

process.exitCode = (await withFolder(measure)) ? 0 : 1;
