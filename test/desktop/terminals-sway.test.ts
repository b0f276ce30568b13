import { afterAll, beforeAll, describe, expect } from "bun:test";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Terminals } from "../../src/core/interfaces/index.ts";
import { createTerminals } from "../../src/desktop/terminals/index.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { createTerminalHarness, type TerminalHarness } from "./terminals-harness.ts";

const limitMs = 60_000;
const nobody = 65534;
/** sway refuses to run as root. */
const unprivileged =
  process.getuid?.() === 0
    ? [
        "setpriv",
        "--reuid",
        `${nobody}`,
        "--regid",
        `${nobody}`,
        "--clear-groups",
        "--pdeathsig",
        "KILL",
        "--",
      ]
    : [];

describe("sway, with foot", () => {
  const withSway = testWith(...desktopNeeds, "sway", "foot");
  let desktop: VirtualDesktop;
  let harness: TerminalHarness;
  let terminals: Terminals;
  let env: Record<string, string>;
  let folder: string;

  beforeAll(async () => {
    desktop = await startDesktop();
    harness = createTerminalHarness(desktop);
    folder = mkdtempSync(join(tmpdir(), "beckon-sway-"));
    chmodSync(folder, 0o755);
    const runtime = join(folder, "run");
    mkdirSync(runtime, { mode: 0o700 });
    const config = join(folder, "config");
    writeFileSync(config, "xwayland disable\n");
    if (process.getuid?.() === 0) chownSync(runtime, nobody, nobody);
    const headless = { XDG_RUNTIME_DIR: runtime, WLR_BACKENDS: "headless", WLR_RENDERER: "pixman" };
    desktop.spawn([...unprivileged, "sway", "-c", config], { ...headless, DISPLAY: "", HOME: folder });
    const find = (pattern: RegExp) => readdirSync(runtime).find((name) => pattern.test(name)) ?? "";
    await waitUntil(() => find(/^sway-ipc.*sock$/) && find(/^wayland-\d+$/), limitMs / 2);
    const socket = join(runtime, find(/^sway-ipc/));
    env = {
      ...desktop.env,
      SWAYSOCK: socket,
      WAYLAND_DISPLAY: join(runtime, find(/^wayland-\d+$/)),
      DISPLAY: "",
    };
    terminals = createTerminals({ env, platform: "linux", visibilityTimeoutMs: 2_000 });
  }, limitMs);
  afterAll(async () => {
    await desktop?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  withSway(
    "the window is shown, also on another workspace",
    async () => {
      const sway = (...args: string[]) => desktop.run("env", `SWAYSOCK=${env.SWAYSOCK}`, "swaymsg", ...args);
      for (const name of ["f-one", "f-two", "f-three"]) {
        if (name === "f-three") await sway("workspace", "2");
        desktop.spawn(["foot", "--config", "/dev/null", ...harness.agentCommand(name)], env);
        const target = await harness.locate(name);
        // A new window gets the keyboard when it opens, which is after its program has started.
        await waitUntil(() => terminals.isPaneVisible(target), limitMs);
      }
      const targets = {
        one: await harness.locate("f-one"),
        two: await harness.locate("f-two"),
        three: await harness.locate("f-three"),
      };
      for (const [name, target] of Object.entries(targets)) {
        expect(await terminals.focus(target)).toEqual({ result: "exact", by: "foot, sway", why: null });
        const visibility = await Promise.all(
          Object.values(targets).map((one) => terminals.isPaneVisible(one)),
        );
        expect(visibility).toEqual(Object.keys(targets).map((one) => one === name));
      }
    },
    limitMs,
  );
});
