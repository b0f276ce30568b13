/** Draws again every second, and when the window changes, until it is told to stop. */

const everyMs = 1_000;
const enter = "\x1b[?1049h\x1b[?25l";
const leave = "\x1b[?25h\x1b[?1049l";

export async function watch(
  draw: () => Promise<string>,
  options: { readonly fullScreen: boolean },
): Promise<void> {
  let wake = (): void => {};
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    wake();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  // Whoever read us has gone.
  process.stdout.on("error", stop);
  process.stdout.on("resize", () => wake());

  if (options.fullScreen) {
    process.stdout.write(enter);
    onKey(stop);
  }
  for (let last = ""; !stopped; ) {
    const text = await draw();
    if (options.fullScreen) process.stdout.write(screen(text, process.stdout.rows));
    else if (text !== last) process.stdout.write(text);
    last = text;
    if (stopped) break;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, everyMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
  if (!options.fullScreen) return;
  process.stdout.write(leave);
  if (process.stdin.isTTY) process.stdin.setRawMode(false).pause();
}

const quitKeys = new Set(["q", "Q", "\x03", "\x04", "\x1b"]);

/** Keys come one by one and are not echoed into the picture. */
function onKey(stop: () => void): void {
  if (!process.stdin.isTTY) return;
  process.stdin.setRawMode(true).setEncoding("utf8");
  process.stdin.on("data", (key: string) => {
    if (quitKeys.has(key)) stop();
  });
}

/** Written over what is there, line by line, so that nothing flickers; no more lines than the screen has. */
function screen(text: string, rows: number): string {
  const lines = text.trimEnd().split("\n");
  const room = Math.max(1, rows - 1);
  const more = lines.length > room ? `… ${lines.length - room} more lines · ` : "";
  const shown = [...lines.slice(0, room), `\x1b[2m${more}q quits\x1b[0m`];
  return `\x1b[H${shown.map((line) => `${line}\x1b[K`).join("\n")}\x1b[J`;
}
