/** An app with a temporary home: a state folder and an agent's folder. `destroy` stops everything that was started in it. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type App, type AppOptions, startApp } from "../src/app/start.ts";
import type { SessionView } from "../src/core/view/session-view.ts";
import { resolvePaths } from "../src/storage/paths.ts";
import { readStartTime } from "../src/system/processes.ts";
import { recordFolder } from "./known-folder.ts";
import { mainSource } from "./repo.ts";
import { waitUntil } from "./wait-until.ts";

/** If the port is taken, the app tries the next fifty. */
const choosePort = () => 20_000 + Math.floor(Math.random() * 40_000);

export type AppFixture = ReturnType<typeof createAppFixture>;

interface FixtureOptions {
  /** Put before the command of each program, for one that runs in another network. */
  readonly enter?: readonly string[];
  /** A socket behind which the app answers, if its port cannot be reached from here. */
  readonly door?: string;
}

export function createAppFixture({ enter = [], door }: FixtureOptions = {}) {
  const home = mkdtempSync(join(tmpdir(), "beckon-fixture-"));
  const claudeFolder = join(home, "claude");
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    BECKON_HOME: join(home, "state"),
    CLAUDE_CONFIG_DIR: claudeFolder,
    // Bun's cache of transpiled files would go to HOME.
    BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
  };
  const paths = resolvePaths(env);
  recordFolder(home, paths.state);
  const apps: App[] = [];
  const children: Bun.Subprocess[] = [];

  function spawn(command: string[], more: Record<string, string> = {}) {
    const options = { env: { ...env, ...more }, stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const;
    const child = Bun.spawn([...enter, ...command], options);
    children.push(child);
    return child;
  }
  const readUrl = (): string => JSON.parse(readFileSync(paths.endpoint, "utf8")).url;
  const readAuthorization = () =>
    readFileSync(paths.authHeader, "utf8").trim().replace("Authorization: ", "");
  const request = (path: string, init: RequestInit = {}) =>
    fetch(readUrl() + path, {
      ...init,
      ...(door === undefined ? {} : { unix: door }),
      headers: { authorization: readAuthorization(), "content-type": "application/json", ...init.headers },
    });
  const fetchSessions = async (): Promise<SessionView[]> =>
    ((await (await request("/api/sessions")).json()) as { sessions: SessionView[] }).sessions;

  return {
    home,
    claudeFolder,
    env,
    paths,
    spawn,
    readUrl,
    readAuthorization,
    request,
    fetchSessions,
    fetchSession: async (id: string) => (await fetchSessions()).find((session) => session.sessionId === id),

    /** Starts the app in this process. */
    async start(more: Record<string, string> = {}, parts: Partial<AppOptions> = {}): Promise<App> {
      const options = { paths, env: { ...env, ...more }, port: choosePort(), echo: false, ...parts };
      const app = await startApp(options);
      if (!app) throw new Error("another beckon has this folder");
      apps.push(app);
      return app;
    },

    spawnBeckon: (args: string[] = [], more: Record<string, string> = {}) =>
      spawn([process.execPath, mainSource, ...args], { BECKON_PORT: String(choosePort()), ...more }),

    /** Runs a command to its end. */
    async runBeckon(args: string[], more: Record<string, string> = {}) {
      const child = this.spawnBeckon(args, more);
      const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      return { out, err, code };
    },

    /** Starts the app in another process and waits until it accepts requests. */
    async startProcess(more: Record<string, string> = {}) {
      const child = this.spawnBeckon([], more);
      const exited = () => child.exitCode !== null || child.signalCode !== null;
      await waitUntil(() => exited() || isListening(paths.endpoint, child.pid), 30_000);
      if (exited()) throw new Error(await child.stderr.text());
      return child;
    },

    post(body: unknown, path = "/api/hook"): Promise<Response> {
      return request(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
    },

    /** Posts an event in the envelope of the forwarder. */
    postHook(event: Record<string, unknown>, meta: Record<string, unknown> = {}): Promise<Response> {
      return this.post({ provider: "claude", _meta: { id: crypto.randomUUID(), ...meta }, payload: event });
    },

    /** A process that runs until it is killed, in place of an agent. */
    startAgent() {
      const child = spawn(["sleep", "600"]);
      return { child, pid: child.pid, procStart: readStartTime(child.pid) ?? "" };
    },

    statusPath: (pid: number) => join(claudeFolder, "sessions", `${pid}.json`),

    /** Truncates the file and writes it, as the CLI does. */
    writeStatus(pid: number, fields: Record<string, unknown>): void {
      mkdirSync(join(claudeFolder, "sessions"), { recursive: true });
      const now = Date.now();
      const defaults = {
        pid,
        procStart: readStartTime(pid),
        cwd: "/home/dev/proj",
        updatedAt: now,
        statusUpdatedAt: now,
      };
      writeFileSync(this.statusPath(pid), JSON.stringify({ ...defaults, ...fields }));
    },

    /** Appends rows to the session's transcript and returns its path. `ID/subagents/agent-ID` is a subagent's. */
    appendTranscript(id: string, ...rows: Record<string, unknown>[]): string {
      const folder = join(claudeFolder, "projects", "-home-dev-proj");
      const path = join(folder, `${id}.jsonl`);
      mkdirSync(dirname(path), { recursive: true });
      appendFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
      return path;
    },

    read: (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : ""),
    readJournal: (): string =>
      (existsSync(paths.journal) ? readdirSync(paths.journal) : [])
        .map((name) => readFileSync(join(paths.journal, name), "utf8"))
        .join(""),

    /** Stops the apps of this process; `start` starts the next. */
    stopApps: () => Promise.all(apps.splice(0).map((app) => app.stop())),

    async destroy(): Promise<void> {
      for (const child of children) child.kill("SIGKILL");
      await Promise.all([...apps.map((app) => app.stop()), ...children.map((child) => child.exited)]);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function isListening(endpoint: string, pid: number): boolean {
  return existsSync(endpoint) && JSON.parse(readFileSync(endpoint, "utf8")).pid === pid;
}

export const proj = { cwd: "/home/dev/proj" };
export const bash = { tool_name: "Bash", tool_input: { command: "touch x" } };

/** The user's prompt, with which a turn starts. */
export const createPromptEvent = (session_id: string, more: Record<string, unknown> = {}) => ({
  session_id,
  hook_event_name: "UserPromptSubmit",
  prompt: "go",
  ...proj,
  ...more,
});
export const createAskEvent = (session_id: string) => ({
  session_id,
  hook_event_name: "PermissionRequest",
  ...bash,
  ...proj,
});
