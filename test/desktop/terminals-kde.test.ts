import { afterAll, beforeAll, describe, expect } from "bun:test";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Terminals } from "../../src/core/interfaces/index.ts";
import { createTerminals } from "../../src/desktop/terminals/index.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { createTerminalHarness, type TerminalHarness } from "./terminals-harness.ts";

const limitMs = 60_000;
const needs = [...desktopNeeds, "kwin_wayland", "gnome-terminal"];
const server = ["/usr/libexec/gnome-terminal-server", "/usr/lib/gnome-terminal/gnome-terminal-server"].find(
  (path) => existsSync(path),
);

describe("KDE on Wayland", () => {
  let desktop: VirtualDesktop;
  let harness: TerminalHarness;
  let terminals: Terminals;

  beforeAll(async () => {
    const program = Bun.which("kwin_wayland");
    if (program === null) return;
    desktop = await startDesktop();
    harness = createTerminalHarness(desktop);
    // Debian's program has a capability that is not allowed in a container. A copy has none.
    const kwin = join(desktop.home, "kwin_wayland");
    copyFileSync(program, kwin);
    const plain = { KWIN_COMPOSE: "Q", DISPLAY: "" };
    desktop.spawn(
      [kwin, "--virtual", "--no-lockscreen", "--no-global-shortcuts", "--socket", "wayland-k"],
      plain,
    );
    await waitUntil(() => desktop.hasOwner("org.kde.KWin"), limitMs / 2);
    const env = {
      DISPLAY: "",
      WAYLAND_DISPLAY: "wayland-k",
      XDG_CURRENT_DESKTOP: "KDE",
      XDG_SESSION_TYPE: "wayland",
    };
    terminals = createTerminals({
      env: { ...desktop.env, ...env },
      platform: "linux",
      visibilityTimeoutMs: 2_000,
    });
    desktop.spawn([server ?? ""], { ...env, GDK_BACKEND: "wayland" });
    await waitUntil(() => desktop.hasOwner("org.gnome.Terminal"), limitMs / 2);
  }, limitMs);
  afterAll(() => desktop?.stop());

  testWith(...needs)(
    "the window of the terminal's process with the session's title is shown",
    async () => {
      for (const name of ["w-one", "w-two", "w-three"]) {
        await desktop.run("gnome-terminal", "--window", "--title", name, "--", ...harness.agentCommand(name));
      }
      const target = (name: string) => harness.locate(name, { title: name });
      const one = await target("w-one");
      const three = await target("w-three");
      await waitUntil(async () => (await terminals.focus(three)).result === "window", limitMs);
      for (const [it, other] of [
        [one, three],
        [three, one],
      ] as const) {
        expect(await terminals.focus(it)).toMatchObject({ result: "window", by: "GNOME Terminal, KDE" });
        expect(await terminals.isPaneVisible(other)).toBe(false);
        expect(await terminals.isPaneVisible(it)).toBeNull();
      }
    },
    limitMs,
  );
});
