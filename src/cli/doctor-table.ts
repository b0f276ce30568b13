/** Findings for people: grouped by link, aligned, with what to do under each problem. Pure: findings in, lines out. */
import { type Finding, type FindingState, links } from "../agents/finding.ts";
import { wrapText } from "./output.ts";

export interface Screen {
  readonly columns: number;
  readonly colour: boolean;
}

const marks: Readonly<Record<FindingState, string>> = { ok: "✓", warn: "!", fail: "✗", info: "·" };
const dim = "\x1b[2m";
const bold = "\x1b[1m";
const colours: Readonly<Record<FindingState, string>> = {
  ok: "\x1b[32m",
  warn: "\x1b[1;33m",
  fail: "\x1b[1;31m",
  info: dim,
};
const maxLines = 6;

export function doctorLines(findings: readonly Finding[], { columns, colour }: Screen): string[] {
  const paint = (text: string, code: string) => (colour && code !== "" ? `${code}${text}\x1b[0m` : text);
  const ordered = orderLinks(findings);
  const labelWidth = Math.max(...ordered.map((link) => link.length));
  const indent = labelWidth + 2;
  const width = Math.max(20, columns - indent - 2);
  const told = (finding: Finding, label: string): string[] => {
    const { state, text, fix } = finding;
    const [first = "", ...more] = wrapText(text, width, maxLines);
    const todo = fix === null ? [] : wrapText(fix, width - 2, maxLines);
    const below = " ".repeat(indent + 2);
    return [
      `${paint(label.padEnd(labelWidth), bold)}  ${paint(marks[state], colours[state])} ${first}`,
      ...more.map((line) => below + line),
      ...todo.map((line, at) => `${below}${at === 0 ? "→" : " "} ${line}`),
    ];
  };
  const lines = ordered.flatMap((link) => {
    const own = findings.filter((finding) => finding.link === link);
    return own.flatMap((finding, at) => told(finding, at === 0 ? link : ""));
  });
  return [...lines, "", paint(sumOf(findings), colours[worst(findings)])];
}

/** The agents first, then the links that every agent shares. */
function orderLinks(findings: readonly Finding[]): readonly string[] {
  const shared: readonly string[] = links;
  const agents = findings.map(({ link }) => link).filter((link) => !shared.includes(link));
  return [...new Set(agents), ...shared];
}

export function sumOf(findings: readonly Finding[]): string {
  const count = (state: FindingState) => findings.filter((finding) => finding.state === state).length;
  const [fails, warns] = [count("fail"), count("warn")];
  const problems = fails === 1 ? "1 problem" : `${fails} problems`;
  const remarks = warns === 1 ? "1 thing to look at" : `${warns} things to look at`;
  if (fails === 0) {
    const less = lessOf(findings);
    return warns === 0 ? `Everything works${less}.` : `It works, with ${remarks}${less}.`;
  }
  return warns === 0 ? `${problems}.` : `${problems}, and ${remarks}.`;
}

/** What is no problem, as nothing can be done about it, and yet not all that beckon can do. */
function lessOf(findings: readonly Finding[]): string {
  const has = (id: string) => findings.some((finding) => finding.id === id);
  if (has("icon.headless")) return ", without a desktop: no icon, no alerts";
  return has("notifications.way") ? ", with plainer notifications (see above)" : "";
}

function worst(findings: readonly Finding[]): FindingState {
  return (["fail", "warn"] as const).find((state) => findings.some((one) => one.state === state)) ?? "ok";
}
