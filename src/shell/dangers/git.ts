/** git commands that cannot be undone, or that affect others. */

import { hasOption, parseArguments } from "./arguments.ts";
import type { CheckProgram } from "./context.ts";
import { isDryRun } from "./dry-run.ts";

/** Settings of git that name a program. */
const runs =
  /^(?:alias\.|core\.(?:sshcommand|pager|editor|fsmonitor|hookspath)|diff\.external|filter\.|credential\.|include|.*=!)/i;

export const git: CheckProgram = ({ all }, { findings }) => {
  const at = all.findIndex(
    (arg, n) =>
      !arg.startsWith("-") && !/^(?:-[cC]|--(?:git-dir|work-tree|exec-path))$/.test(all[n - 1] ?? ""),
  );
  const sub = all[at] ?? "";
  const args = parseArguments(all.slice(at + 1));
  const own = all.slice(0, at).find((arg) => runs.test(arg));
  if (own !== undefined) findings.add("runs", "lets git run other programs", `git -c ${own}`);
  if (isDryRun(`git ${sub}`, all.slice(at))) return;
  const [first = ""] = args.rest;
  // `git checkout main src/app.ts`
  const isOfTree = args.rest.length > 1 && !hasOption(args, "bBt", "track", "orphan");
  const report = (text: string, form: string) => findings.add("git", text, `git ${form}`);
  if (sub === "push") {
    if (
      hasOption(args, "f", "force", "force-with-lease", "mirror") ||
      args.rest.some((ref) => ref.startsWith("+"))
    )
      report("overwrites what was pushed before", "push --force");
    if (hasOption(args, "d", "delete", "prune") || args.rest.some((ref) => ref.startsWith(":")))
      report("deletes branches for everybody", "push --delete");
  }
  if (sub === "reset" && hasOption(args, "", "hard")) report("discards your changes", "reset --hard");
  if (sub === "clean" && hasOption(args, "fxX", "force"))
    findings.add("deletes", "deletes files that git does not know", `git ${all.slice(at, at + 3).join(" ")}`);
  if (
    sub === "checkout" &&
    (hasOption(args, "f", "force") || args.all.includes("--") || first === "." || isOfTree)
  )
    report("discards your changes", "checkout");
  if (sub === "restore" && (!hasOption(args, "S", "staged") || hasOption(args, "W", "worktree")))
    report("discards your changes", "restore");
  if (sub === "switch" && hasOption(args, "fC", "force", "discard-changes"))
    report("discards your changes", "switch -f");
  if (
    sub === "branch" &&
    (hasOption(args, "D") || (hasOption(args, "d", "delete") && hasOption(args, "f", "force")))
  )
    report("deletes branches that may not be merged", "branch -D");
  if (sub === "stash" && /^(?:drop|clear)$/.test(first)) report("discards your changes", `stash ${first}`);
  if (/^filter-(?:branch|repo)$/.test(sub)) report("rewrites the history", sub);
  if (sub === "update-ref" || (sub === "reflog" && /^(?:expire|delete)$/.test(first)))
    report("rewrites the history", `${sub} ${first}`);
  if (sub === "rm" && hasOption(args, "rf", "force") && !hasOption(args, "", "cached"))
    findings.add("deletes", "deletes files", "git rm");
  if (sub === "worktree" && first === "remove" && hasOption(args, "f", "force"))
    report("discards your changes", "worktree remove -f");
  const set = sub === "config" && args.rest.length > 1 ? args.rest.find((arg) => runs.test(arg)) : undefined;
  if (set !== undefined) findings.add("runs", "lets git run other programs", `git config ${set}`);
  if (sub === "config" && hasOption(args, "", "global", "system"))
    report("changes git in all projects", "config --global");
};
