/** `beckon status`: every session and what it needs. */
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type SessionSnapshot, snapshotOf } from "../core/snapshot.ts";
import { unpack } from "../saved.ts";
import { type Paths, paths } from "../storage/paths.ts";
import { loadSnapshot } from "../storage/snapshot.ts";
import { createClock } from "../watch/machine.ts";
import { fetchSessions } from "./client.ts";
import { ago, table } from "./table.ts";

const watchMs = 1_000;

export async function status(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { json: { type: "boolean" }, watch: { type: "boolean" } } });
  const places = paths();
  if (!values.watch) {
    process.stdout.write(values.json ? await asJson(places) : await asTable(places));
    return 0;
  }
  let last = "";
  for (;;) {
    const text = values.json ? await asJson(places) : await asTable(places);
    const redraw = process.stdout.isTTY && !values.json;
    // Every time in full on a terminal; elsewhere only what changed, so that it can be piped.
    if (redraw) process.stdout.write(`\x1b[H\x1b[J${text}`);
    else if (text !== last) process.stdout.write(text);
    last = text;
    await Bun.sleep(watchMs);
  }
}

interface Known {
  readonly sessions: readonly SessionSnapshot[];
  readonly running: boolean;
  readonly savedAt: number | null;
}

async function know(places: Paths): Promise<Known> {
  const live = await fetchSessions(places);
  if (live) return { sessions: live, running: true, savedAt: null };
  const now = createClock()();
  const { value } = existsSync(places.snapshot) ? loadSnapshot(places, { look: true }) : { value: null };
  const saved = value ? unpack(value, now) : null;
  return {
    sessions: saved?.sessions.map((session) => snapshotOf(session, now)) ?? [],
    running: false,
    savedAt: typeof value?.savedAt === "number" ? value.savedAt : null,
  };
}

const notRunning = "beckon is not running. Start it with: beckon";

async function asJson(places: Paths): Promise<string> {
  const { sessions, running } = await know(places);
  if (!running) process.stderr.write(`${notRunning}\n`);
  return `${JSON.stringify({ sessions })}\n`;
}

async function asTable(places: Paths): Promise<string> {
  const { sessions, running, savedAt } = await know(places);
  const now = Date.now();
  const lines = table(sessions, {
    now,
    columns: process.stdout.columns ?? 120,
    colour: process.stdout.isTTY === true && !process.env.NO_COLOR,
  });
  const head = running
    ? []
    : [`${notRunning}${savedAt === null ? "" : ` This is what it knew ${ago(now - savedAt)} ago:`}`, ""];
  return `${[...head, ...lines, ...hookTroubles(places, now)].join("\n")}\n`;
}

const recentMs = 24 * 60 * 60_000;

/** Nobody sees a silent hook's errors: here is where they come to light. */
function hookTroubles(places: Paths, now: number): string[] {
  if (!existsSync(places.hookLog)) return [];
  const lines = readFileSync(places.hookLog, "utf8").split("\n").filter(Boolean);
  const recent = lines.filter((line) => now - Date.parse(line.split("\t", 1)[0] ?? "") < recentMs);
  const [when = "", name = "", , what = ""] = recent.at(-1)?.split("\t") ?? [];
  if (recent.length === 0) return [];
  const times = recent.length === 1 ? "once" : `${recent.length} times`;
  return ["", `Hooks had trouble ${times} today; ${ago(now - Date.parse(when))} ago at ${name}: ${what}`, `See ${places.hookLog}`];
}
