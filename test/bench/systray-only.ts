/** A tray by systray2 alone, as its documentation shows it: an icon and a menu of sessions. beckon is compared with it. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import systray2, { type MenuItem } from "systray2";
import { version } from "systray2/package.json";
import helper from "systray2/traybin/tray_linux_release" with { type: "file" };
import { readPng } from "../../src/desktop/tray/icons.ts";

// The package is CommonJS: in a bundle its default export is inside the default export.
const { default: SysTray } = systray2 as unknown as { default: typeof systray2 };
const [folder = "", sessions = "0"] = process.argv.slice(2);

/** systray2 looks for its helper here. In a compiled program the package's own folder is the one of the build machine. */
const unpacked = join(folder, version);
mkdirSync(unpacked, { recursive: true });
const program = join(unpacked, "tray_linux_release");
writeFileSync(program, readFileSync(helper));
chmodSync(program, 0o700);

const entry = (title: string, items?: MenuItem[]): MenuItem => ({
  title,
  tooltip: "",
  checked: false,
  enabled: true,
  ...(items && { items }),
});
const actions = ["Go to terminal", "Snooze 15 min", "Snooze 1 hour", "Mute this session", "Copy session id"];

const tray = new SysTray({
  menu: {
    icon: readPng({ phase: "blocked", count: 3 }).toString("base64"),
    title: "",
    tooltip: "3 need you",
    items: [
      ...Array.from({ length: Number(sessions) }, (_, n) =>
        entry(
          `proj-${n} · 3 min · Bash`,
          actions.map((title) => entry(title)),
        ),
      ),
      entry("Quit"),
    ],
  },
  copyDir: folder,
});
await tray.ready();
console.log("ready");
