/** A sandbox with a desktop beside it: what beckon notifies in there is on a screen here. */
import { type Area, type Desktop, desktopNeeds, startDesktop } from "../desktop/desktop-harness.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { cliVersion, isCliCached, sandboxNeeds } from "./cli.ts";
import { home } from "./namespace.ts";
import type { Sandbox, SandboxOptions } from "./sandbox.ts";
import { runInSandbox, undisturbedBy } from "./scenario.ts";

const notifyd = "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd";
const sockets = "/tmp/.X11-unix";
/** So soon after it came nobody has read what a button says. */
const readMs = 700;
const soonMs = 10_000;

interface Desk {
  /** For a sandbox that is to see it. */
  readonly options: SandboxOptions;
  readonly desktop: Desktop;
  /** A notification once it is on the screen with all its words and buttons and stays as it is. */
  note(): Promise<Area>;
  /** Waits until none is there. */
  gone(): Promise<void>;
  /** Allow is the first, Deny the second; of a question, its options. When it was clicked. */
  clicks(note: Area, button: "first of three" | "second of three"): Promise<number>;
}

/** Beside a desktop, in a sandbox with beckon: nobody complains. */
export function testOnDesk() {
  const missing = isCliCached(cliVersion) ? [] : [`Claude Code ${cliVersion}`];
  const test = testWith(...sandboxNeeds, ...desktopNeeds, notifyd, ...missing);
  return (title: string, drive: (sandbox: Sandbox, desk: Desk) => Promise<void>, withinMs: number): void =>
    test(
      title,
      async () => {
        const desk = await openDesk();
        const onDesk = async (sandbox: Sandbox): Promise<void> => {
          await sandbox.does(`ln -s ~/desk/x11 ${sockets}`);
          await sandbox.beckon.start();
          await drive(sandbox, desk);
        };
        try {
          await runInSandbox(title, undisturbedBy(onDesk), desk.options);
        } finally {
          await desk.desktop.stop();
        }
      },
      withinMs,
    );
}

async function openDesk(): Promise<Desk> {
  const desktop = await startDesktop({ panel: true, notifications: true });
  const { XDG_RUNTIME_DIR: runtime = "", DISPLAY = "", XDG_CURRENT_DESKTOP = "" } = desktop.env;

  async function notes(): Promise<Area[]> {
    const windows = await desktop.windows("--class", "xfce4-notifyd");
    const areas = await Promise.all(windows.map((window) => desktop.areaOf(window).catch(() => [])));
    return areas.flat().filter(({ width }) => width > 50);
  }

  async function lookOf(note: Area): Promise<string> {
    const picture = await desktop.screenshot("agent-note", note);
    return JSON.stringify(note) + Bun.hash(await Bun.file(picture).bytes());
  }

  return {
    desktop,
    async gone() {
      await waitUntil(async () => (await notes()).length === 0, soonMs);
    },
    options: {
      files: { "desk/run": runtime, "desk/x11": sockets },
      env: {
        DISPLAY,
        XDG_CURRENT_DESKTOP,
        XDG_SESSION_TYPE: "x11",
        XDG_RUNTIME_DIR: `${home}/desk/run`,
        DBUS_SESSION_BUS_ADDRESS: `unix:path=${home}/desk/run/bus`,
      },
    },
    async note() {
      const seen: { readonly note: Area; readonly look: string }[] = [];
      await waitUntil(async () => {
        const before = seen.at(-1);
        if (before) await Bun.sleep(readMs);
        for (const note of (await notes()).slice(0, 1)) seen.push({ note, look: await lookOf(note) });
        return before !== undefined && seen.at(-1)?.look === before.look;
      }, soonMs);
      return seen.at(-1)?.note as Area;
    },
    async clicks({ x, y, width, height }, button) {
      // Each is 109 wide, and 7 apart from the next.
      const fromRight = button === "first of three" ? 2 : 1;
      await desktop.move(x + width - 14 - 54 - fromRight * 116, y + height - 30);
      const clickedAt = Date.now();
      await desktop.run("xdotool", "click", "1");
      return clickedAt;
    },
  };
}
