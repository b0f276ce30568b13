/** `beckon doctor`: tests every part with a live event, and prints how to fix what is broken. */
import type { Agent } from "../agents/agent.ts";
import { type Finding, type FindingState, links } from "../agents/finding.ts";
import { formatCount } from "../core/text/words.ts";
import { resolvePaths } from "../storage/paths.ts";
import { parseArguments, usageError } from "./args.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { runChecks, runLoginCheck, tryOwnTerminal } from "./doctor-checks.ts";
import {
  bold,
  dim,
  formatJson,
  formatLine,
  green,
  orange,
  paint,
  print,
  red,
  terminalColumns,
  wrapText,
} from "./output.ts";

/** What still hangs then (a bus, a program) does not keep the command from ending. */
const exitAfterMs = 500;
/** A wider table is hard to read. */
const maxColumns = 100;

export async function doctor(args: string[], table: readonly Agent[]): Promise<number> {
  const { flags, values } = parseArguments(args, doctorCommand);
  if (values["--wait"] !== undefined && !flags.has("--desktop"))
    throw usageError("--wait goes with --desktop");
  const findings = flags.has("--desktop")
    ? await runDesktopTest(readSeconds(values["--wait"] ?? "5"), flags.has("--json"))
    : await runChecks(process.env, table);
  const ok = !findings.some(({ state }) => state === "fail");
  if (flags.has("--json")) {
    print(formatJson({ ok, findings }, 2));
  } else {
    const columns = Math.min(maxColumns, terminalColumns());
    const colour = process.stdout.isTTY === true && !process.env.NO_COLOR;
    const shown = findings.map((finding) => ({
      ...finding,
      text: formatLine(finding.text),
      fix: finding.fix && formatLine(finding.fix),
    }));
    print(`${formatFindings(shown, { columns, colour }).join("\n")}\n`);
  }
  const exitCode = ok ? 0 : 1;
  setTimeout(() => process.exit(exitCode), exitAfterMs).unref();
  return exitCode;
}

function readSeconds(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw usageError(`--wait takes a number of seconds, not ${text}`);
  return Number(text);
}

async function runDesktopTest(seconds: number, isJson: boolean): Promise<readonly Finding[]> {
  const { testDesktop } = await import("./doctor-desktop.ts");
  return testDesktop({
    env: process.env,
    paths: resolvePaths(),
    waitMs: seconds * 1_000,
    tryOwnTerminal,
    checkLogin: runLoginCheck,
    onShown() {
      if (!isJson)
        print(`A test icon and a test alert are shown. Click them within ${seconds} s, or wait.\n`);
    },
  });
}

export interface FindingsOptions {
  readonly columns: number;
  readonly colour: boolean;
}

const marks: Readonly<Record<FindingState, string>> = { ok: "✓", warn: "!", fail: "✗", info: "·" };
const colours: Readonly<Record<FindingState, string>> = {
  ok: green,
  warn: bold + orange,
  fail: bold + red,
  info: dim,
};
const maxLines = 8;
/** In a narrower window the label has a line of its own. */
const minTextColumns = 40;

/** Grouped by link, with the fix below each problem. */
export function formatFindings(findings: readonly Finding[], options: FindingsOptions): string[] {
  const { columns } = options;
  const ordered = orderLinks(findings);
  const labelWidth = Math.max(...ordered.map((link) => link.length));
  const isNarrow = columns - labelWidth - 4 < minTextColumns;
  const indent = isNarrow ? 2 : labelWidth + 2;
  const width = Math.max(20, columns - indent - 2);

  const formatFinding = ({ state, text, fix }: Finding, label: string): string[] => {
    const [first = "", ...rest] = wrapText(text, width, maxLines);
    const fixLines = fix === null ? [] : wrapText(fix, width - 2, maxLines);
    const mark = paint(marks[state], colours[state], options);
    const below = " ".repeat(indent + 2);
    return [
      ...(isNarrow
        ? [...(label === "" ? [] : [paint(label, bold, options)]), `  ${mark} ${first}`]
        : [`${paint(label, bold, options)}${" ".repeat(indent - label.length)}${mark} ${first}`]),
      ...rest.map((line) => below + line),
      ...fixLines.map((line, n) => `${below}${n === 0 ? "→" : " "} ${line}`),
    ];
  };
  const lines = ordered.flatMap((link) =>
    findings
      .filter((finding) => finding.link === link)
      .flatMap((finding, n) => formatFinding(finding, n === 0 ? link : "")),
  );
  return [
    ...lines,
    "",
    ...wrapText(summarize(findings), columns, 3).map((line) =>
      paint(line, colours[worstState(findings)], options),
    ),
  ];
}

/** The agents first, then the links that every agent shares. */
function orderLinks(findings: readonly Finding[]): readonly string[] {
  const shared: readonly string[] = links;
  const own = findings.map(({ link }) => link).filter((link) => !shared.includes(link));
  return [...new Set(own), ...shared];
}

export function summarize(findings: readonly Finding[]): string {
  const count = (state: FindingState) => findings.filter((finding) => finding.state === state).length;
  const [failed, warned] = [count("fail"), count("warn")];
  const problems = formatCount(failed, "problem");
  const warnings = formatCount(warned, "warning");
  if (failed > 0) return warned === 0 ? `${problems}.` : `${problems} and ${warnings}.`;
  const limits = describeLimits(findings);
  return warned === 0 ? `Everything works${limits}.` : `It works, with ${warnings}${limits}.`;
}

/** What is missing although nothing is broken. */
function describeLimits(findings: readonly Finding[]): string {
  const has = (id: string) => findings.some((finding) => finding.id === id);
  if (has("icon.headless")) return ", without icon and alerts (there is no desktop here)";
  return has("notifications.way") ? ", with plainer notifications (see above)" : "";
}

function worstState(findings: readonly Finding[]): FindingState {
  return (["fail", "warn"] as const).find((state) => findings.some((found) => found.state === state)) ?? "ok";
}
