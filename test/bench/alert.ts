/** From the start of a PermissionRequest's hook to the notification server's Notify: what a person waits to be told. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startBus, startServer } from "../desktop/private-bus.ts";
import { until } from "../world.ts";
import { compile, freePort, inFolder } from "./processes.ts";
import { meets } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 200);
/** Measured on the CLI: its own Notification hook comes so long after the dialog. */
const ownNotificationMs = 6_070;
const betweenMs = 120;

async function measure(folder: string): Promise<boolean> {
  const binary = await compile(folder);
  const bus = await startBus();
  const server = await startServer(bus);
  const home = join(folder, "home");
  mkdirSync(home);
  const env = { ...bus.env, HOME: home, BECKON_HOME: home, BECKON_PORT: String(freePort()) };
  const app = Bun.spawn([binary], { env, stdio: ["ignore", "ignore", "inherit"] });
  const tell = async (event: object): Promise<void> => {
    const hook = Bun.spawn([binary, "hook", "claude"], { env, stdio: ["pipe", "ignore", "inherit"] });
    hook.stdin.write(JSON.stringify({ session_id: "bench", cwd: "/home/dev/proj", ...event }));
    await hook.stdin.end();
    await hook.exited;
  };
  const bash = (n: number) => ({ tool_name: "Bash", tool_input: { command: `make step-${n}` } });
  const tookMs: number[] = [];
  try {
    await until(() => Bun.file(join(home, "endpoint.json")).exists(), 5_000);
    // At a start nothing shows before everything has settled.
    await Bun.sleep(1_500);
    for (let n = 0; n < rounds; n++) {
      await tell({ hook_event_name: "PreToolUse", tool_use_id: `t${n}`, ...bash(n) });
      const before = server.heard.length;
      const started = performance.now();
      const told = tell({ hook_event_name: "PermissionRequest", ...bash(n) });
      while (server.heard.length === before) await Bun.sleep(0.2);
      tookMs.push(performance.now() - started);
      if (server.heard.length !== before + 1) throw new Error("told more than once");
      await tell({ hook_event_name: "PostToolUse", tool_use_id: `t${n}`, ...bash(n) });
      // It waits for an answer until then.
      await told;
      await until(() => server.onScreen.size === 0, 2_000);
      await Bun.sleep(betweenMs);
    }
  } finally {
    app.kill();
    await app.exited;
    server.quit();
    await bus.stop();
  }
  const sorted = tookMs.sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  console.log(
    `hook started to Notify received, ${rounds} times: p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, ` +
      `most ${at(1).toFixed(1)} ms (the CLI's own Notification hook: ${ownNotificationMs} ms, measured on it)`,
  );
  return meets("p99 of the CLI's own Notification hook", at(0.99) / ownNotificationMs, "at most", 0.05);
}

process.exitCode = (await inFolder(measure)) ? 0 : 1;
