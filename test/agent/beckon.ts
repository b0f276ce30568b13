/** The built beckon, run in a world as a person would. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionSnapshot } from "../../src/core/snapshot.ts";
import { type Env, home, type Namespace } from "./namespace.ts";

export interface Beckon {
  /** Starts it; its first answer. */
  start(): Promise<readonly SessionSnapshot[]>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Whatever it or its hooks had to complain about. */
  complaints(): string[];
  /** Looks no more at what it shows. */
  leave(): Promise<void>;
}

export const beckonCommand = `${home}/bin/beckon`;

const lookMs = 60;
const startMs = 5_000;

export function createBeckon(
  space: Namespace,
  folder: string,
  env: Env,
  onShown: (sessions: readonly SessionSnapshot[]) => void,
): Beckon {
  const state = join(folder, ".local/state/beckon");
  let isFollowed = false;
  let following = Promise.resolve();

  /** null: it says on stderr that beckon is not running. */
  async function status(): Promise<readonly SessionSnapshot[] | null> {
    const { stdout, stderr, code } = await space.run([beckonCommand, "status", "--json"], env);
    if (code === 0 && stderr !== "") return null;
    if (code !== 0) throw new Error(`beckon status --json ended with ${code}: ${stderr}`);
    return (JSON.parse(stdout) as { sessions: SessionSnapshot[] }).sessions;
  }

  async function follow(): Promise<void> {
    while (isFollowed) {
      const sessions = await status();
      if (isFollowed && sessions) onShown(sessions);
      await Bun.sleep(lookMs);
    }
  }

  async function leave(): Promise<void> {
    isFollowed = false;
    await following;
  }

  const lines = (path: string): string[] =>
    existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];

  return {
    leave,
    async start() {
      space.start(["sh", "-c", `exec ${beckonCommand} >${home}/beckon.out 2>&1`], env);
      const end = performance.now() + startMs;
      let sessions = await status();
      while (!sessions) {
        const said = lines(join(folder, "beckon.out")).join("\n");
        if (performance.now() > end) throw new Error(`beckon did not answer within ${startMs} ms: ${said}`);
        sessions = await status();
      }
      onShown(sessions);
      isFollowed = true;
      following = follow();
      return sessions;
    },
    async kill() {
      await leave();
      const { pid } = JSON.parse(readFileSync(join(state, "endpoint.json"), "utf8")) as { pid: number };
      await space.kill(pid);
    },
    complaints: () => [
      ...lines(join(state, "beckon.log")).filter((line) => / (warn|error) /.test(line)),
      ...lines(join(state, "hook.log")),
    ],
  };
}
