/** Runs the real app as a process, in a temporary folder. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { type CommandResult, environment, run } from "../hook/harness.ts";
import { binary, isBinaryFresh, mainSource } from "../repo.ts";
import { letTimePass } from "../wait-until.ts";

const maxStartMs = 15_000;

/** The binary if it was built from the current source, because it starts much faster. Otherwise the source. */
export const beckon: readonly string[] = isBinaryFresh() ? [binary] : [process.execPath, mainSource];

export interface AppProcess {
  readonly pid: number;
  /** 0 until it listens. */
  readonly port: number;
  readonly exited: Promise<number>;
  isRunning(): boolean;
  rssMb(): number;
  /** What it has written to stderr: warnings and errors. */
  stderr(): string;
  signal(signal: NodeJS.Signals): void;
  /** kill -9. */
  kill(): Promise<void>;
  /** SIGTERM. Resolves to the exit code. */
  stop(): Promise<number>;
}

/** An app that may not listen yet. */
export interface LaunchedApp {
  readonly app: AppProcess;
  readonly result: Promise<StartResult>;
}

export interface StartResult {
  /** null if it exited before it listened. */
  readonly app: AppProcess | null;
  readonly code: number | null;
  readonly stderr: string;
}

export interface JournalRecord {
  readonly id: string;
  /** The position in the spool, if the event came from there. */
  readonly spool?: unknown;
  readonly body: unknown;
}

export interface Fixture {
  readonly folder: string;
  readonly home: string;
  readonly port: number;
  readonly env: Record<string, string>;
  inHome(...names: string[]): string;
  read(...names: string[]): string;
  /** Throws if the app does not listen. */
  start(env?: Record<string, string>): Promise<AppProcess>;
  tryToStart(env?: Record<string, string>): Promise<StartResult>;
  /** `under` is a command that runs the app, like `nice`. */
  launch(env?: Record<string, string>, under?: readonly string[]): LaunchedApp;
  beckon(args: readonly string[], stdin?: string, env?: Record<string, string>): Promise<CommandResult>;
  hook(payload: object, env?: Record<string, string>): Promise<CommandResult>;
  /** What `beckon status --json` shows. */
  status(): Promise<SessionView[]>;
  post(body: unknown, path?: string): Promise<Response>;
  get(path: string): Promise<Response>;
  /** Every line of every segment, read without beckon's code. Throws if a line is not JSON. */
  journal(): JournalRecord[];
  log(): string;
  destroy(): Promise<void>;
}

export async function createFixture(): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), "beckon-torture-"));
  const home = join(folder, "home");
  const user = join(folder, "user");
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(user);
  // Nobody answers here, so hooks must not wait for an answer.
  writeFileSync(join(home, "config.json"), '{"answering":{"enabled":false}}');
  const port = await findFreePort();
  const env = environment(home, { HOME: user, BECKON_PORT: String(port) });
  const inHome = (...names: string[]) => join(home, ...names);
  const read = (...names: string[]) => {
    const path = inHome(...names);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  const started = new Set<AppProcess>();

  function launch(extraEnv: Record<string, string> = {}, under: readonly string[] = []): LaunchedApp {
    const stderrPath = join(folder, `app-${performance.now()}.stderr`);
    const readStderr = () => readFileSync(stderrPath, "utf8");
    const child = Bun.spawn([...under, ...beckon], {
      cwd: user,
      env: { ...env, ...extraEnv },
      stdio: ["ignore", "pipe", Bun.file(stderrPath)],
    });
    let port = 0;
    const app: AppProcess = {
      pid: child.pid,
      get port() {
        return port;
      },
      exited: child.exited,
      isRunning: () => child.exitCode === null && child.signalCode === null,
      rssMb: () => readRssMb(child.pid),
      stderr: readStderr,
      signal: (signal) => child.kill(signal),
      async kill() {
        child.kill("SIGKILL");
        await child.exited;
      },
      stop() {
        child.kill("SIGTERM");
        return child.exited;
      },
    };
    started.add(app);
    const listen = async (): Promise<StartResult> => {
      const line = await readFirstLine(child.stdout, maxStartMs);
      port = Number(/is running .*at http:\/\/127\.0\.0\.1:(\d+)/.exec(line ?? "")?.[1] ?? 0);
      if (port > 0) return { app, code: null, stderr: "" };
      if (line === null) child.kill("SIGKILL");
      return { app: null, code: await child.exited, stderr: readStderr() };
    };
    return { app, result: listen() };
  }

  const readUrl = () => (JSON.parse(read("endpoint.json") || "{}") as { url?: string }).url ?? "";
  const readAuthorization = () => read("auth-header").trim().replace("Authorization: ", "");
  const runBeckon: Fixture["beckon"] = (args, stdin = "", extraEnv = {}) =>
    run([...beckon, ...args], { ...env, ...extraEnv }, stdin, user);

  return {
    folder,
    home,
    port,
    env,
    inHome,
    read,
    launch,
    tryToStart: (extraEnv) => launch(extraEnv).result,
    beckon: runBeckon,
    async start(extraEnv) {
      const { app, code, stderr } = await launch(extraEnv).result;
      if (!app) throw new Error(`beckon did not start (${code}): ${stderr}`);
      return app;
    },
    hook: (payload, extraEnv) => runBeckon(["hook", "claude"], JSON.stringify(payload), extraEnv),
    async status() {
      const { stdout, stderr, code } = await runBeckon(["status", "--json"]);
      if (code !== 0 || !stdout.endsWith("}\n")) {
        throw new Error(
          `beckon status --json ended with ${code} after ${stdout.length} characters: ${stderr}`,
        );
      }
      return (JSON.parse(stdout) as { sessions: SessionView[] }).sessions;
    },
    post: (body, path = "/api/hook") =>
      fetch(`${readUrl()}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: readAuthorization() },
        body: typeof body === "string" ? body : JSON.stringify(body),
        keepalive: false,
        signal: AbortSignal.timeout(10_000),
      }),
    get: (path) =>
      fetch(`${readUrl()}${path}`, {
        headers: { authorization: readAuthorization() },
        keepalive: false,
        signal: AbortSignal.timeout(10_000),
      }),
    journal: () => readJournal(inHome("journal")),
    log: () => read("beckon.log"),
    async destroy() {
      for (const app of started) if (app.isRunning()) await app.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function readJournal(folder: string): JournalRecord[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1))
    .map((line) => JSON.parse(line) as JournalRecord);
}

/** Below the ports of outgoing connections, so that it stays free between two starts. */
async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.on("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

function readRssMb(pid: number): number {
  if (process.platform === "linux") {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }
  return Number(Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]).stdout) / 1024;
}

async function readFirstLine(stream: ReadableStream<Uint8Array>, maxMs: number): Promise<string | null> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const timeout = letTimePass(maxMs, "the most that is waited").then(() => null);
  while (!text.includes("\n")) {
    const step = await Promise.race([reader.read(), timeout]);
    if (step === null) return null;
    if (step.done) break;
    text += decoder.decode(step.value, { stream: true });
  }
  return text;
}
