/** Plays a plan through without a machine. */
import type { Plan, Process, Step } from "../../src/desktop/terminals/plan.ts";
import type { PaneLocation } from "../../src/desktop/terminals/row.ts";

export interface Played<T> {
  readonly steps: readonly Step[];
  readonly result: T;
}

const maxSteps = 500;

export function play<T>(plan: Plan<T>, answer: (step: Step) => unknown): Played<T> {
  const steps: Step[] = [];
  let next = plan.next();
  while (!next.done) {
    steps.push(next.value);
    if (steps.length > maxSteps) throw new Error(`more than ${maxSteps} steps`);
    next = plan.next(answer(next.value));
  }
  return { steps, result: next.value };
}

/** What a machine answers on which nothing is there. */
export function nothing(step: Step): unknown {
  switch (step.do) {
    case "run":
      return { code: null, stdout: "", stderr: "not installed" };
    case "lineage":
    case "processes":
    case "ttys":
    case "sockets-of":
    case "own-sockets":
      return [];
    case "activate":
      return false;
    default:
      return null;
  }
}

export const ran = (stdout: string, code = 0) => ({ code, stdout, stderr: "" });

export const process = (pid: number, name: string, more: Partial<Process> = {}): Process => ({
  pid,
  parent: pid - 1,
  name,
  program: `/usr/bin/${name}`,
  tty: null,
  start: "1",
  ...more,
});

/** An agent and its shell on a tty, in these. */
export function inside(terminal: readonly Process[], more: Partial<PaneLocation> = {}): PaneLocation {
  const tty = "/dev/pts/7";
  const lineage = [process(90, "node", { tty }), process(89, "bash", { tty }), ...terminal];
  return { lineage, tty, env: {}, title: null, cwd: null, ...more };
}

export const argvs = (steps: readonly Step[]): string[] =>
  steps.flatMap((step) => (step.do === "run" ? [step.argv.join(" ")] : []));
