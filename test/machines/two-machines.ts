/** Two apps with a home each: the second follows the first, over a command in the place of ssh. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { MachineReport } from "../../src/machines/index.ts";
import { isAlive } from "../../src/system/processes.ts";
import { createAppFixture } from "../app-fixture.ts";
import { mainSource } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

export function createTwoMachines() {
  const devbox = createAppFixture();
  const laptop = createAppFixture();
  const variables = Object.entries(devbox.env).map(([name, value]) => `${name}=${value}`);
  const link = ["env", "-i", ...variables, process.execPath, mainSource, "link"];
  /** While this file exists, the machine cannot be reached. */
  const cutMarker = join(laptop.home, "cut");
  /** The process of the link that was opened last. */
  const linkPid = join(laptop.home, "link-pid");
  const cuttable = [
    "sh",
    "-c",
    'test -e "$0" && { echo "no route to host" >&2; exit 255; }; echo $$ >"$1"; shift; exec "$@"',
    cutMarker,
    linkPid,
    ...link,
  ];

  const hooks: Bun.Subprocess[] = [];

  function setMachines(machines: Record<string, unknown>): void {
    mkdirSync(dirname(laptop.paths.config), { recursive: true });
    writeFileSync(laptop.paths.config, JSON.stringify({ machines }));
  }

  return {
    devbox,
    laptop,
    link,
    setMachines,
    /** Starts both, and waits for the link. */
    async start(startDevbox: () => Promise<unknown> = () => devbox.start()): Promise<void> {
      setMachines({ devbox: { command: cuttable } });
      await startDevbox();
      await laptop.start();
      await this.waitForLink();
    },
    async waitForLink(): Promise<void> {
      await waitUntil(async () => (await this.report())[0]?.state === "linked", 20_000);
    },
    /** Kills the link's process, as a lost connection or an out-of-memory killer does. */
    killLink(): void {
      process.kill(Number(readFileSync(linkPid, "utf8")), "SIGKILL");
    },
    /** The link is lost, and cannot be opened before `mend`. */
    async cut(): Promise<void> {
      writeFileSync(cutMarker, "");
      this.killLink();
      await waitUntil(async () => (await this.report())[0]?.state !== "linked", 5_000);
    },
    async mend(): Promise<void> {
      rmSync(cutMarker);
      await this.waitForLink();
    },
    async report(): Promise<MachineReport[]> {
      return ((await (await laptop.request("/api/machines")).json()) as { machines: [] }).machines;
    },
    /** Runs the hook of a permission request on the first machine. Resolves with the decision that it prints. */
    async ask(session_id: string, tool_input: object): Promise<string> {
      const event = {
        session_id,
        hook_event_name: "PermissionRequest",
        tool_name: "Bash",
        cwd: "/home/dev/proj",
      };
      const hook = Bun.spawn([process.execPath, mainSource, "hook", "claude"], {
        env: devbox.env,
        stdin: new Blob([JSON.stringify({ ...event, tool_input })]),
        stdout: "pipe",
      });
      hooks.push(hook);
      return hook.stdout.text();
    },
    /** The app there, which a test or a link has started. null if none runs. */
    findApp(): number | null {
      const pid = existsSync(devbox.paths.endpoint)
        ? (JSON.parse(readFileSync(devbox.paths.endpoint, "utf8")) as { pid: number }).pid
        : process.pid;
      return pid !== process.pid && isAlive(pid, null) ? pid : null;
    },
    /** Kills the app there, which runs in a process of its own. */
    async killApp(): Promise<void> {
      const pid = this.findApp() ?? 0;
      process.kill(pid, "SIGKILL");
      await waitUntil(() => !isAlive(pid, null), 5_000);
    },
    async destroy(): Promise<void> {
      for (const hook of hooks) hook.kill();
      await laptop.destroy();
      const app = this.findApp();
      if (app !== null) process.kill(app, "SIGKILL");
      await devbox.destroy();
    },
  };
}
