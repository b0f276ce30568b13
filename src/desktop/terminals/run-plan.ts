/** Carries plans out on this machine. */
import { readdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Exec } from "../../core/interfaces/index.ts";
import type { Plan, PlanStep } from "../../core/terminals/plan.ts";
import type { TerminalContext } from "../../core/terminals/terminal.ts";
import { timing } from "../../core/timing.ts";
import { dropUnset } from "../../system/folders.ts";
import { type Bus, connectBus, findBusAddress } from "../dbus.ts";
import { connectX11, type X11 } from "../x11.ts";
import { sendKittyCommand } from "./kitty-socket.ts";
import { evaluateKwinScript } from "./kwin.ts";
import {
  createMacProcesses,
  findConnectionOwners,
  linuxProcesses,
  noProcesses,
  type Processes,
} from "./processes.ts";
import { activateX11Window, findTopLevelX11Window, listX11Windows } from "./x11.ts";

export interface PlanRunner {
  /** Rejects when the time is up. No step is carried out after that. */
  run<T>(plan: Plan<T>, timeoutMs: number): Promise<T>;
}

export interface PlanRunnerOptions extends TerminalContext {
  readonly exec: Exec;
  readonly now?: () => number;
}

/** An app that the desktop starts has a short PATH. Users' own programs are in these folders. */
const usualFolders = (home: string): string[] => [
  ...["/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin", "/run/current-system/sw/bin"],
  ...[".local/bin", ".cargo/bin", ".nix-profile/bin"].map((folder) => join(home, folder)),
  "/Applications/WezTerm.app/Contents/MacOS",
];

/** The user may have allowed it in System Settings meanwhile. macOS does not report that. */
const retryDeniedMs = 10 * 60_000;
/** How long macOS's question may stay on the screen. */
const consentMs = 120_000;

export function createPlanRunner(options: PlanRunnerOptions): PlanRunner {
  const { platform, env, exec, now = () => performance.now() } = options;
  const path = [env.PATH ?? "", ...usualFolders(env.HOME ?? "/")].join(delimiter);
  const ownEnv = dropUnset(env);
  /** When macOS refused control of an app. Another attempt soon after would only ask the user again. */
  const deniedAt = new Map<string, number>();
  /** Apps that have answered since beckon started. */
  const allowed = new Set<string>();
  /** Scripts that wait until the user has answered macOS's question about their app. */
  const asking = new Map<string, Promise<string | null>>();
  const processes = chooseProcesses(platform, exec);

  async function runCommand(argv: readonly string[], timeoutMs: number, more: Record<string, string> = {}) {
    const [program = "", ...args] = argv;
    const file = Bun.which(program, { PATH: path });
    if (file === null) return { code: null, stdout: "", stderr: `${program} is not installed` };
    return exec([file, ...args], { timeoutMs, env: { ...ownEnv, ...more } });
  }

  async function runAppleScript(
    step: PlanStep & { do: "applescript" },
    timeoutMs: number,
  ): Promise<string | null> {
    const { app } = step;
    if (now() - (deniedAt.get(app) ?? Number.NEGATIVE_INFINITY) < retryDeniedMs) return "denied";
    if (allowed.has(app)) return controlApp(step, timeoutMs);
    if (step.assumed === undefined) return null;
    // The script waits while macOS asks. It is not stopped: once the user has allowed it, it shows the tab after all.
    const answer = asking.get(app) ?? controlApp(step, consentMs);
    asking.set(app, answer);
    void answer.finally(() => asking.delete(app));
    return Promise.race([answer, Bun.sleep(timeoutMs / 2).then(() => "asking")]);
  }

  async function controlApp(
    { app, script, args }: PlanStep & { do: "applescript" },
    timeoutMs: number,
  ): Promise<string | null> {
    const { code, stdout, stderr } = await runCommand(["osascript", "-e", script, ...args], timeoutMs);
    if (code === 0) {
      // A script that finds its application closed has not asked for anything.
      if (stdout.trim() !== "closed") allowed.add(app);
      return stdout.trim();
    }
    // errAEEventNotPermitted: the user has not allowed it.
    if (!stderr.includes("-1743")) return null;
    allowed.delete(app);
    deniedAt.set(app, now());
    return "denied";
  }

  /** Opens each connection when a step first needs it. */
  function createConnections(timeoutMs: number) {
    const opened: Promise<{ close(): void } | null>[] = [];
    const openOnce = <T extends { close(): void }>(open: () => Promise<T | null>) => {
      let opening: Promise<T | null> | null = null;
      return () => {
        if (opening === null) {
          opening = open();
          opened.push(opening);
        }
        return opening;
      };
    };
    return {
      x11: openOnce(() => connectX11(env, timeoutMs).catch(() => null)),
      bus: openOnce(() => openBus(env)),
      async close(): Promise<void> {
        for (const connection of opened) (await connection)?.close();
      },
    };
  }
  type Connections = ReturnType<typeof createConnections>;

  async function perform(step: PlanStep, connections: Connections, timeoutMs: number): Promise<unknown> {
    switch (step.do) {
      case "run":
        return runCommand(step.argv, timeoutMs, step.env);
      case "dbus":
        return withBus(await connections.bus(), (bus) => bus.call(step.call));
      case "lineage":
        return processes.lineage(step.pid);
      case "console-owner":
        return platform === "win32"
          ? (await import("../windows/processes.ts")).findConsoleOwner(step.pid)
          : null;
      case "environment":
        return processes.environment(step.pid);
      case "processes":
        return processes.named(step.name);
      case "ttys":
        return processes.ttys(step.pid);
      case "sockets-of":
        return processes.sockets(step.pid);
      case "own-sockets":
        return step.paths.flatMap(listOwnSockets);
      case "connection-owners":
        return platform === "linux" ? findConnectionOwners(step.name, step) : [];
      case "command-line":
        return processes.commandLine(step.pid);
      case "kitty":
        return sendKittyCommand(step.address, step.command, step.payload, timeoutMs);
      case "kwin":
        return withBus(await connections.bus(), (bus) => evaluateKwinScript(bus, step.expression, timeoutMs));
      case "applescript":
        return runAppleScript(step, timeoutMs);
      default:
        return platform === "win32" ? performOnWindows(step) : performOnX11(await connections.x11(), step);
    }
  }

  return {
    async run(plan, timeoutMs) {
      const end = performance.now() + timeoutMs;
      const connections = createConnections(timeoutMs);
      const { promise: timedOut, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(new Error(`it took longer than ${timeoutMs} ms`)), timeoutMs);
      try {
        let next = plan.next();
        while (!next.done) {
          const remainingMs = Math.max(1, Math.ceil(end - performance.now()));
          const answer = perform(next.value, connections, Math.min(remainingMs, timing.commandTimeoutMs));
          next = plan.next(await Promise.race([answer, timedOut]));
        }
        return next.value;
      } finally {
        clearTimeout(timer);
        void connections.close();
      }
    },
  };
}

type WindowStep = Extract<PlanStep, { do: "windows" | "top-level-window" | "activate" }>;

async function performOnX11(x: X11 | null, step: WindowStep): Promise<unknown> {
  switch (step.do) {
    case "windows":
      return x && listX11Windows(x);
    case "top-level-window":
      return x && findTopLevelX11Window(x, step.id);
    case "activate":
      return x !== null && activateX11Window(x, step.id);
  }
}

async function performOnWindows(step: WindowStep): Promise<unknown> {
  const desktop = await import("../windows/desktop-windows.ts");
  switch (step.do) {
    case "windows":
      return desktop.listWindows();
    case "top-level-window":
      return step.id;
    case "activate":
      return desktop.activateWindow(step.id);
  }
}

function chooseProcesses(platform: NodeJS.Platform, exec: Exec): Processes {
  if (platform === "linux") return linuxProcesses;
  if (platform === "darwin") return createMacProcesses(exec);
  if (platform !== "win32") return noProcesses;
  return {
    ...noProcesses,
    lineage: async (pid) => (await import("../windows/processes.ts")).readLineage(pid),
  };
}

async function openBus(env: TerminalContext["env"]): Promise<Bus | null> {
  const address = findBusAddress(env);
  return address === null ? null : connectBus({ address, onEnd: () => {} }).catch(() => null);
}

async function withBus(bus: Bus | null, use: (bus: Bus) => Promise<unknown>): Promise<unknown> {
  return bus === null ? null : use(bus).catch(() => null);
}

/** Only this user's programs can have made them, so what is sent to them stays with this user. */
function listOwnSockets(path: string): string[] {
  try {
    if (path.endsWith("/")) return readdirSync(path).flatMap((name) => listOwnSockets(join(path, name)));
    const stat = statSync(path);
    return stat.isSocket() && stat.uid === process.getuid?.() ? [path] : [];
  } catch {
    return [];
  }
}
