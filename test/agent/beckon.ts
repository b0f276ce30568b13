/** The built beckon, run in the sandbox as a user would. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { waitUntil } from "../wait-until.ts";
import { home, type Namespace, type RunResult, type Signal, type Variables } from "./namespace.ts";

export interface Beckon {
  /** Registers the hooks with `beckon --install`. */
  install(): Promise<void>;
  /** Starts the app and returns the sessions of its first response. */
  start(): Promise<readonly SessionView[]>;
  /** Sends SIGKILL and waits until the app has ended. */
  kill(): Promise<void>;
  /** Sends SIGSTOP: the port stays open, but nothing answers. */
  suspend(): Promise<void>;
  /** Sends SIGCONT. */
  resume(): Promise<void>;
  /** Runs `beckon …` as in another terminal. */
  run(...args: readonly string[]): Promise<RunResult>;
  /** Posts to the API, with the token. */
  post(path: string, body: object): Promise<{ readonly status: number; readonly body: string }>;
  /** How many events of that name are in the journal and the spool. */
  countEvents(event: string): number;
  /** The warnings and errors in the logs of the app and the forwarder. */
  readWarnings(): string[];
  /** Stops looking at what beckon shows. */
  stopPolling(): Promise<void>;
}

const beckonCommand = `${home}/bin/beckon`;

const startMs = 5_000;

export function createBeckon(
  space: Namespace,
  folder: string,
  env: Variables,
  onSessions: (sessions: readonly SessionView[]) => void,
): Beckon {
  const state = join(space.root, home, ".local/state/beckon");
  let poller: ReturnType<Namespace["startOutside"]> | null = null;

  /** Returns null if beckon is not running, which it says on stderr. */
  async function fetchStatus(): Promise<readonly SessionView[] | null> {
    const { stdout, stderr, code } = await space.run([beckonCommand, "status", "--json"], env);
    if (code === 0 && stderr !== "") return null;
    if (code !== 0) throw new Error(`beckon status --json ended with ${code}: ${stderr}`);
    return (JSON.parse(stdout) as { sessions: SessionView[] }).sessions;
  }

  async function stopPolling(): Promise<void> {
    const stopped = poller;
    poller = null;
    await stopped?.stdin.end();
    await stopped?.exited;
  }

  const readEndpoint = () =>
    JSON.parse(readFileSync(join(state, "endpoint.json"), "utf8")) as { pid: number; url: string };

  async function signal(name: Signal): Promise<void> {
    await stopPolling();
    await space.signal(readEndpoint().pid, name);
  }

  async function startPolling(): Promise<void> {
    await stopPolling();
    const started = space.startOutside([
      process.execPath,
      join(import.meta.dir, "../fixtures/session-poller.ts"),
      state,
    ]);
    poller = started;
    const lines = createInterface({ input: Readable.fromWeb(started.stdout as never) });
    lines.on("line", (line) => {
      if (poller === started) onSessions(JSON.parse(line) as SessionView[]);
    });
  }

  const readLines = (path: string): string[] =>
    existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];

  return {
    stopPolling,
    async install() {
      const { code, stdout, stderr } = await space.run([beckonCommand, "--install", "--no-login"], env);
      if (code !== 0) throw new Error(`beckon --install ended with ${code}: ${stdout}${stderr}`);
    },
    async start() {
      space.start(["sh", "-c", `exec ${beckonCommand} >${home}/beckon.out 2>&1`], env);
      const end = performance.now() + startMs;
      let sessions = await fetchStatus();
      while (!sessions) {
        const output = readLines(join(folder, "beckon.out")).join("\n");
        if (performance.now() > end) throw new Error(`beckon did not answer within ${startMs} ms: ${output}`);
        sessions = await fetchStatus();
      }
      onSessions(sessions);
      await startPolling();
      return sessions;
    },
    async kill() {
      const process = join(space.root, "proc", String(readEndpoint().pid));
      await signal("KILL");
      // On a busy machine it holds its lock a moment longer.
      await waitUntil(() => !existsSync(process), startMs, "the end of beckon");
    },
    suspend: () => signal("STOP"),
    async resume() {
      await signal("CONT");
      await startPolling();
    },
    run: (...args) => space.run([beckonCommand, ...args], env),
    async post(path, body) {
      const headers = [
        "-H",
        `@${home}/.local/state/beckon/auth-header`,
        "-H",
        "content-type: application/json",
      ];
      const request = [...headers, "--data", JSON.stringify(body), `${readEndpoint().url}${path}`];
      const { stdout } = await space.run(["curl", "-sS", "-w", "\n%{http_code}", ...request], env);
      const [response = "", status] = stdout.split("\n");
      return { status: Number(status), body: response };
    },
    countEvents(event) {
      const journal = join(state, "journal");
      const files = existsSync(journal) ? readdirSync(journal).map((name) => join(journal, name)) : [];
      const isMatch = (line: string) => line.includes(`"hook_event_name":"${event}"`);
      return [...files, join(state, "spool.jsonl")].flatMap(readLines).filter(isMatch).length;
    },
    readWarnings: () => [
      ...readLines(join(state, "beckon.log")).filter((line) => / (warn|error) /.test(line)),
      ...readLines(join(state, "hook.log")),
    ],
  };
}
