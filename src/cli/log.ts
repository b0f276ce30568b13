/** `beckon log`: what was asked, answered, shown and why not shown. */
import { localClock } from "../desktop/local-time.ts";
import { type Logged, readDecisions } from "../storage/decisions.ts";
import { paths } from "../storage/paths.ts";
import { wrongCall } from "./args.ts";
import { print } from "./print.ts";
import { clean, cut, pad } from "./text.ts";

const usualLines = 30;
const usualColumns = 120;

export async function log(args: string[]): Promise<number> {
  const { asJson, count } = readCall(args);
  const entries = readDecisions(paths().decisions).slice(-count);
  if (asJson) print(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  else print(tableOf(entries, process.stdout.columns || Number(process.env.COLUMNS) || usualColumns));
  return 0;
}

function readCall(args: readonly string[]): { asJson: boolean; count: number } {
  let asJson = false;
  let count = usualLines;
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--json") asJson = true;
    else if (arg === "-n" || /^-n\d+$/.test(arg)) {
      const given = arg === "-n" ? (rest.shift() ?? "") : arg.slice(2);
      if (!/^[1-9]\d{0,6}$/.test(given)) throw wrongCall("-n takes a number of lines");
      count = Number(given);
    } else throw wrongCall(`unknown ${JSON.stringify(arg.slice(0, 100))}: log takes --json and -n N`);
  }
  return { asJson, count };
}

/** The widest that a column gets; what is asked has the rest. */
const widest = { when: 16, where: 18, came: 44 } as const;

function tableOf(entries: readonly Logged[], columns: number): string {
  if (entries.length === 0) return "Nothing has been asked or shown yet.\n";
  const now = Date.now();
  const rows = entries.map((entry) => ({
    when: localClock(entry.at, now),
    where: clean(entry.project ?? entry.session),
    asked: clean(entry.asked),
    came: clean(outcomeOf(entry)),
  }));
  const width = (name: keyof typeof widest) =>
    Math.min(widest[name], Math.max(...rows.map((row) => Bun.stringWidth(row[name]))));
  const [when, where, came] = [width("when"), width("where"), width("came")];
  const left = Math.max(20, columns - when - where - came - 6);
  const lines = rows.map((row) =>
    [pad(row.when, when), pad(row.where, where), pad(row.asked, left), cut(row.came, came)]
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

function outcomeOf({ what, outcome, by }: Logged): string {
  if (what === "not shown") return `no alert: ${outcome}`;
  return by === null ? outcome : `${outcome} (${by})`;
}
