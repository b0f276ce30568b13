/** The real app as a process of its own, in a folder of its own. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionSnapshot } from "../../src/core/view/snapshot.ts";
import { environment, type Ran, run } from "../hook/world.ts";

const repo = join(import.meta.dir, "../..");
const binary = join(repo, "dist/beckon");
const startMs = 15_000;

/** The binary where it is that of this source, which starts much quicker; else the source. */
export const beckon: readonly string[] = isFresh(binary)
  ? [binary]
  : [process.execPath, join(repo, "src/main.ts")];

function isFresh(path: string): boolean {
  const built = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = [...new Bun.Glob("src/**/*").scanSync({ cwd: repo, absolute: true })];
  return sources.every((source) => statSync(source).mtimeMs < built);
}

export interface App {
  readonly pid: number;
  /** 0: it does not listen yet. */
  readonly port: number;
  readonly exited: Promise<number>;
  isRunning(): boolean;
  rssMb(): number;
  signal(signal: NodeJS.Signals): void;
  /** kill -9. */
  kill(): Promise<void>;
  /** As a person stops it; resolves to the exit code. */
  stop(): Promise<number>;
}

/** An app that may not listen yet. */
export interface LaunchedApp {
  readonly app: App;
  readonly result: Promise<StartResult>;
}

export interface StartResult {
  /** null: it ended before it listened. */
  readonly app: App | null;
  readonly code: number | null;
  readonly stderr: string;
}

export interface JournalRecord {
  readonly id: string;
  /** It came by the spool. */
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
  /** Throws where the app does not listen. */
  start(more?: Record<string, string>): Promise<App>;
  tryToStart(more?: Record<string, string>): Promise<StartResult>;
  /** `under`: a command that runs the app, like `nice`. */
  launch(more?: Record<string, string>, under?: readonly string[]): LaunchedApp;
  beckon(args: readonly string[], stdin?: string, more?: Record<string, string>): Promise<Ran>;
  hook(payload: object, more?: Record<string, string>): Promise<Ran>;
  /** What `beckon status --json` shows. */
  status(): Promise<SessionSnapshot[]>;
  post(body: unknown, path?: string): Promise<Response>;
  get(path: string): Promise<Response>;
  /** Every line of every segment, read by nobody's code but this. A line that is no JSON throws. */
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
  // Here a hook that waits for an answer would wait for nobody.
  writeFileSync(join(home, "config.json"), '{"answering":{"enabled":false}}');
  const port = await freePort();
  const env = environment(home, { HOME: user, BECKON_PORT: String(port) });
  const inHome = (...names: string[]) => join(home, ...names);
  const read = (...names: string[]) => {
    const path = inHome(...names);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  const started = new Set<App>();

  function launch(more: Record<string, string> = {}, under: readonly string[] = []): LaunchedApp {
    const stderr = Bun.file(join(folder, `app-${performance.now()}.stderr`));
    const child = Bun.spawn([...under, ...beckon], {
      cwd: user,
      env: { ...env, ...more },
      stdio: ["ignore", "pipe", stderr],
    });
    let port = 0;
    const app: App = {
      pid: child.pid,
      get port() {
        return port;
      },
      exited: child.exited,
      isRunning: () => child.exitCode === null && child.signalCode === null,
      rssMb: () => rssMb(child.pid),
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
      const said = await firstLine(child.stdout, startMs);
      port = Number(/is running .*at http:\/\/127\.0\.0\.1:(\d+)/.exec(said ?? "")?.[1] ?? 0);
      if (port > 0) return { app, code: null, stderr: "" };
      if (said === null) child.kill("SIGKILL");
      return { app: null, code: await child.exited, stderr: await stderr.text() };
    };
    return { app, result: listen() };
  }

  const address = () => (JSON.parse(read("endpoint.json") || "{}") as { url?: string }).url ?? "";
  const authorization = () => read("auth-header").trim().replace("Authorization: ", "");
  const withBeckon: Fixture["beckon"] = (args, stdin = "", more = {}) =>
    run([...beckon, ...args], { ...env, ...more }, stdin, user);

  return {
    folder,
    home,
    port,
    env,
    inHome,
    read,
    launch,
    tryToStart: (more) => launch(more).result,
    beckon: withBeckon,
    async start(more) {
      const { app, code, stderr } = await launch(more).result;
      if (!app) throw new Error(`beckon did not start (${code}): ${stderr}`);
      return app;
    },
    hook: (payload, more) => withBeckon(["hook", "claude"], JSON.stringify(payload), more),
    async status() {
      const { stdout, stderr, code } = await withBeckon(["status", "--json"]);
      if (code !== 0 || !stdout.endsWith("}\n")) {
        throw new Error(
          `beckon status --json ended with ${code} after ${stdout.length} characters: ${stderr}`,
        );
      }
      return (JSON.parse(stdout) as { sessions: SessionSnapshot[] }).sessions;
    },
    post: (body, path = "/api/hook") =>
      fetch(`${address()}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: authorization() },
        body: typeof body === "string" ? body : JSON.stringify(body),
        keepalive: false,
        signal: AbortSignal.timeout(10_000),
      }),
    get: (path) =>
      fetch(`${address()}${path}`, {
        headers: { authorization: authorization() },
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

/** Below those that the system gives to outgoing connections, so that it stays free between two starts. */
async function freePort(): Promise<number> {
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

function rssMb(pid: number): number {
  if (process.platform === "linux") {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }
  return Number(Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]).stdout) / 1024;
}

async function firstLine(stream: ReadableStream<Uint8Array>, maxMs: number): Promise<string | null> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const late = Bun.sleep(maxMs).then(() => null);
  while (!text.includes("\n")) {
    const step = await Promise.race([reader.read(), late]);
    if (step === null) return null;
    if (step.done) break;
    text += decoder.decode(step.value, { stream: true });
  }
  return text;
}

/** Asks again until it is so; fails with what it was last. */
export async function until<T>(
  ask: () => T | Promise<T>,
  isRight: (value: T) => boolean,
  maxMs = 10_000,
): Promise<T> {
  const end = performance.now() + maxMs;
  for (;;) {
    const value = await ask();
    if (isRight(value)) return value;
    if (performance.now() > end) {
      throw new Error(`after ${maxMs} ms still: ${JSON.stringify(value)?.slice(0, 2_000)}`);
    }
    await Bun.sleep(20);
  }
}
