/** A folder of beckon's and one of the agent's, of their own; what is started in them is stopped with them. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, type AppOptions, startApp } from "../src/app/start.ts";
import type { SessionSnapshot } from "../src/core/view/snapshot.ts";
import { resolvePaths } from "../src/storage/paths.ts";
import { readStartTime } from "../src/system/processes.ts";
import { mainSource } from "./repo.ts";

/** Nobody listens there: the next fifty are tried too. */
const somePort = () => 20_000 + Math.floor(Math.random() * 40_000);

export type World = ReturnType<typeof createWorld>;

export function createWorld() {
  const home = mkdtempSync(join(tmpdir(), "beckon-world-"));
  const claude = join(home, "claude");
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    BECKON_HOME: join(home, "state"),
    CLAUDE_CONFIG_DIR: claude,
    // Bun's cache of transpiled files would go to HOME.
    BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
  };
  const places = resolvePaths(env);
  const apps: App[] = [];
  const children: Bun.Subprocess[] = [];

  function spawn(command: string[], more: Record<string, string> = {}) {
    const options = { env: { ...env, ...more }, stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const;
    const child = Bun.spawn(command, options);
    children.push(child);
    return child;
  }
  const address = (): string => JSON.parse(readFileSync(places.endpoint, "utf8")).url;
  const authorization = () => readFileSync(places.authHeader, "utf8").trim().replace("Authorization: ", "");
  const request = (path: string, init: RequestInit = {}) =>
    fetch(address() + path, {
      ...init,
      headers: { authorization: authorization(), "content-type": "application/json", ...init.headers },
    });
  const sessions = async (): Promise<SessionSnapshot[]> =>
    ((await (await request("/api/sessions")).json()) as { sessions: SessionSnapshot[] }).sessions;

  return {
    home,
    claude,
    env,
    places,
    spawn,
    address,
    authorization,
    request,
    sessions,
    session: async (id: string) => (await sessions()).find((session) => session.sessionId === id),

    /** In this process. */
    async start(more: Record<string, string> = {}, parts: Partial<AppOptions> = {}): Promise<App> {
      const options = { paths: places, env: { ...env, ...more }, port: somePort(), echo: false, ...parts };
      const app = await startApp(options);
      if (!app) throw new Error("another beckon has this folder");
      apps.push(app);
      return app;
    },

    beckon: (args: string[] = [], more: Record<string, string> = {}) =>
      spawn([process.execPath, mainSource, ...args], { BECKON_PORT: String(somePort()), ...more }),

    /** A process of its own, that answers. */
    async startProcess(more: Record<string, string> = {}) {
      const child = this.beckon([], more);
      const exited = () => child.exitCode !== null || child.signalCode !== null;
      await until(() => exited() || isAnswering(places.endpoint, child.pid), 5_000);
      if (exited()) throw new Error(await child.stderr.text());
      return child;
    },

    post(body: unknown, path = "/api/hook"): Promise<Response> {
      return request(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
    },

    /** As the forwarder sends it, of a process that we can see. */
    hook(event: Record<string, unknown>, meta: Record<string, unknown> = {}): Promise<Response> {
      return this.post({ provider: "claude", _meta: { id: crypto.randomUUID(), ...meta }, payload: event });
    },

    /** Something that lives until it is killed. */
    agent() {
      const child = spawn(["sleep", "600"]);
      return { child, pid: child.pid, procStart: readStartTime(child.pid) ?? "" };
    },

    statusPath: (pid: number) => join(claude, "sessions", `${pid}.json`),

    /** As the CLI does it: emptied, then written. */
    writeStatus(pid: number, fields: Record<string, unknown>): void {
      mkdirSync(join(claude, "sessions"), { recursive: true });
      const now = Date.now();
      const always = {
        pid,
        procStart: readStartTime(pid),
        cwd: "/home/dev/proj",
        updatedAt: now,
        statusUpdatedAt: now,
      };
      writeFileSync(this.statusPath(pid), JSON.stringify({ ...always, ...fields }));
    },

    /** A row of the session's transcript; returns the transcript's path. */
    transcript(id: string, ...rows: Record<string, unknown>[]): string {
      const folder = join(claude, "projects", "-home-dev-proj");
      mkdirSync(folder, { recursive: true });
      const path = join(folder, `${id}.jsonl`);
      appendFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
      return path;
    },

    read: (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : ""),
    journal: (): string =>
      [...new Bun.Glob("*").scanSync(places.journal)]
        .map((name) => readFileSync(join(places.journal, name), "utf8"))
        .join(""),

    async destroy(): Promise<void> {
      for (const child of children) child.kill("SIGKILL");
      await Promise.all([...apps.map((app) => app.stop()), ...children.map((child) => child.exited)]);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function isAnswering(endpoint: string, pid: number): boolean {
  return existsSync(endpoint) && JSON.parse(readFileSync(endpoint, "utf8")).pid === pid;
}

/** How long it took, in ms. */
export async function until(check: () => unknown, ms: number): Promise<number> {
  const started = performance.now();
  for (;;) {
    if (await check()) return performance.now() - started;
    if (performance.now() - started > ms) throw new Error(`not so within ${ms} ms: ${check}`);
    await Bun.sleep(5);
  }
}

export const proj = { cwd: "/home/dev/proj" };
export const bash = { tool_name: "Bash", tool_input: { command: "touch x" } };

/** A person's prompt in a session that then works. */
export const prompt = (session_id: string, more: Record<string, unknown> = {}) => ({
  session_id,
  hook_event_name: "UserPromptSubmit",
  prompt: "go",
  ...proj,
  ...more,
});
export const asks = (session_id: string) => ({
  session_id,
  hook_event_name: "PermissionRequest",
  ...bash,
  ...proj,
});
