/** Carries plans out, on this machine. */
import { readdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Exec } from "../../core/ports.ts";
import { timing } from "../../core/timing.ts";
import { type Bus, busAddress, connectBus } from "../dbus.ts";
import { connectX11, type X11 } from "../x11.ts";
import { connectionOwner } from "./connections.ts";
import { askKitty } from "./kitty-control.ts";
import { askKwin } from "./kwin.ts";
import type { Plan, Step } from "./plan.ts";
import { nowhere, onLinux, onMac, type Processes } from "./processes.ts";
import type { TerminalContext } from "./row.ts";
import { activateWindow, listWindows, outerWindow } from "./x11-windows.ts";

export interface Machine {
  /** Rejects when the time is up; nothing of the plan is done after that. */
  carryOut<T>(plan: Plan<T>, timeoutMs: number): Promise<T>;
}

export interface MachineOptions extends TerminalContext {
  readonly exec: Exec;
  readonly now?: () => number;
}

/** An app that the desktop starts has a short PATH; these are where people's own programs are. */
const usualPlaces = (home: string): string[] => [
  ...["/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin", "/run/current-system/sw/bin"],
  ...[".local/bin", ".cargo/bin", ".nix-profile/bin"].map((folder) => join(home, folder)),
  "/Applications/WezTerm.app/Contents/MacOS",
];

/** Meanwhile they may have allowed it in System Settings, which tells nobody. */
const deniedMs = 10 * 60_000;

export function createMachine(options: MachineOptions): Machine {
  const { platform, env, exec, now = () => performance.now() } = options;
  const path = [env.PATH ?? "", ...usualPlaces(env.HOME ?? "/")].join(delimiter);
  const ownEnv = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  /** Apps that the person has not let us steer, and when macOS said so: to ask again at once would only ask them again. */
  const denied = new Map<string, number>();
  const processes = processesOf(platform, exec);

  async function run(argv: readonly string[], timeoutMs: number, more: Record<string, string> = {}) {
    const [program = "", ...args] = argv;
    const found = Bun.which(program, { PATH: path });
    if (found === null) return { code: null, stdout: "", stderr: `${program} is not installed` };
    return exec([found, ...args], { timeoutMs, env: { ...ownEnv, ...more } });
  }

  async function applescript({ app, script, args }: Step & { do: "applescript" }, timeoutMs: number) {
    if (now() - (denied.get(app) ?? Number.NEGATIVE_INFINITY) < deniedMs) return "denied";
    const ran = await run(["osascript", "-e", script, ...args], timeoutMs);
    if (ran.code === 0) return ran.stdout.trim();
    if (!ran.stderr.includes("-1743")) return null;
    denied.set(app, now());
    return "denied";
  }

  function openConnections(timeoutMs: number) {
    const toClose: Promise<{ close(): void } | null>[] = [];
    const kept = <T extends { close(): void }>(open: () => Promise<T | null>) =>
      once(() => {
        const opening = open();
        toClose.push(opening);
        return opening;
      });
    return {
      x: kept(() => connectX11(env, timeoutMs).catch(() => null)),
      bus: kept(() => openBus(env)),
      async close(): Promise<void> {
        for (const opened of toClose) (await opened)?.close();
      },
    };
  }
  type Connections = ReturnType<typeof openConnections>;

  async function perform(step: Step, open: Connections, leftMs: number): Promise<unknown> {
    switch (step.do) {
      case "run":
        return run(step.argv, leftMs, step.env);
      case "call":
        return withBus(await open.bus(), (bus) => bus.call(step.call));
      case "lineage":
        return processes.lineage(step.pid);
      case "environment":
        return processes.environment(step.pid);
      case "processes":
        return processes.named(step.name);
      case "ttys":
        return processes.ttys(step.pid);
      case "sockets-of":
        return processes.sockets(step.pid);
      case "own-sockets":
        return step.paths.flatMap(ownSockets);
      case "connection":
        return platform === "linux" ? connectionOwner(step.localPort, step.remotePort) : null;
      case "kitty":
        return askKitty(step.address, step.command, step.payload, leftMs);
      case "kwin":
        return withBus(await open.bus(), (bus) => askKwin(bus, step.expression, leftMs));
      case "applescript":
        return applescript(step, leftMs);
      default:
        return platform === "win32" ? onWindows(step) : onX11(await open.x(), step);
    }
  }

  return {
    async carryOut(plan, timeoutMs) {
      const end = performance.now() + timeoutMs;
      const open = openConnections(timeoutMs);
      const { promise: late, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(new Error(`it took longer than ${timeoutMs} ms`)), timeoutMs);
      try {
        let next = plan.next();
        while (!next.done) {
          const leftMs = Math.max(1, Math.ceil(end - performance.now()));
          const working = perform(next.value, open, Math.min(leftMs, timing.commandTimeoutMs));
          next = plan.next(await Promise.race([working, late]));
        }
        return next.value;
      } finally {
        clearTimeout(timer);
        void open.close();
      }
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly it: T } | null = null;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}

type WindowStep = Extract<Step, { do: "windows" | "outer-window" | "activate" }>;

async function onX11(x: X11 | null, step: WindowStep): Promise<unknown> {
  switch (step.do) {
    case "windows":
      return x && listWindows(x);
    case "outer-window":
      return x && outerWindow(x, step.id);
    case "activate":
      return x !== null && activateWindow(x, step.id);
  }
}

async function onWindows(step: WindowStep): Promise<unknown> {
  const desktop = await import("../windows/windows.ts");
  switch (step.do) {
    case "windows":
      return desktop.listWindows();
    case "outer-window":
      return step.id;
    case "activate":
      return desktop.activateWindow(step.id);
  }
}

function processesOf(platform: NodeJS.Platform, exec: Exec): Processes {
  if (platform === "linux") return onLinux;
  if (platform === "darwin") return onMac(exec);
  if (platform !== "win32") return nowhere;
  return {
    ...nowhere,
    lineage: async (pid) => (await import("../windows/processes.ts")).lineageOf(pid),
  };
}

async function openBus(env: TerminalContext["env"]): Promise<Bus | null> {
  const address = busAddress(env);
  return address === null ? null : connectBus({ address, onEnd: () => {} }).catch(() => null);
}

async function withBus(bus: Bus | null, ask: (bus: Bus) => Promise<unknown>): Promise<unknown> {
  return bus === null ? null : ask(bus).catch(() => null);
}

/** Nobody else could have made it: what we tell it goes to a program of this user's. */
function ownSockets(path: string): string[] {
  try {
    if (path.endsWith("/")) return readdirSync(path).flatMap((name) => ownSockets(join(path, name)));
    const stat = statSync(path);
    return stat.isSocket() && stat.uid === process.getuid?.() ? [path] : [];
  } catch {
    return [];
  }
}
