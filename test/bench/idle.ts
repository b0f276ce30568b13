/** What beckon costs while nothing happens: on a panel of its own kind, and on an old tray where systray2's helper serves. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startDesktop } from "../desktop/world.ts";
import { until } from "../world.ts";
import { compile, cpuMsOf, freePort, inFolder, residentMb } from "./processes.ts";
import { meets } from "./rounds.ts";

const idleMs = Number(process.env.BENCH_IDLE_MS ?? 60_000);
const sessions = 20;

interface Cost {
  readonly cpuMs: number;
  readonly memoryMb: number;
  readonly processes: number;
}

async function measureOn(binary: string, tray: "panel" | "systray2"): Promise<Cost> {
  const desktop = await startDesktop({ panel: tray === "panel", notifications: true });
  try {
    if (tray === "systray2") desktop.spawn(["trayer", "--edge", "top"]);
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
    await Bun.sleep(5_000);
    const pids = familyOf(app.pid);
    const before = pids.map(cpuMsOf).reduce((a, b) => a + b, 0);
    await Bun.sleep(idleMs);
    const cpuMs = pids.map(cpuMsOf).reduce((a, b) => a + b, 0) - before;
    const memoryMb = pids.map(residentMb).reduce((a, b) => a + b, 0);
    return { cpuMs, memoryMb, processes: pids.length };
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

async function measure(folder: string): Promise<boolean> {
  const binary = await compile(folder);
  const own = await measureOn(binary, "panel");
  const old = await measureOn(binary, "systray2");
  const seconds = idleMs / 1_000;
  for (const [name, { cpuMs, memoryMb, processes }] of Object.entries({ "D-Bus": own, systray2: old })) {
    console.log(
      `${name}: ${cpuMs} ms of CPU in ${seconds} s, ${memoryMb.toFixed(0)} MB in ${processes} processes`,
    );
  }
  return [
    meets("idle CPU, of one core", own.cpuMs / idleMs, "at most", 0.01),
    meets("memory of all processes, of systray2's", own.memoryMb / old.memoryMb, "at most", 1),
  ].every(Boolean);
}

process.exitCode = (await inFolder(measure)) ? 0 : 1;
