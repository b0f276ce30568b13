/** A plan gone through without its deeds: what only asks is asked, and what would change something is taken to succeed. */
import type { Plan, Step } from "./plan.ts";

export function* rehearsed<T>(plan: Plan<T>): Plan<T> {
  let next = plan.next();
  while (!next.done) next = plan.next(isQuestion(next.value) ? yield next.value : assumed(next.value));
  return next.value;
}

/** By the words that only ask. Whatever is not among them is a deed. */
const questions: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  tmux: (args) => args.includes("list-panes"),
  wezterm: (args) => args[0] === "cli" && /^list/.test(args[1] ?? ""),
  zellij: (args) => args.includes("list-clients"),
  swaymsg: (args) => args.includes("get_tree"),
  hyprctl: (args) => args[0] === "clients",
  niri: (args) => args[0] === "msg" && args.includes("windows"),
  lsappinfo: () => true,
};
const askingMembers: ReadonlySet<string> = new Set(["processId", "sessionList", "currentSession", "title"]);
const listsWindows = /^\(workspace\.windowList \?/;

function isQuestion(step: Step): boolean {
  switch (step.do) {
    case "run": {
      const [program = "", ...args] = step.argv;
      return Object.hasOwn(questions, program) && questions[program]?.(args) === true;
    }
    case "call":
      return askingMembers.has(step.call.member);
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

function assumed(step: Step): unknown {
  switch (step.do) {
    case "run":
      return { code: 0, stdout: "", stderr: "" };
    // Most GNOME Terminals are built without what is asked for here.
    case "call":
      return step.call.member === "ActivateResult" ? null : [];
    case "applescript":
      return "found";
    case "kitty":
      return {};
    default:
      return true;
  }
}
