/** `beckon status`: lists every session and what it needs. */
import type { Quiet } from "../core/config/quiet.ts";
import type { SessionSnapshot } from "../core/view/snapshot.ts";
import { readOpenHookErrors } from "../storage/hook-log.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { parseArguments } from "./args.ts";
import { fetchSessions } from "./client.ts";
import { formatDuration, formatLine, homeFolder, print, terminalColumns, wrapText } from "./output.ts";
import { formatQuiet } from "./quiet.ts";
import { formatStatusTable } from "./status-table.ts";

export async function status(args: string[]): Promise<number> {
  const { flags } = parseArguments(args, { command: "status", flags: ["--json", "--watch"] });
  const paths = resolvePaths();
  const asJson = flags.has("--json");
  const format = () => (asJson ? formatJson(paths) : formatText(paths));
  if (flags.has("--watch")) await watch(format, process.stdout.isTTY === true && !asJson);
  else print(await format());
  return 0;
}

interface KnownSessions {
  readonly sessions: readonly SessionSnapshot[];
  /** Why the list may be old or incomplete. */
  readonly warnings: readonly string[];
  readonly running: boolean;
  readonly quiet?: Quiet;
  /** What the running beckon reports: missing hooks, wrong settings. */
  readonly problems?: readonly string[];
}

/** From the running beckon, or from its files if it does not run. */
async function readSessions(paths: Paths): Promise<KnownSessions> {
  const live = await fetchSessions(paths);
  if (typeof live !== "string") return { warnings: [], running: true, ...live };
  const { readSavedSessions } = await import("./saved-sessions.ts");
  const { sessions, warnings } = readSavedSessions(paths);
  return { sessions, warnings: [live, ...warnings], running: false };
}

async function formatJson(paths: Paths): Promise<string> {
  const { warnings, running, ...known } = await readSessions(paths);
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  return `${JSON.stringify(running ? known : { ...known, running })}\n`;
}

const maxLines = 6;

async function formatText(paths: Paths): Promise<string> {
  const { sessions, warnings, running, quiet, problems = [] } = await readSessions(paths);
  const now = Date.now();
  const columns = terminalColumns();
  const colour = process.stdout.isTTY === true && !process.env.NO_COLOR;
  const wrapAll = (texts: readonly string[]) =>
    texts.flatMap((text) => wrapText(formatLine(text), columns, maxLines));
  const table =
    running || sessions.length > 0
      ? formatStatusTable(sessions, { now, columns, colour, home: homeFolder() })
      : [];
  const parts = [
    wrapAll(warnings),
    table,
    wrapAll(quiet ? [formatQuiet(quiet, now)] : []),
    wrapAll(problems),
    wrapAll(formatHookErrors(paths, now)),
  ].filter((lines) => lines.length > 0);
  return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** Hooks print nothing, so their errors are shown here. */
function formatHookErrors(paths: Paths, now: number): string[] {
  const recent = readOpenHookErrors(paths, now);
  const last = recent.at(-1);
  if (!last) return [];
  const errors = recent.length === 1 ? "1 hook error" : `${recent.length} hook errors`;
  const event = last.event === "-" ? "" : ` (${last.event})`;
  return [
    `${errors} in the last 24 h. The latest, ${formatDuration(now - last.at)} ago${event}: ${last.text}`,
    `All of them: ${paths.hookLog}. To test the hooks, run: beckon doctor`,
  ];
}

const redrawMs = 1_000;
const enterFullScreen = "\x1b[?1049h\x1b[?25l";
const leaveFullScreen = "\x1b[?25h\x1b[?1049l";
const quitKeys = new Set(["q", "Q", "\x03", "\x04", "\x1b"]);

/** Draws every second, and when the window changes, until a signal, a key or a closed stdout ends it. */
async function watch(format: () => Promise<string>, isFullScreen: boolean): Promise<void> {
  let wake = (): void => {};
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    wake();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  process.stdout.on("error", stop);
  process.stdout.on("resize", () => wake());

  if (isFullScreen) {
    process.stdout.write(enterFullScreen);
    onQuitKey(stop);
  }
  for (let last = ""; !isStopped; ) {
    const text = await format();
    if (isFullScreen) process.stdout.write(formatScreen(text, process.stdout.rows));
    else if (text !== last) process.stdout.write(text);
    last = text;
    if (isStopped) break;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, redrawMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
  if (!isFullScreen) return;
  process.stdout.write(leaveFullScreen);
  if (process.stdin.isTTY) process.stdin.setRawMode(false).pause();
}

/** In raw mode keys arrive one by one, and are not echoed. */
function onQuitKey(stop: () => void): void {
  if (!process.stdin.isTTY) return;
  process.stdin.setRawMode(true).setEncoding("utf8");
  process.stdin.on("data", (key: string) => {
    if (quitKeys.has(key)) stop();
  });
}

/** Overwrites line by line, so that nothing flickers. Never more lines than the screen has. */
function formatScreen(text: string, rows: number): string {
  const lines = text.trimEnd().split("\n");
  const room = Math.max(1, rows - 1);
  const more = lines.length > room ? `… ${lines.length - room} more lines · ` : "";
  const shown = [...lines.slice(0, room), `\x1b[2m${more}q quits\x1b[0m`];
  return `\x1b[H${shown.map((line) => `${line}\x1b[K`).join("\n")}\x1b[J`;
}
