/** `beckon machine add` and `update`: say each step before they do it, and in the end what works. */
import { version } from "../../package.json";
import type { Agent } from "../agents/agent.ts";
import { describeWay, type MachineSettings, readMachine } from "../core/config/machines.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { quoteIfNeeded } from "../core/text/shell-quote.ts";
import { formatList } from "../core/text/words.ts";
import { createLinkCommand, hasShell, type ShellMachine } from "../machines/link-command.ts";
import { formatAdd, LinkError, suggestFix } from "../machines/link-problem.ts";
import {
  copyProgram,
  findObstacle,
  formatMegabytes,
  type ProgramPlan,
  planProgram,
  probeMachine,
  type RemoteMachine,
  runThere,
  shorten,
} from "../machines/setup.ts";
import { type ChosenProgram, chooseProgram, describeTarget } from "../machines/setup-binary.ts";
import type { MachineFacts } from "../machines/setup-probe.ts";
import { findProgram } from "../setup/binary.ts";
import { exec } from "../system/exec.ts";
import { describeLink, linkOnce, printReport, type TriedLink, works } from "./machine-test.ts";
import { formatLine, print, printLines } from "./output.ts";
import { askYesNo, createPrompter } from "./prompt.ts";

export interface SetupChoices {
  /** The program to copy there; null to choose one. */
  readonly binary: string | null;
  readonly isDryRun: boolean;
  /** Ask nothing. */
  readonly isYes: boolean;
}

export interface MachineSetup extends SetupChoices {
  readonly name: string;
  readonly settings: MachineSettings;
  readonly table: readonly Agent[];
  /** Saves how it is reached, and resolves with where. null if that is known already: it is an update. */
  readonly save: ((settings: MachineSettings) => Promise<string>) | null;
}

/** Resolves with whether all of it was done and works. What is wrong is printed. */
export async function setUpMachine(setup: MachineSetup): Promise<boolean> {
  return hasShell(setup.settings)
    ? setUpThere(setup, setup.settings)
    : linkWithCommand(setup, setup.settings);
}

/** Of such a machine only the link is known, so nothing is set up there. */
async function linkWithCommand(
  { name, isDryRun, save }: MachineSetup,
  settings: MachineSettings,
): Promise<boolean> {
  printLines([`Linking ${name} with: ${createLinkCommand(settings).map(quoteIfNeeded).join(" ")}`]);
  if (isDryRun) return true;
  const tried = await linkOnce(name, settings);
  if (tried instanceof LinkError) return fail(`${name} could not be linked: ${tried.message}`);
  printLines([`Linked ${describeLink(tried)}`, `Saved ${await save?.(settings)}.`]);
  return true;
}

/** Says why it ends here. */
function fail(...lines: readonly (string | null)[]): false {
  printLines(lines.flatMap((line) => (line === null ? [] : [line])));
  return false;
}

/** What was found out before anything is changed. */
interface Found {
  readonly facts: MachineFacts;
  readonly plan: ProgramPlan;
  /** What is copied; null if beckon is there. */
  readonly chosen: ChosenProgram | null;
}

interface Step {
  /** "copy beckon there" */
  readonly what: string;
  /** "Copying beckon" */
  readonly doing: string;
  /** Resolves with what to say when it is done. Throws what to say if the rest makes no sense then. */
  run(): Promise<string>;
}

async function setUpThere(setup: MachineSetup, settings: ShellMachine): Promise<boolean> {
  const { name, isDryRun, isYes, save } = setup;
  if (!isDryRun && !isYes && process.stdin.isTTY !== true)
    throw new Error(
      `this changes ${name}, and there is no terminal to ask in. Add --yes to do it, or --dry-run to see what it does`,
    );
  const found = await look(setup, { machine: settings, exec });
  if (!found) return false;
  const { plan } = found;
  const linked = useProgram(settings, found);
  let tried: TriedLink | null = null;
  const steps: readonly Step[] = [
    ...listSetupSteps({ machine: linked, exec }, found),
    {
      what: "link it, and send a test event from there to here",
      doing: "Linking it",
      async run() {
        const result = await linkOnce(name, linked);
        if (result instanceof LinkError) throw result;
        tried = result;
        return describeLink(result);
      },
    },
    ...(save === null
      ? []
      : [{ what: `remember ${name} here`, doing: "Saving it", run: async () => `${await save(linked)}.` }]),
  ];
  printLines([
    "",
    `What ${isDryRun ? "would" : "will"} be done:`,
    ...steps.map(({ what }, n) => `  ${n + 1}. ${what}`),
    "No port is opened, no token is copied, and root is not needed.",
  ]);
  if (isDryRun) {
    printLines(["", "Nothing has been changed."]);
    return true;
  }
  if (!isYes && !(await askToGoOn())) return fail("Nothing was changed.");
  print("\n");
  if (!(await runSteps(steps))) return false;
  return tried === null ? false : finish(name, linked, tried, plan);
}

function finish(name: string, settings: MachineSettings, tried: TriedLink, plan: ProgramPlan): boolean {
  printReport(name, settings, tried);
  printLines(["", describeVersions(name, plan, tried.hello.version)]);
  return works(tried);
}

function describeVersions(name: string, plan: ProgramPlan, now: string): string {
  if (plan.do === "keep" && plan.isNewer)
    return `${name} has beckon ${plan.version}, newer than ${version} here: it was not replaced.`;
  if (plan.do === "keep") return `${name} has beckon ${plan.version}, as before.`;
  return plan.replaces === null
    ? `${name} has beckon ${now} now.`
    : `${name} had beckon ${plan.replaces}, and has ${now} now.`;
}

/** One after the other. The first that fails is the last. */
async function runSteps(steps: readonly Step[]): Promise<boolean> {
  for (const [n, { doing, run }] of steps.entries()) {
    print(formatLine(`${n + 1}. ${doing} … `));
    try {
      printLines([await run()]);
    } catch (error) {
      return fail("not possible.", `   ${readErrorMessage(error)}.`);
    }
  }
  return true;
}

async function askToGoOn(): Promise<boolean> {
  const prompter = createPrompter("stopped: nothing was changed");
  try {
    return await askYesNo(prompter, "Go on?", true);
  } finally {
    prompter.close();
  }
}

/** Looks at the machine, and says what is there. null if nothing can be done, which is said too. */
async function look(setup: MachineSetup, remote: RemoteMachine): Promise<Found | null> {
  const { name, table, binary } = setup;
  const { machine } = remote;
  const { way, target } = describeWay(machine);
  print(formatLine(`Looking at ${name} (${way} ${target}) … `));
  const programs = await Promise.all(
    table.map(async (agent) => ({
      agent: agent.name,
      program: (await agent.loadSetup()).programName(process.env),
    })),
  );
  const facts = await probeMachine(
    remote,
    programs.map((known) => known.program),
  );
  if (facts instanceof LinkError) {
    const again = setup.save === null ? `beckon machine update ${name}` : formatAdd(name, machine);
    fail("not possible.", `${name}: ${facts.message}.`, suggestFix(facts.problem, name, machine, again));
    return null;
  }
  const agents = programs.filter((known) => facts.agents.includes(known.program)).map(({ agent }) => agent);
  printLines([
    `${describeMachine(facts)}.`,
    `  agents   ${agents.length === 0 ? "none that beckon knows" : formatList(agents)}`,
    `  beckon   ${facts.beckon === null ? "not installed" : `${facts.beckon.version ?? "another program"}, ${facts.beckon.path}`}`,
  ]);
  const plan = planProgram(facts, version, binary !== null);
  if (typeof plan === "string") return refuse(plan);
  if (plan.do === "keep") return { facts, plan, chosen: null };
  const chosen = await chooseProgram(facts, binary, await findOwnProgram());
  if (typeof chosen === "string") return refuse(chosen);
  const obstacle = findObstacle(facts, chosen.bytes);
  return obstacle === null ? { facts, plan, chosen } : refuse(obstacle);
}

function refuse(why: string): null {
  fail("", `beckon cannot be put there: ${why}.`, "Nothing was changed.");
  return null;
}

/** null if this is beckon's source, and nothing is built. */
const findOwnProgram = () => findProgram(Bun.main, process.execPath, exec).catch(() => null);

/** "Linux x64, glibc 2.36, user dev, 63 GB free" */
function describeMachine(facts: MachineFacts): string {
  const { systemName, cpuName, system, cpu, glibcVersion, user, freeBytes } = facts;
  return [
    system === null || cpu === null ? `${systemName} ${cpuName}`.trim() : describeTarget(facts),
    ...(glibcVersion === null ? [] : [`glibc ${glibcVersion}`]),
    ...(user === "" ? [] : [`user ${user}`]),
    ...(freeBytes === null ? [] : [`${formatMegabytes(freeBytes)} free`]),
  ].join(", ");
}

/** A beckon that was found elsewhere is used where it is. */
function useProgram(settings: ShellMachine, { facts, plan }: Found): ShellMachine {
  if (plan.do === "copy" || plan.path === facts.program) return settings;
  const elsewhere = readMachine({ ...settings, program: plan.path });
  return elsewhere !== null && hasShell(elsewhere) ? elsewhere : settings;
}

/** What changes the machine. */
function listSetupSteps(remote: RemoteMachine, { facts, plan, chosen }: Found): readonly Step[] {
  const isCopied = chosen !== null;
  const instead = plan.do === "copy" && plan.replaces !== null ? `, in place of ${plan.replaces}` : "";
  const size = chosen && formatMegabytes(chosen.bytes);
  const copy: Step[] = chosen
    ? [
        {
          what: `copy beckon (${size}) to ${facts.program}${instead}`,
          doing: `Copying beckon (${size})`,
          async run() {
            const started = performance.now();
            const outcome = await copyProgram(remote, chosen, facts);
            if ("problem" in outcome) throw new Error(`${outcome.problem}. Nothing is left behind there`);
            const seconds = ((performance.now() - started) / 1_000).toFixed(1);
            return `${outcome.version}, in ${seconds} s. It runs there.`;
          },
        },
      ]
    : [];
  const isRestarted = instead !== "";
  return [
    ...copy,
    {
      what: "connect the agents there: beckon --install, without a login item",
      doing: "Connecting the agents",
      async run() {
        const flags = isCopied ? ["--placed"] : [];
        const { code, stderr } = await runThere(remote, ["--install", "--no-start", ...flags]);
        // What runs there can be linked all the same, from a container that is read-only for example.
        return code === 0 ? "done." : `not possible: ${shorten(stderr)}`;
      },
    },
    {
      what: `${isRestarted ? "restart" : "start"} beckon there, in the background`,
      doing: `${isRestarted ? "Restarting" : "Starting"} beckon`,
      async run() {
        // Also after a first copy: another beckon could run there from elsewhere.
        const { code, stderr } = await runThere(remote, [isCopied ? "restart" : "start"]);
        if (code !== 0) throw new Error(shorten(stderr));
        return "it runs.";
      },
    },
  ];
}
