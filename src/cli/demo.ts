/**
 * `beckon demo`: an invented day in a folder of its own. The past is written to a spool, which beckon reads as after a pause; from
 * then on each session calls the real hooks. When it ends, the folder is removed.
 */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Agent, DemoDay, DemoStep } from "../agents/agent.ts";
import { startApp } from "../app/start.ts";
import { limits } from "../core/limits.ts";
import { hasDesktop } from "../desktop/index.ts";
import { forgetFolders, recordFolders } from "../setup/known-folders.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { findOwnCommand } from "../system/is-compiled.ts";
import { pause, waitUntil } from "../system/schedule.ts";
import { parseArguments } from "./args.ts";
import { callApi, fetchSessions } from "./client.ts";
import { demoCommand } from "./commands/demo.ts";
import { print } from "./output.ts";

/** Beside the user's own beckon. */
const demoPort = limits.defaultTcpPort + 100;
const readTimeoutMs = 10_000;
/** What is left of the desktop adapters after a stop must not keep the process alive. */
const exitAfterStopMs = 500;

export async function demo(args: string[], table: readonly Agent[]): Promise<number> {
  const { flags } = parseArguments(args, demoCommand);
  const agent = table.find(({ loadDemo }) => loadDemo !== undefined);
  const createDay = await agent?.loadDemo?.();
  if (!agent || !createDay) throw new Error("no agent has a demo");
  const home = mkdtempSync(join(tmpdir(), "beckon-demo-"));
  const ended = waitForSignal();
  const env = createEnvironment(home, table);
  try {
    await recordFolders(env);
    const paths = resolvePaths(env);
    const day = createDay({ now: Date.now(), folder: join(home, "agent") });
    writeDay(paths, agent, day);
    const options = {
      paths,
      env,
      port: readPort(),
      echo: false,
      isDemo: true,
      table: table.map(markAsConnected),
    };
    await readPast(options);
    const app = await startApp(options);
    if (!app) throw new Error("the demo's own folder is in use");
    const live = new AbortController();
    const running = day.sessions.map((session) =>
      runSession(session, { agent, day, env, home, command: findOwnCommand(), signal: live.signal }),
    );
    await announce(paths, flags.has("--print") || !hasDesktop(env));
    await Promise.race([ended, app.quit]);
    live.abort();
    await Promise.all(running);
    await app.stop();
  } finally {
    await forgetFolders(env).catch(() => {});
    rmSync(home, { recursive: true, force: true });
  }
  print("The demo has ended, and nothing of it is left.\n");
  setTimeout(() => process.exit(0), exitAfterStopMs).unref();
  return 0;
}

function waitForSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
  return promise;
}

function readPort(): number {
  const port = Number(process.env.BECKON_PORT);
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : demoPort;
}

/** Every folder that beckon or an agent could use is in the demo's own. */
function createEnvironment(home: string, table: readonly Agent[]): Record<string, string> {
  const isOwn = (name: string) => !name.startsWith("BECKON_");
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isOwn(entry[0]),
  );
  const agentFolders = table.flatMap(({ settingsVariables }) =>
    settingsVariables.map(({ name }) => [name, join(home, "agent")] as const),
  );
  return {
    ...Object.fromEntries(inherited),
    ...Object.fromEntries(agentFolders),
    BECKON_HOME: join(home, "state"),
  };
}

/** The demo's agent has no settings file, and must not be offered to be connected. */
function markAsConnected(agent: Agent): Agent {
  return {
    ...agent,
    loadRuntime: async () => ({ ...(await agent.loadRuntime()), createRegistrationCheck: () => () => true }),
  };
}

/** The demo itself is the process of every invented session, so its own terminal, or its page, would hide all of its alerts. */
const demoSettings = { alerts: { whileLooking: true } };

function writeDay(paths: Paths, agent: Agent, { files, past }: DemoDay): void {
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
  }
  mkdirSync(paths.state, { recursive: true, mode: 0o700 });
  writeFileSync(paths.config, JSON.stringify(demoSettings, null, 2), { mode: 0o600 });
  const lines = past.map(({ at, payload }, index) => {
    const meta = { id: `demo-${index}`, at, attended: true };
    return `${JSON.stringify({ provider: agent.id, _meta: meta, payload })}\n`;
  });
  appendFileSync(paths.spool, lines.join(""), { mode: 0o600 });
}

type StartOptions = Parameters<typeof startApp>[0];

/** Without a desktop, so that no alert appears for what is long over. */
async function readPast(options: StartOptions): Promise<void> {
  const { DISPLAY, WAYLAND_DISPLAY, DBUS_SESSION_BUS_ADDRESS, ...env } = options.env;
  const app = await startApp({ ...options, env });
  await waitUntil(() => isPastRead(options.paths), { atMostMs: readTimeoutMs, everyMs: 50 });
  await app?.stop();
}

/** The spool is removed when it is read; the agents' transcripts follow a moment later. */
async function isPastRead(paths: Paths): Promise<boolean> {
  if (existsSync(paths.spool)) return false;
  const response = await fetchSessions(paths);
  return (
    typeof response !== "string" &&
    response.sessions.every(({ group, tokens }) => group === "ended" || tokens !== null)
  );
}

/** Opens the page, or prints its address. */
async function announce(paths: Paths, isPrinted: boolean): Promise<void> {
  const response = await callApi(paths, "/api/page/code", { body: {} });
  const url = typeof response === "string" ? "" : String(response.body.url);
  print(
    "A demo with invented sessions is running: look at the icon, the alerts and the page, and answer what they ask.\n" +
      "It has a folder of its own. Ctrl-C ends it, and removes everything.\n",
  );
  if (!isPrinted) {
    const { openPage } = await import("../desktop/open-page.ts");
    if ((await openPage(url)) === null) return;
  }
  print(`${url}\n`);
}

interface LiveOptions {
  readonly agent: Agent;
  readonly day: DemoDay;
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  /** That calls beckon. */
  readonly command: readonly string[];
  readonly signal: AbortSignal;
}

export async function runSession(session: DemoDay["sessions"][number], options: LiveOptions): Promise<void> {
  const { day, signal } = options;
  let isAllowed = false;
  for (let round = 0; !signal.aborted; round++) {
    const steps = session.createSteps(round);
    for (const [index, step] of steps.entries()) {
      await pause(step.afterMs, signal);
      if (signal.aborted) return;
      if (step.onlyIfAllowed && !isAllowed) continue;
      const next = steps[index + 1];
      // A request that nobody touched: the invented user allows it in the terminal. A hook that ends before its tool does was denied.
      const output = await callHook(step, options, async () => {
        if (next?.onlyIfAllowed) await callHook(next, options);
      });
      if (step.waitMs !== undefined) isAllowed = day.isAllowed(output);
    }
  }
}

/** Returns what the hook printed: the user's decision, or nothing. */
async function callHook(
  { payload, waitMs }: DemoStep,
  { agent, day, env, home, command, signal }: LiveOptions,
  onOverdue?: () => Promise<void>,
): Promise<string> {
  const { pidVariable, projectVariable } = agent.forwarding;
  const ownVariables = {
    ...(pidVariable === null ? {} : { [pidVariable]: String(process.pid) }),
    ...(projectVariable === null ? {} : { [projectVariable]: String(payload.cwd) }),
  };
  const child = Bun.spawn([...command, "hook", agent.id], {
    cwd: home,
    env: { ...env, ...day.env, ...ownVariables },
    stdin: new Blob([JSON.stringify(payload)]),
    stdout: "pipe",
    stderr: "ignore",
  });
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  // An agent whose dialog was answered in the terminal ends its hook in the same way.
  const timer = waitMs === undefined ? null : setTimeout(() => onOverdue?.().then(stop), waitMs);
  const [output] = await Promise.all([child.stdout.text(), child.exited]);
  if (timer) clearTimeout(timer);
  signal.removeEventListener("abort", stop);
  return output;
}
