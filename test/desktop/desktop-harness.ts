/** A private desktop: X server, session bus, window manager and, optionally, a panel and notifications. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { waitUntil } from "../wait-until.ts";
import { startGnomeShell } from "./gnome-shell.ts";
import { panelSettings } from "./panel.ts";

/** What the desktop needs, for testWith. */
export const desktopNeeds = [
  "linux",
  "Xvfb",
  "dbus-daemon",
  "openbox",
  "xfce4-panel",
  "xdotool",
  "scrot",
  "setpriv",
  "xprop",
  "xsetroot",
] as const;

export interface VirtualDesktopOptions {
  /** xfce4-panel, with a StatusNotifierItem tray. */
  readonly panel?: boolean;
  /** xfce4-notifyd */
  readonly notifications?: boolean;
  readonly theme?: "dark" | "light";
  /** GNOME Shell instead of window manager, panel and notifications. */
  readonly gnome?: boolean;
}

export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export type VirtualDesktop = Awaited<ReturnType<typeof startDesktop>>;

/** xfce4-notifyd, which is not on the PATH. */
export const notifyd = "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd";
const startMs = 30_000;

export async function startDesktop(options: VirtualDesktopOptions = {}) {
  const home = mkdtempSync(join(tmpdir(), "beckon-desktop-"));
  const runtime = join(home, "run");
  const config = join(home, ".config");
  mkdirSync(runtime, { mode: 0o700 });
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    LANG: "C.UTF-8",
    HOME: home,
    XDG_RUNTIME_DIR: runtime,
    XDG_CONFIG_HOME: config,
    XDG_CACHE_HOME: join(home, ".cache"),
    XDG_DATA_HOME: join(home, ".local/share"),
    XDG_SESSION_TYPE: "x11",
    XDG_CURRENT_DESKTOP: options.gnome ? "GNOME" : "XFCE",
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${runtime}/bus`,
    GTK_THEME: options.theme === "light" ? "Adwaita" : "Adwaita:dark",
    // Without accessibility bus and dconf, which would outlive the desktop.
    NO_AT_BRIDGE: "1",
    GTK_A11Y: "none",
    GSETTINGS_BACKEND: options.gnome ? "keyfile" : "memory",
    BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
  };
  // Not a folder that all users of the machine share: it belongs to the first of them.
  const shots = process.env.BECKON_SHOTS ?? join(home, "shots");
  const children = new Set<Bun.Subprocess>();

  /** The process ends with the desktop, and with the test run, even if that is killed. */
  function spawn(argv: readonly string[], more: Record<string, string> = {}) {
    const child = Bun.spawn(["setpriv", "--pdeathsig", "KILL", "--", ...argv], {
      env: { ...env, ...more },
      cwd: home,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      onExit: () => void children.delete(child),
    });
    children.add(child);
    return child;
  }

  async function run(...argv: string[]): Promise<string> {
    const child = spawn(argv);
    const [stdout, stderr, code] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}: ${stderr}`);
    return stdout.trim();
  }

  async function end(child: Bun.Subprocess | null): Promise<void> {
    child?.kill("SIGKILL");
    await child?.exited;
  }

  const hasOwner = async (name: string): Promise<boolean> =>
    existsSync(join(runtime, "bus")) &&
    (await callBus("NameHasOwner", name).catch(() => "")).includes("true");
  const callBus = (method: string, ...args: string[]) =>
    run(
      ...["gdbus", "call", "--session", "--timeout", "2", "--dest", "org.freedesktop.DBus"],
      ...["--object-path", "/org/freedesktop/DBus", "--method", `org.freedesktop.DBus.${method}`, ...args],
    );

  let bus: Bun.Subprocess | null = null;
  let panel: Bun.Subprocess | null = null;
  let notifications: Bun.Subprocess | null = null;

  const desktop = {
    env,
    home,
    spawn,
    run,
    hasOwner,

    async startBus(): Promise<void> {
      const address = env.DBUS_SESSION_BUS_ADDRESS ?? "";
      bus = spawn(["dbus-daemon", "--session", "--nofork", "--nopidfile", `--address=${address}`]);
      await waitUntil(() => existsSync(join(runtime, "bus")), startMs);
    },
    async killBus(): Promise<void> {
      await end(bus);
      rmSync(join(runtime, "bus"), { force: true });
    },

    async startPanel(): Promise<void> {
      panel = spawn(["xfce4-panel", "--disable-wm-check", "--sm-client-disable"]);
      await waitUntil(() => hasOwner("org.kde.StatusNotifierWatcher"), startMs);
    },
    async killPanel(): Promise<void> {
      await end(panel);
      await waitUntil(async () => !(await hasOwner("org.kde.StatusNotifierWatcher")), startMs);
    },

    async startNotifications(): Promise<void> {
      notifications = spawn([notifyd]);
      await waitUntil(() => hasOwner("org.freedesktop.Notifications"), startMs);
    },
    killNotifications: () => end(notifications),

    /** Returns the path of the picture, which is removed with the desktop unless BECKON_SHOTS names a folder for it. */
    async screenshot(name: string, area?: Area): Promise<string> {
      const path = join(shots, `${name}.png`);
      mkdirSync(shots, { recursive: true });
      const part = area ? ["-a", `${area.x},${area.y},${area.width},${area.height}`] : [];
      await run("scrot", "--overwrite", "--silent", ...part, path);
      return path;
    },

    // Without --sync, which waits forever if the mouse is at that position already.
    move: (x: number, y: number) => run("xdotool", "mousemove", String(x), String(y)),
    /** Button 1 is the left one, 3 the right one. */
    async click(x: number, y: number, button = 1): Promise<void> {
      await desktop.move(x, y);
      await run("xdotool", "click", String(button));
    },
    key: (...keys: string[]) => run("xdotool", "key", ...keys),

    /** Visible windows; the arguments are those of xdotool search: `("--name", "^vim$")`, `("--class", "xterm")`. */
    async windows(...search: string[]): Promise<string[]> {
      const output = await run("xdotool", "search", "--onlyvisible", ...search).catch(() => "");
      return output.split("\n").filter((id) => id !== "");
    },
    async areaOf(window: string): Promise<Area> {
      const text = await run("xdotool", "getwindowgeometry", "--shell", window);
      const read = (name: string) => Number(new RegExp(`^${name}=(-?\\d+)$`, "m").exec(text)?.[1]);
      return { x: read("X"), y: read("Y"), width: read("WIDTH"), height: read("HEIGHT") };
    },

    /** The areas of the notifications of xfce4-notifyd, from the top. */
    async findNotifications(): Promise<Area[]> {
      const windows = await desktop.windows("--class", "xfce4-notifyd");
      const areas = await Promise.all(windows.map((window) => desktop.areaOf(window).catch(() => [])));
      // xfce4-notifyd has a tiny window of its own.
      return areas
        .flat()
        .filter(({ width }) => width > 50)
        .toSorted((a, b) => a.y - b.y);
    },
    /** Where a button of a notification is. Buttons are 109 pixels wide and 7 apart, counted from the right. */
    locateButton: ({ x, y, width, height }: Area, fromRight: number) => ({
      x: x + width - 14 - 54 - fromRight * 116,
      y: y + height - 30,
    }),

    /** Starts beckon and waits until it accepts requests. */
    async startBeckon(command: string[], more: Record<string, string>): Promise<void> {
      const port = String(20_000 + Math.floor(Math.random() * 40_000));
      const app = spawn(command, { BECKON_PORT: port, ...more });
      const endpoint = join(more.BECKON_HOME ?? "", "endpoint.json");
      await waitUntil(() => app.exitCode !== null || existsSync(endpoint), startMs);
      if (app.exitCode !== null) throw new Error(await app.stderr.text());
    },

    async stop(): Promise<void> {
      await Promise.all([...children].map(end));
      rmSync(home, { recursive: true, force: true });
    },
  };

  try {
    const x = spawn([
      "Xvfb",
      "-displayfd",
      "1",
      "-screen",
      "0",
      "1280x800x24",
      "-noreset",
      "-nolisten",
      "tcp",
    ]);
    env.DISPLAY = `:${await firstLine(x.stdout)}`;
    await run("xsetroot", "-solid", "#2f4858");
    await desktop.startBus();
    const settings = join(config, "xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml");
    mkdirSync(dirname(settings), { recursive: true });
    writeFileSync(settings, panelSettings);
    if (options.gnome) await startGnomeShell(desktop);
    else spawn(["openbox", "--sm-disable"]);
    await waitUntil(
      async () => (await run("xprop", "-root", "_NET_SUPPORTING_WM_CHECK")).includes("#"),
      startMs,
    );
    if (options.notifications) await desktop.startNotifications();
    if (options.panel) await desktop.startPanel();
  } catch (error) {
    await desktop.stop();
    throw error;
  }
  return desktop;
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stream) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("\n")) return text.slice(0, text.indexOf("\n"));
  }
  throw new Error("Xvfb ended before it named its display");
}
