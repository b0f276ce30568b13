/** `beckon machine test`, and the last step of `add` and `update`: links a machine once, and says what works there. */
import { links } from "../agents/finding.ts";
import type { MachineSettings } from "../core/config/machines.ts";
import { formatCount } from "../core/text/words.ts";
import { type CheckedLink, checkLink } from "../machines/check-link.ts";
import { createLinkCommand, hasShell } from "../machines/link-command.ts";
import { LinkError, suggestFix } from "../machines/link-problem.ts";
import { runThere } from "../machines/setup.ts";
import { type RemoteFinding, readDoctorReport } from "../machines/setup-report.ts";
import { exec } from "../system/exec.ts";
import { formatFindings } from "./doctor.ts";
import { formatLine, hasColour, print, printLines, terminalColumns } from "./output.ts";

export interface TriedLink extends Pick<CheckedLink, "hello" | "sessions" | "tookMs"> {
  /** Whether a test event from there has arrived here. null if none could be sent. */
  readonly isEventSeen: boolean | null;
  /** What doctor says there. null if it could not be asked. */
  readonly findings: readonly RemoteFinding[] | null;
}

/** The event has passed the hook and the app there when doctor ends. */
const eventMs = 3_000;

export async function linkOnce(name: string, settings: MachineSettings): Promise<TriedLink | LinkError> {
  const checked = await checkLink(name, createLinkCommand(settings));
  if (checked instanceof LinkError) return checked;
  try {
    if (!hasShell(settings)) return { ...checked, isEventSeen: null, findings: null };
    const { stdout } = await runThere({ machine: settings, exec }, ["doctor", "--json"]);
    const findings = readDoctorReport(stdout);
    return { ...checked, findings, isEventSeen: findings && (await checked.sawProbe(eventMs)) };
  } finally {
    await checked.close();
  }
}

export const works = ({ isEventSeen, findings }: TriedLink): boolean =>
  isEventSeen !== false && !findings?.some(({ state }) => state === "fail");

export function describeLink({ hello, sessions, tookMs, isEventSeen }: TriedLink): string {
  const count = sessions === 0 ? "no session" : formatCount(sessions, "session");
  const event =
    isEventSeen === null
      ? ""
      : isEventSeen
        ? " A test event from there arrived here."
        : " The test event from there did not arrive here.";
  return `in ${Math.round(tookMs)} ms: beckon ${hello.version} there, with ${count}.${event}`;
}

/** The user sits here, so what a desktop would show there does not matter. */
const leftOut: ReadonlySet<string> = new Set(["icon", "notifications", "terminals", "login"]);

/** The agents and their hooks, and what is wrong with anything else. */
function isShown({ link, state }: RemoteFinding): boolean {
  const isAgent = !links.some((shared) => shared === link);
  return isAgent || link === "hooks" || ((state === "fail" || state === "warn") && !leftOut.has(link));
}

const maxColumns = 100;

/** What works with the machine, and what does not. */
export function printReport(name: string, settings: MachineSettings, { hello, findings }: TriedLink): void {
  const shown = (findings ?? []).filter(isShown).map((finding) => ({
    ...finding,
    text: formatLine(finding.text),
    fix: finding.fix && formatLine(finding.fix),
  }));
  if (shown.length > 0) {
    printLines(["", `${name}, as its own beckon doctor sees it:`]);
    const columns = Math.min(maxColumns, terminalColumns());
    print(`${formatFindings(shown, { columns, colour: hasColour() }).join("\n")}\n`);
    if (shown.some(({ fix }) => fix !== null))
      printLines([
        `These commands are for a shell there. To connect its agents from here: beckon machine update ${name}`,
      ]);
  }
  const alerts = hello.hasChannels
    ? `${name} has channels of its own, which alert you`
    : `from this machine: ${name} has no channel of its own`;
  printLines([
    "",
    "Answers  from here, like those to your own sessions",
    `Alerts   ${alerts}`,
    `Focus    ${describeFocus(settings)}`,
  ]);
}

function describeFocus(settings: MachineSettings): string {
  if ("ssh" in settings)
    return "selects the pane there, and raises the terminal here in which you are logged in with ssh";
  return "selects the pane there; the terminal here is raised if beckon can tell which one it is";
}

export interface TriedMachine {
  readonly isLinked: boolean;
  readonly works: boolean;
}

/** Prints what was found. */
export async function tryMachine(name: string, settings: MachineSettings): Promise<TriedMachine> {
  print(formatLine(`Linking ${name} … `));
  const tried = await linkOnce(name, settings);
  if (tried instanceof LinkError) {
    const fix = suggestFix(tried.problem, name, settings, `beckon machine test ${name}`);
    printLines([
      "not possible.",
      `${name} could not be linked: ${tried.message}.`,
      ...(fix === null ? [] : [fix]),
    ]);
    return { isLinked: false, works: false };
  }
  printLines([describeLink(tried)]);
  printReport(name, settings, tried);
  return { isLinked: true, works: works(tried) };
}
