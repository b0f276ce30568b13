/**
 * Focus: shows the pane of a session, says whether the user sees it now, and how far focus would get. The plans are in
 * core/terminals/; here they are carried out.
 */
import type { Exec, Terminals } from "../../core/interfaces/index.ts";
import { planFocus, planLogins, planVisibility, planWindowList } from "../../core/terminals/focus.ts";
import { dryRun, readLineage } from "../../core/terminals/plan.ts";
import type { FocusOutcome, TerminalContext } from "../../core/terminals/terminal.ts";
import { exec as run } from "../../system/exec.ts";
import { createPlanRunner } from "./run-plan.ts";

export interface TerminalsOptions {
  readonly env?: TerminalContext["env"];
  readonly platform?: NodeJS.Platform;
  readonly exec?: Exec;
  /** How long `isPaneVisible` may take: an alert waits for it. */
  readonly visibilityTimeoutMs?: number;
}

const focusTimeoutMs = 5_000;
const dryRunTimeoutMs = 2_000;
const windowListTimeoutMs = 1_000;
/** The machine that asks waits 500 ms, and here a program has to start: with both processors busy, that took more than 50 ms each time (n=8). */
const loginsTimeoutMs = 300;

export function createTerminals(options: TerminalsOptions = {}): Terminals {
  const { env = process.env, platform = process.platform, exec = run, visibilityTimeoutMs = 50 } = options;
  const context: TerminalContext = { env, platform, uid: process.getuid?.() };
  const runner = createPlanRunner({ ...context, exec });
  const failed = (error: Error): FocusOutcome => ({
    result: "impossible",
    by: "",
    why: `an error occurred: ${error.message}`,
  });
  return {
    focus: (target) => runner.run(planFocus(target, context), focusTimeoutMs).catch(failed),
    dryRunFocus: (target) => runner.run(dryRun(planFocus(target, context)), dryRunTimeoutMs).catch(failed),
    isPaneVisible: (target) =>
      runner.run(planVisibility(target, context), visibilityTimeoutMs).catch(() => null),
    findLogins: (target) => runner.run(planLogins(target, context), loginsTimeoutMs).catch(() => []),
    readLineage: (pid) => runner.run(readLineage(pid), windowListTimeoutMs).catch(() => []),
    listWindows: () => runner.run(planWindowList(context), windowListTimeoutMs).catch(() => []),
  };
}
