/** `beckon status`: every session and what it needs. */
import { existsSync } from "node:fs";
import { loadAlertState, readPreferences } from "../alerts/state-file.ts";
import type { Quiet } from "../core/config/quiet.ts";
import { createSnapshot, type SessionSnapshot } from "../core/view/snapshot.ts";
import { readConfigFile } from "../storage/config-file.ts";
import { readOpenHookErrors } from "../storage/hook-log.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { loadSnapshot } from "../storage/snapshot.ts";
import { createClock, formatLocalTime } from "../system/clock.ts";
import { parseArguments } from "./args.ts";
import { fetchSessions } from "./client.ts";
import { formatDuration, formatLine, homeFolder, print, terminalColumns, wrapText } from "./output.ts";
import { table } from "./table.ts";

export async function status(args: string[]): Promise<number> {
  const { flags } = parseArguments(args, { command: "status", flags: ["--json", "--watch"] });
  const places = resolvePaths();
  const draw = flags.has("--json") ? asJson : asTable;
  if (flags.has("--watch")) {
    const { watch } = await import("./watch.ts");
    await watch(() => draw(places), { fullScreen: process.stdout.isTTY === true && draw === asTable });
  } else {
    print(await draw(places));
  }
  return 0;
}

interface Known {
  readonly sessions: readonly SessionSnapshot[];
  /** What is wrong with it: old, or not all there. */
  readonly notes: readonly string[];
  readonly running: boolean;
  readonly quiet?: Quiet;
  /** What the running beckon would have its person know: hooks that are missing, settings that are wrong. */
  readonly problems?: readonly string[];
}

async function know(places: Paths): Promise<Known> {
  const live = await fetchSessions(places);
  if (typeof live !== "string") return { notes: [], running: true, ...live };
  const now = createClock()();
  const { value, problem } = loadSnapshot(places, { look: true });
  const context = {
    preferences: readPreferences(loadAlertState(places.desk)),
    config: readConfigFile(places.config).config,
    formatTime: formatLocalTime,
  };
  // Loaded only here: the schema of a session would cost every other call 10 ms.
  const { decodeState } = await import("../state/saved-state.ts");
  const saved = value ? decodeState(value, now).sessions : [];
  const sessions = saved.map((session) => createSnapshot(session, now, context));
  const savedAt = typeof value?.savedAt === "number" ? value.savedAt : null;
  const notes = [live];
  if (problem) notes.push(`${problem}.`);
  if (existsSync(places.spool)) notes.push("Newer events are waiting for it in the spool.");
  if (savedAt !== null && sessions.length > 0)
    notes.push(`What it knew ${formatDuration(now.at - savedAt)} ago:`);
  return { sessions, notes, running: false };
}

async function asJson(places: Paths): Promise<string> {
  const { notes, running, ...known } = await know(places);
  for (const note of notes) process.stderr.write(`${note}\n`);
  return `${JSON.stringify(running ? known : { ...known, running })}\n`;
}

const noteLines = 6;

async function asTable(places: Paths): Promise<string> {
  const { sessions, notes, running, quiet, problems = [] } = await know(places);
  const now = Date.now();
  const columns = terminalColumns();
  const colour = process.stdout.isTTY === true && !process.env.NO_COLOR;
  const lines = [
    ...notes.flatMap((note) => wrapText(formatLine(note), columns, noteLines)),
    ...(notes.length > 0 && sessions.length > 0 ? [""] : []),
    ...(running || sessions.length > 0 ? table(sessions, { now, columns, colour, home: homeFolder() }) : []),
    ...(quiet ? ["", ...wrapText(quietLine(quiet, now), columns, noteLines)] : []),
    ...(problems.length > 0
      ? ["", ...problems.flatMap((one) => wrapText(formatLine(one), columns, noteLines))]
      : []),
    ...hookTroubles(places, now).flatMap((note) => wrapText(formatLine(note), columns, noteLines)),
  ];
  return `${lines.join("\n")}\n`;
}

function quietLine({ by, until }: Quiet, now: number): string {
  const end = until === null ? "until you turn it off in the tray" : `until ${formatLocalTime(until, now)}`;
  return `Quiet ${end}${by === "you" ? "" : ` (${by})`}: beckon shows no alerts.`;
}

/** Nobody sees a silent hook's errors: here is where they come to light. */
function hookTroubles(places: Paths, now: number): string[] {
  const recent = readOpenHookErrors(places, now);
  const last = recent.at(-1);
  if (!last) return [];
  const errors = recent.length === 1 ? "1 hook error" : `${recent.length} hook errors`;
  const at = last.event === "-" ? "" : ` (${last.event})`;
  return [
    "",
    `${errors} in the last 24 h. The latest, ${formatDuration(now - last.at)} ago${at}: ${last.text}`,
    `All of them: ${places.hookLog}. Try the hooks with: beckon doctor. This note goes an hour after the last error, once an event has come through.`,
  ];
}
