/** `beckon log`: what was asked, answered, shown and why not shown. */

import { type AnswerLogEntry, readAnswerLog } from "../answers/log.ts";
import { shortenHomePath } from "../core/text/paths.ts";
import { truncateMiddle } from "../core/text/text.ts";
import { resolvePaths } from "../storage/paths.ts";
import { formatLocalTime } from "../system/clock.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { parseArguments, quote, usageError } from "./args.ts";
import { notRunning } from "./client.ts";
import { homeFolder, padText, print, stripControls, terminalColumns, truncate, wrapText } from "./output.ts";

const usualLines = 30;
const noteLines = 6;

export async function log(args: string[]): Promise<number> {
  const { flags, values } = parseArguments(args, {
    command: "log",
    flags: ["--json"],
    values: { "-n": "N" },
  });
  const { "-n": lines = String(usualLines) } = values;
  if (!/^[1-9]\d{0,6}$/.test(lines)) throw usageError(`-n takes a number of lines, but got ${quote(lines)}`);
  const places = resolvePaths();
  const entries = readAnswerLog(places.decisions).slice(-Number(lines));
  const isRunning = readEndpoint(places) !== null;
  if (flags.has("--json")) {
    if (!isRunning) process.stderr.write(`${notRunning}\n`);
    print(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    return 0;
  }
  const columns = terminalColumns();
  // Below, where the newest is: a long list scrolls its beginning away.
  const note = isRunning ? [] : ["", ...wrapText(notRunning, columns, noteLines)];
  print(tableOf(entries, columns) + note.map((line) => `${line}\n`).join(""));
  return 0;
}

/** The widest that a column gets; what is asked has the rest. */
const widest = { where: 18, came: 44 } as const;
const widestBy = 30;

function tableOf(entries: readonly AnswerLogEntry[], columns: number): string {
  if (entries.length === 0) return "Nothing has been asked or shown yet.\n";
  const home = homeFolder();
  const rows = entries.map((entry) => ({
    day: dayOf(entry.at),
    when: formatLocalTime(entry.at, entry.at),
    where: stripControls(entry.project ?? entry.session),
    asked: stripControls(shortenHomePath(entry.asked, home)),
    ...outcomeOf(entry),
  }));
  const width = (name: keyof typeof widest, texts: readonly string[]) =>
    Math.min(widest[name], Math.max(...texts.map((text) => Bun.stringWidth(text))));
  const where = width(
    "where",
    rows.map((row) => row.where),
  );
  const came = width(
    "came",
    rows.map(({ came, by }) => came + by),
  );
  const left = Math.max(20, columns - "00:00".length - where - came - 6);
  const isOfToday = rows.every(({ day }) => day === dayOf(Date.now()));
  const lines = rows.flatMap((row, at) => {
    // Who did it matters more than every word of what came of it.
    const end = truncate(row.came, came - Bun.stringWidth(row.by)) + row.by;
    const cells = [row.when, padText(row.where, where), padText(row.asked, left), end];
    const isNewDay = !isOfToday && row.day !== rows[at - 1]?.day;
    return [...(isNewDay ? [row.day] : []), cells.join("  ").trimEnd()];
  });
  return `${lines.join("\n")}\n`;
}

/** `Monday 16 November 2026` */
function dayOf(at: number): string {
  const parts = { weekday: "long", day: "numeric", month: "long", year: "numeric" } as const;
  return new Date(at).toLocaleDateString("en-GB", parts).replace(",", "");
}

function outcomeOf({ what, outcome, by }: AnswerLogEntry): { readonly came: string; readonly by: string } {
  const came = stripControls(what === "not shown" ? `no alert: ${outcome}` : outcome);
  return { came, by: by === null ? "" : ` (${truncateMiddle(stripControls(by), widestBy)})` };
}
