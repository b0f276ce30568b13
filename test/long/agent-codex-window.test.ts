/** The real Codex in windows of a desktop: a session of its shared server is found by the title of its window. */
import { expect } from "bun:test";
import { sandboxNeeds } from "../agent/cli.ts";
import { isOtherCliCached } from "../agent/other/clis.ts";
import { codexDriver } from "../agent/other/codex.ts";
import { type OtherSandbox, openOtherSandbox } from "../agent/other/sandbox.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "../desktop/desktop-harness.ts";
import { testWith } from "../needs.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";

const { cli } = codexDriver;
const missing = isOtherCliCached(cli) ? [] : [cli.packages[0]];
const test = testWith(...sandboxNeeds, ...desktopNeeds, "xterm", ...missing);
const stepMs = 40_000;

async function drive(sandbox: OtherSandbox, desktop: VirtualDesktop): Promise<void> {
  await sandbox.runShell("ln -s ~/desktop/x11 /tmp/.X11-unix");
  await sandbox.startFirst();
  await sandbox.say("hello");
  await sandbox.leaveCli();
  const readActiveTitle = () => desktop.run("xdotool", "getactivewindow", "getwindowname").catch(() => "");
  const openWindow = (command: string) =>
    sandbox.runShell(`cd proj && { xterm -T opened -e ${command} >/dev/null 2>&1 & }`);

  await openWindow("codex");
  await waitUntil(async () => /^proj|\| proj$/.test(await readActiveTitle()), stepMs, "Codex's window");
  await letTimePass(2_000, "it shows its prompt before it reads keys");
  await desktop.run("xdotool", "type", "--delay", "30", "SAY started");
  await desktop.key("Return");
  let pressedAt = performance.now();
  const isShown = async () => {
    // With its shared server, Codex can leave the first prompt unsent.
    if (performance.now() - pressedAt > 4_000) {
      await desktop.key("Return");
      pressedAt = performance.now();
    }
    return /A title \| proj$/.test(await readActiveTitle());
  };
  await waitUntil(isShown, stepMs, "the session's title");
  const { sessionId } = await sandbox.waitForSession(
    ({ title, state }) => title === "A title" && state === "active",
    "the session",
  );
  const window = await desktop.run("xdotool", "getactivewindow");

  await openWindow("sleep 1000");
  await waitUntil(async () => (await readActiveTitle()) === "opened", stepMs, "another window");
  const { stdout, stderr } = await sandbox.beckon.run("focus", sessionId);
  expect([stdout, stderr]).toEqual([expect.stringContaining("This is its terminal (xterm, X11)"), ""]);
  expect(await desktop.run("xdotool", "getactivewindow")).toBe(window);

  // No window has the title now. The process may take a moment longer to end.
  await desktop.run("xdotool", "windowclose", window);
  await waitUntil(async () => (await desktop.windows("--name", "A title")).length === 0, stepMs, "its end");
  const closed = await sandbox.beckon.run("focus", sessionId);
  expect(closed.stdout + closed.stderr).toMatch(/Codex's shared server runs it, and (?:no terminal|neither)/);
  expect(closed.stdout + closed.stderr).toContain(`codex resume ${sessionId}`);
}

test("Codex: focus brings the window with a session of the shared server to the front", async () => {
  const desktop = await startDesktop();
  const display = { DISPLAY: desktop.env.DISPLAY ?? "" };
  try {
    const sandbox = await openOtherSandbox(codexDriver, {
      mounts: { "desktop/x11": "/tmp/.X11-unix" },
      env: display,
      beckonEnv: display,
    });
    try {
      await drive(sandbox, desktop);
    } finally {
      await sandbox.close();
    }
  } finally {
    await desktop.stop();
  }
}, 240_000);
