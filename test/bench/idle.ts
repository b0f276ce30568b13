/** What beckon costs while nothing happens, beside a tray that is made by systray2 and does nothing else. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Desktop, startDesktop } from "../desktop/world.ts";
import { until } from "../world.ts";
import { compile, compileEntry, cpuMsOf, freePort, inFolder, residentMb, shareMb } from "./processes.ts";
import { meets } from "./rounds.ts";

const idleMs = Number(process.env.BENCH_IDLE_MS ?? 60_000);
const calmMs = 5_000;
const sessions = 20;

interface Cost {
  readonly cpuMs: number;
  readonly residentMb: number;
  /** null: this system does not say. */
  readonly shareMb: number | null;
  readonly processes: number;
}

/** beckon with all that it does, on a panel of its own kind. */
async function startWhole(desktop: Desktop, binary: string): Promise<number> {
  const state = join(desktop.home, "state");
  const port = freePort();
  const app = desktop.spawn([binary], { BECKON_HOME: state, BECKON_PORT: String(port) });
  await until(() => Bun.file(join(state, "endpoint.json")).exists(), 10_000);
  const authorization = readFileSync(join(state, "auth-header"), "utf8").trim().split(": ")[1] ?? "";
  for (let n = 0; n < sessions; n++) {
    const events = n < 3 ? ["UserPromptSubmit", "PermissionRequest"] : ["UserPromptSubmit"];
    for (const hook_event_name of events) {
      await fetch(`http://127.0.0.1:${port}/api/hook`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({
          session_id: `s${n}`,
          hook_event_name,
          cwd: `/home/ann/proj-${n}`,
          tool_name: "Bash",
        }),
      });
    }
  }
  return app.pid;
}

/** Only a tray, on the older kind that its helper is made for. */
async function startTrayOnly(desktop: Desktop, binary: string): Promise<number> {
  desktop.spawn(["trayer", "--edge", "top"]);
  const folder = join(desktop.home, "helper");
  mkdirSync(folder);
  const app = desktop.spawn([binary, folder, String(sessions)], { TMPDIR: folder });
  const { value } = await app.stdout.getReader().read();
  if (!new TextDecoder().decode(value).includes("ready"))
    throw new Error(`systray2 is not ready: ${await app.stderr.text()}`);
  return app.pid;
}

async function measureOn(desktop: Desktop, start: (desktop: Desktop) => Promise<number>): Promise<Cost> {
  try {
    const pid = await start(desktop);
    await Bun.sleep(calmMs);
    const pids = familyOf(pid);
    const before = sum(pids.map(cpuMsOf));
    await Bun.sleep(idleMs);
    const shares = pids.flatMap((one) => shareMb(one) ?? []);
    return {
      cpuMs: sum(pids.map(cpuMsOf)) - before,
      residentMb: sum(pids.map(residentMb)),
      shareMb: shares.length < pids.length ? null : sum(shares),
      processes: pids.length,
    };
  } finally {
    await desktop.stop();
  }
}

/** The process and all that it started. */
function familyOf(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        return [{ pid: Number(name), parent: Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) }];
      } catch {
        return [];
      }
    });
  const family = [pid];
  for (const member of family) {
    for (const one of parents) if (one.parent === member && !family.includes(one.pid)) family.push(one.pid);
  }
  return family;
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

function tell(name: string, { cpuMs, residentMb, shareMb, processes }: Cost): void {
  const shared = shareMb === null ? "" : `, ${shareMb.toFixed(0)} MB by its share of shared pages`;
  console.log(
    `${name}: ${cpuMs} ms of CPU in ${idleMs / 1_000} s, ${residentMb.toFixed(0)} MB${shared}, in ${processes} processes`,
  );
}

async function measure(folder: string): Promise<boolean> {
  const binary = await compile(folder);
  const trayOnly = join(folder, "systray-only");
  await compileEntry(join(import.meta.dir, "systray-only.ts"), trayOnly);
  const whole = await measureOn(await startDesktop({ panel: true, notifications: true }), (desktop) =>
    startWhole(desktop, binary),
  );
  const tray = await measureOn(await startDesktop(), (desktop) => startTrayOnly(desktop, trayOnly));
  tell("beckon", whole);
  tell("systray2 only", tray);
  // Where the system says it, by share: resident pages that two processes have in common would count twice.
  const [mine, theirs] =
    whole.shareMb !== null && tray.shareMb !== null
      ? [whole.shareMb, tray.shareMb]
      : [whole.residentMb, tray.residentMb];
  console.log(`memory resident, of systray2's alone: ${(whole.residentMb / tray.residentMb).toFixed(2)}`);
  return [
    meets("idle CPU, of one core", whole.cpuMs / idleMs, "at most", 0.01),
    meets("memory of all processes, of systray2's alone", mine / theirs, "at most", 1),
  ].every(Boolean);
}

process.exitCode = (await inFolder(measure)) ? 0 : 1;
