/** A desktop outside the sandbox: notifications of the beckon in the sandbox appear on its screen. */
import {
  type Area,
  desktopNeeds,
  notifyd,
  startDesktop,
  type VirtualDesktop,
} from "../desktop/desktop-harness.ts";
import { testWith } from "../needs.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { cliVersion, isCliCached, sandboxNeeds } from "./cli.ts";
import { home } from "./namespace.ts";
import type { Sandbox, SandboxOptions } from "./sandbox.ts";
import { runInSandbox, withoutErrors } from "./scenario.ts";

const sockets = "/tmp/.X11-unix";
/** A notification that has not changed for this long is complete. A user needs as long to read the buttons. */
const stableMs = 700;
const timeoutMs = 10_000;

export interface SandboxDesktop {
  /** Lets the sandbox reach the desktop. */
  readonly options: SandboxOptions;
  readonly screen: VirtualDesktop;
  /** Lets programs in the sandbox open windows. */
  connect(sandbox: Sandbox): Promise<void>;
  /** Waits until a notification is on the screen and has stopped changing. */
  waitForNotification(): Promise<Area>;
  /** Waits until no notification is on the screen. */
  waitUntilWithdrawn(): Promise<void>;
  /** Allow is the first button, Deny the second; a question has its options. Returns the time of the click. */
  clickButton(notification: Area, button: "first of three" | "second of three"): Promise<number>;
}

/** A test with a desktop and a running beckon, which fails if a hook or beckon reports an error. */
export function testOnDesktop() {
  const missing = isCliCached(cliVersion) ? [] : [`Claude Code ${cliVersion}`];
  const test = testWith(...sandboxNeeds, ...desktopNeeds, notifyd, ...missing);
  return (
    title: string,
    drive: (sandbox: Sandbox, desktop: SandboxDesktop) => Promise<void>,
    withinMs: number,
  ): void =>
    test(
      title,
      async () => {
        const desktop = await openDesktop();
        const onDesktop = async (sandbox: Sandbox): Promise<void> => {
          await desktop.connect(sandbox);
          await sandbox.beckon.start();
          await drive(sandbox, desktop);
        };
        try {
          await runInSandbox(title, withoutErrors(onDesktop), desktop.options);
        } finally {
          await desktop.screen.stop();
        }
      },
      withinMs,
    );
}

export async function openDesktop(): Promise<SandboxDesktop> {
  const desktop = await startDesktop({ panel: true, notifications: true });
  const { XDG_RUNTIME_DIR: runtime = "", DISPLAY = "", XDG_CURRENT_DESKTOP = "" } = desktop.env;

  async function hashNotification(notification: Area): Promise<string> {
    const picture = await desktop.screenshot("agent-notification", notification);
    return JSON.stringify(notification) + Bun.hash(await Bun.file(picture).bytes());
  }

  return {
    screen: desktop,
    connect: (sandbox) => sandbox.runShell(`ln -s ~/desktop/x11 ${sockets}`),
    async waitUntilWithdrawn() {
      await waitUntil(async () => (await desktop.findNotifications()).length === 0, timeoutMs);
    },
    options: {
      files: { "desktop/run": runtime, "desktop/x11": sockets },
      env: {
        DISPLAY,
        XDG_CURRENT_DESKTOP,
        XDG_SESSION_TYPE: "x11",
        XDG_RUNTIME_DIR: `${home}/desktop/run`,
        DBUS_SESSION_BUS_ADDRESS: `unix:path=${home}/desktop/run/bus`,
      },
    },
    async waitForNotification() {
      const seen: { readonly area: Area; readonly hash: string }[] = [];
      await waitUntil(async () => {
        const before = seen.at(-1);
        if (before) await letTimePass(stableMs, "it must stay the same for as long as a user reads it");
        for (const area of (await desktop.findNotifications()).slice(0, 1)) {
          seen.push({ area, hash: await hashNotification(area) });
        }
        return before !== undefined && seen.at(-1)?.hash === before.hash;
      }, timeoutMs);
      return seen.at(-1)?.area as Area;
    },
    async clickButton(notification, button) {
      const { x, y } = desktop.locateButton(notification, button === "first of three" ? 2 : 1);
      await desktop.move(x, y);
      const clickedAt = Date.now();
      await desktop.run("xdotool", "click", "1");
      return clickedAt;
    },
  };
}
