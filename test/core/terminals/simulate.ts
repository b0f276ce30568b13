/** Runs plans against simulated answers, without a machine. */
import type { Plan, PlanStep, ProcessInfo } from "../../../src/core/terminals/plan.ts";
import type { PaneLocation } from "../../../src/core/terminals/terminal.ts";

export interface Simulation<T> {
  readonly steps: readonly PlanStep[];
  readonly result: T;
}

const maxSteps = 500;

export function simulate<T>(plan: Plan<T>, answer: (step: PlanStep) => unknown): Simulation<T> {
  const steps: PlanStep[] = [];
  let next = plan.next();
  while (!next.done) {
    steps.push(next.value);
    if (steps.length > maxSteps) throw new Error(`more than ${maxSteps} steps`);
    next = plan.next(answer(next.value));
  }
  return { steps, result: next.value };
}

/** The answers of a machine on which nothing is installed or running. */
export function answerNothing(step: PlanStep): unknown {
  switch (step.do) {
    case "run":
      return { code: null, stdout: "", stderr: "not installed" };
    case "lineage":
    case "processes":
    case "ttys":
    case "sockets-of":
    case "own-sockets":
    case "connection-owners":
    case "command-line":
      return [];
    case "activate":
      return false;
    default:
      return null;
  }
}

export const printed = (stdout: string, code = 0) => ({ code, stdout, stderr: "" });

export const createProcess = (pid: number, name: string, more: Partial<ProcessInfo> = {}): ProcessInfo => ({
  pid,
  parent: pid - 1,
  name,
  program: `/usr/bin/${name}`,
  tty: null,
  start: "1",
  ...more,
});

/** The location of an agent and its shell on a tty, inside these processes. */
export function locationInside(
  terminal: readonly ProcessInfo[],
  more: Partial<PaneLocation> = {},
): PaneLocation {
  const tty = "/dev/pts/7";
  const lineage = [createProcess(90, "node", { tty }), createProcess(89, "bash", { tty }), ...terminal];
  return { lineage, tty, env: {}, title: null, cwd: null, ...more };
}

export const commandLines = (steps: readonly PlanStep[]): string[] =>
  steps.flatMap((step) => (step.do === "run" ? [step.argv.join(" ")] : []));
