/** A dry run of a plan: steps that only ask are carried out, and steps that would change something are assumed to succeed. */
import type { Plan, PlanStep } from "./plan.ts";

export function* dryRun<T>(plan: Plan<T>): Plan<T> {
  let next = plan.next();
  while (!next.done) next = plan.next(isReadOnly(next.value) ? yield next.value : assumedAnswer(next.value));
  return next.value;
}

/** The commands that only ask. Every other one is taken to change something. */
const readOnlyCommands: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  tmux: (args) => args.includes("list-panes"),
  wezterm: (args) => args[0] === "cli" && /^list/.test(args[1] ?? ""),
  zellij: (args) => args.includes("list-clients"),
  swaymsg: (args) => args.includes("get_tree"),
  hyprctl: (args) => args[0] === "clients",
  niri: (args) => args[0] === "msg" && args.includes("windows"),
  lsappinfo: () => true,
};
const readOnlyMembers: ReadonlySet<string> = new Set(["processId", "sessionList", "currentSession", "title"]);
const listsWindows = /^\(workspace\.windowList \?/;

function isReadOnly(step: PlanStep): boolean {
  switch (step.do) {
    case "run": {
      const [program = "", ...args] = step.argv;
      return Object.hasOwn(readOnlyCommands, program) && readOnlyCommands[program]?.(args) === true;
    }
    case "dbus":
      return readOnlyMembers.has(step.call.member);
    case "kitty":
      return step.command === "ls";
    case "kwin":
      return listsWindows.test(step.expression);
    case "activate":
    case "applescript":
      return false;
    default:
      return true;
  }
}

function assumedAnswer(step: PlanStep): unknown {
  switch (step.do) {
    case "run":
      return { code: 0, stdout: "", stderr: "" };
    // Most builds of GNOME Terminal do not have this method.
    case "dbus":
      return step.call.member === "ActivateResult" ? null : [];
    case "applescript":
      return "found";
    case "kitty":
      return {};
    default:
      return true;
  }
}
