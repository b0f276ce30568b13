/** `beckon demo` on a real desktop: the icon, an alert and the page come alive, and nothing is left of them. */
import { afterAll, beforeAll, expect } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { navigation } from "../navigation.ts";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { findBlockedIcon } from "./tray-app.ts";

const onDesktop = testWith(...desktopNeeds, "dbus-monitor", "xterm");
const limitMs = 120_000;
const soonMs = 30_000;

let desktop: VirtualDesktop;
beforeAll(async () => {
  desktop = await startDesktop({ panel: true, notifications: true });
}, limitMs);
afterAll(() => desktop?.stop());

/** In place of a browser: a program that keeps the address that it was given. */
function putBrowser(): { readonly path: string; readonly file: string } {
  const folder = join(desktop.home, "bin");
  const file = join(desktop.home, "opened");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\nprintf %s "$1" > ${file}\n`);
  chmodSync(join(folder, "xdg-open"), 0o755);
  return { path: `${folder}:${desktop.env.PATH}`, file };
}

onDesktop(
  "the demo shows the icon, alerts and the page, and leaves nothing behind",
  async () => {
    const browser = putBrowser();
    const temporary = join(desktop.home, "tmp");
    mkdirSync(temporary);
    const monitor = desktop.spawn(["dbus-monitor", "interface='org.freedesktop.Notifications'"]);
    let traffic = "";
    void (async () => {
      for await (const chunk of monitor.stdout) traffic += new TextDecoder().decode(chunk);
    })();
    const port = String(20_000 + Math.floor(Math.random() * 40_000));
    const demo = desktop.spawn([binary, "demo"], {
      PATH: browser.path,
      TMPDIR: temporary,
      BECKON_PORT: port,
    });
    await waitUntil(() => existsSync(browser.file), soonMs, "the page is opened");
    const url = readFileSync(browser.file, "utf8");
    expect(url).toStartWith(`http://127.0.0.1:${port}/?code=`);
    expect((await fetch(url, { headers: navigation })).status).toBe(200);
    await waitUntil(() => traffic.includes("checkout-api wants to use Bash"), soonMs, "the alert of an ask");
    await waitUntil(
      async () => (await desktop.findNotifications()).length > 0,
      soonMs,
      "an alert on the screen",
    );
    await waitUntil(
      async () => (await findBlockedIcon(desktop)) !== null,
      soonMs,
      "the icon of a blocked session",
    );
    await desktop.screenshot("demo");

    demo.kill("SIGINT");
    expect(await demo.exited).toBe(0);
    expect(readdirSync(temporary)).toEqual([]);
    const ours = readdirSync(desktop.home).filter((name) => name.includes("beckon"));
    expect(ours).toEqual([]);
    await waitUntil(async () => (await desktop.findNotifications()).length === 0, soonMs, "no alert");
  },
  limitMs,
);

onDesktop(
  "the demo shows its alerts although its own terminal has the focus",
  async () => {
    const browser = putBrowser();
    const output = join(desktop.home, "demo.txt");
    const monitor = desktop.spawn(["dbus-monitor", "interface='org.freedesktop.Notifications'"]);
    let traffic = "";
    void (async () => {
      for await (const chunk of monitor.stdout) traffic += new TextDecoder().decode(chunk);
    })();
    const command = `exec ${binary} demo >${output} 2>&1`;
    const terminal = desktop.spawn(["xterm", "-T", "demo", "-e", "sh", "-c", command], {
      PATH: browser.path,
      TMPDIR: desktop.home,
      BECKON_PORT: String(20_000 + Math.floor(Math.random() * 40_000)),
    });
    const readTitle = () => desktop.run("xdotool", "getactivewindow", "getwindowname").catch(() => "");
    await waitUntil(async () => (await readTitle()).includes("demo"), soonMs, "the terminal has the focus");
    let moves = 0;
    await waitUntil(
      async () => {
        // A user without input counts as away, and would get the alert anyway.
        await desktop.move(200, 100 + (moves++ % 2));
        return traffic.includes("checkout-api wants to use Bash");
      },
      soonMs,
      "the alert of an ask in front of the terminal",
    );
    expect(await readTitle()).toContain("demo");
    const demo = desktop.run("pgrep", "-P", String(terminal.pid), "-f", "demo");
    process.kill(Number((await demo).split("\n")[0]), "SIGINT");
    await terminal.exited;
    expect(readFileSync(output, "utf8")).toContain("nothing of it is left");
  },
  limitMs,
);
