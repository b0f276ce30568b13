/**
 * bun test/agent/animation.ts    Makes the README's animation: the real CLI asks, the alert comes, and a click on Allow lets
 * the tool run. Needs what the desktop tests need, and ffmpeg.
 */
import { join } from "node:path";
import { repo } from "../repo.ts";
import { openDesktop, type SandboxDesktop } from "./desktop.ts";
import { home } from "./namespace.ts";
import { defaultMode, openSandbox, type Sandbox } from "./sandbox.ts";
import { dialog } from "./scenario.ts";

const project = `${home}/shop-api`;
const prompt = "Are the tests green?";
/** Where the mouse is while nothing is clicked: in the editor. */
const resting: [number, number] = [960, 540];
const framesPerSecond = 10;
const area = { x: 60, y: 0, width: 1220, height: 600 };
const editorText = [
  "export function addToCart(cart: Cart, item: Item): Cart {",
  "  const known = cart.lines.find((line) => line.sku === item.sku);",
  "  if (known) return { ...cart, lines: cart.lines.map(increment(known)) };",
  "  return { ...cart, lines: [...cart.lines, { ...item, count: 1 }] };",
  "}",
].join("\n");

async function moveSmoothly({ screen }: SandboxDesktop, from: [number, number], to: [number, number]) {
  const steps = 12;
  for (let n = 1; n <= steps; n++) {
    const eased = (1 - Math.cos((Math.PI * n) / steps)) / 2;
    await screen.move(
      Math.round(from[0] + (to[0] - from[0]) * eased),
      Math.round(from[1] + (to[1] - from[1]) * eased),
    );
    await Bun.sleep(40);
  }
}

async function openWindows(sandbox: Sandbox, { screen, options }: SandboxDesktop): Promise<void> {
  const xterm = ["xterm", "-fa", "DejaVu Sans Mono", "-fs", "10", "-b", "8", "+sb"];
  await sandbox.runShell("tmux -S ~/tmux.sock set-option -g status off");
  const attach = [...xterm, "-geometry", "76x22+80+60", "-bg", "#1b1d22", "-fg", "#e6e6e6", "-T", "shop-api"];
  const quoted = [...attach, "-e", "tmux", "-S", `${home}/tmux.sock`, "attach"]
    .map((word) => `'${word}'`)
    .join(" ");
  await sandbox.runShell(`DISPLAY=${options.env?.DISPLAY} setsid ${quoted} >/dev/null 2>&1 &`);
  await Bun.write(join(screen.home, "cart.ts"), editorText);
  const editor = ["sh", "-c", "clear; cat cart.ts; exec sleep 600"];
  screen.spawn([
    ...xterm,
    "-geometry",
    "74x9+620+400",
    "-bg",
    "#fbfbfa",
    "-fg",
    "#2b2d33",
    "-T",
    "cart.ts",
    "-e",
    ...editor,
  ]);
  await Bun.sleep(2_000);
  // beckon shows no alert for a terminal that has the focus.
  await screen.click(...resting);
}

async function record(desktop: SandboxDesktop, file: string): Promise<() => Promise<void>> {
  const { DISPLAY = "" } = desktop.screen.env;
  const recorder = Bun.spawn(
    [
      ...["ffmpeg", "-y", "-loglevel", "error", "-f", "x11grab", "-framerate", String(framesPerSecond)],
      ...["-video_size", `${area.width}x${area.height}`, "-i", `${DISPLAY}.0+${area.x},${area.y}`],
      ...["-c:v", "libx264rgb", "-crf", "0", "-preset", "ultrafast", file],
    ],
    { stdin: "pipe", stdout: "inherit", stderr: "inherit" },
  );
  return async () => {
    recorder.stdin.write("q");
    await recorder.stdin.end();
    await recorder.exited;
  };
}

async function encode(video: string, picture: string): Promise<void> {
  const palette =
    "scale=900:-1:flags=lanczos,split[a][b];[a]palettegen=max_colors=96:stats_mode=diff[p];[b][p]paletteuse=dither=none";
  const encoder = Bun.spawn(["ffmpeg", "-y", "-loglevel", "error", "-i", video, "-vf", palette, picture]);
  if ((await encoder.exited) !== 0) throw new Error("ffmpeg could not encode the animation");
}

const desktop = await openDesktop();
const sandbox = await openSandbox({
  ...desktop.options,
  prompts: { [prompt]: "DO bash npm test" },
  claudeJson: {
    projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  },
});
try {
  await desktop.connect(sandbox);
  await sandbox.runShell(`mkdir ${project}`);
  await sandbox.runShell(
    `printf '%s' '{"scripts":{"test":"sleep 1; echo; echo 42 tests passed"}}' > ${project}/package.json`,
  );
  await sandbox.beckon.start();
  await openWindows(sandbox, desktop);
  await sandbox.typeLine(`cd ${project}; clear`);
  await sandbox.startCli(defaultMode);
  await Bun.sleep(1_500);
  const video = join(desktop.screen.home, "animation.mkv");
  const stop = await record(desktop, video);
  await desktop.screen.move(...resting);
  await Bun.sleep(1_000);
  await sandbox.typeLine(prompt);
  await sandbox.waitForScreen(dialog.permission);
  const alert = await desktop.waitForNotification();
  await Bun.sleep(1_200);
  const allow: [number, number] = [alert.x + alert.width - 14 - 54 - 2 * 116, alert.y + alert.height - 30];
  await moveSmoothly(desktop, resting, allow);
  await Bun.sleep(400);
  await desktop.clickButton(alert, "first of three");
  await sandbox.waitUntilHidden(dialog.permission);
  await moveSmoothly(desktop, allow, resting);
  await sandbox.waitForStatus("idle").catch(() => {});
  await Bun.sleep(2_500);
  await stop();
  await encode(video, join(repo, "assets/readme/answer.gif"));
} finally {
  await sandbox.close();
  await desktop.screen.stop();
}
process.exit(0);
