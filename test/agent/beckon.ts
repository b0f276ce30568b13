/** The built beckon, run in a sandbox as a person would. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionSnapshot } from "../../src/core/view/snapshot.ts";
import { type Env, home, type Namespace, type Ran, type Signal } from "./namespace.ts";

export interface Beckon {
  /** Registers its hooks, as a person does it. */
  install(): Promise<void>;
  /** Starts it; its first answer. */
  start(): Promise<readonly SessionSnapshot[]>;
  /** kill -9. */
  kill(): Promise<void>;
  /** It stands still: its port is open, and nobody answers. */
  hang(): Promise<void>;
  /** And goes on. */
  wake(): Promise<void>;
  /** `beckon …`, as a person calls it in another terminal. */
  call(...args: readonly string[]): Promise<Ran>;
  /** A request to its API, with its token. */
  post(path: string, given: object): Promise<{ readonly status: number; readonly body: string }>;
  /** How many events of that name its hooks have brought, be it only to the spool. */
  heard(event: string): number;
  /** Whatever it or its hooks had to complain about. */
  complaints(): string[];
  /** Looks no more at what it shows. */
  leave(): Promise<void>;
}

const beckonCommand = `${home}/bin/beckon`;

const lookMs = 60;
const startMs = 5_000;

export function createBeckon(
  space: Namespace,
  folder: string,
  env: Env,
  onShown: (sessions: readonly SessionSnapshot[]) => void,
): Beckon {
  const state = join(space.root, home, ".local/state/beckon");
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

  const endpoint = () =>
    JSON.parse(readFileSync(join(state, "endpoint.json"), "utf8")) as { pid: number; url: string };

  async function signal(name: Signal): Promise<void> {
    await leave();
    await space.signal(endpoint().pid, name);
  }

  function look(): void {
    isFollowed = true;
    following = follow();
  }

  const lines = (path: string): string[] =>
    existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];

  return {
    leave,
    async install() {
      const { code, stdout, stderr } = await space.run([beckonCommand, "--install", "--no-login"], env);
      if (code !== 0) throw new Error(`beckon --install ended with ${code}: ${stdout}${stderr}`);
    },
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
      look();
      return sessions;
    },
    kill: () => signal("KILL"),
    hang: () => signal("STOP"),
    async wake() {
      await signal("CONT");
      look();
    },
    call: (...args) => space.run([beckonCommand, ...args], env),
    async post(path, given) {
      const headers = [
        "-H",
        `@${home}/.local/state/beckon/auth-header`,
        "-H",
        "content-type: application/json",
      ];
      const request = [...headers, "--data", JSON.stringify(given), `${endpoint().url}${path}`];
      const { stdout } = await space.run(["curl", "-sS", "-w", "\n%{http_code}", ...request], env);
      const [body = "", status] = stdout.split("\n");
      return { status: Number(status), body };
    },
    heard(event) {
      const journal = join(state, "journal");
      const files = existsSync(journal) ? readdirSync(journal).map((name) => join(journal, name)) : [];
      const isIt = (line: string) => line.includes(`"hook_event_name":"${event}"`);
      return [...files, join(state, "spool.jsonl")].flatMap(lines).filter(isIt).length;
    },
    complaints: () => [
      ...lines(join(state, "beckon.log")).filter((line) => / (warn|error) /.test(line)),
      ...lines(join(state, "hook.log")),
    ],
  };
}
