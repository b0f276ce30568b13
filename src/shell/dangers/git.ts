/** What git does that cannot be undone, or that others will meet. */

import { isDryRun } from "./dry-run.ts";
import type { Judge } from "./look.ts";
import { has, readArgs } from "./options.ts";

/** Settings of git that name a program. */
const runs =
  /^(?:alias\.|core\.(?:sshcommand|pager|editor|fsmonitor|hookspath)|diff\.external|filter\.|credential\.|include|.*=!)/i;

export const git: Judge = ({ all }, { found }) => {
  const at = all.findIndex(
    (arg, n) =>
      !arg.startsWith("-") && !/^(?:-[cC]|--(?:git-dir|work-tree|exec-path))$/.test(all[n - 1] ?? ""),
  );
  const sub = all[at] ?? "";
  const args = readArgs(all.slice(at + 1));
  const own = all.slice(0, at).find((arg) => runs.test(arg));
  if (own !== undefined) found.add("runs", "lets git run other programs", `git -c ${own}`);
  if (isDryRun(`git ${sub}`, all.slice(at))) return;
  const [first = ""] = args.rest;
  // `git checkout main src/app.ts`
  const isOfTree = args.rest.length > 1 && !has(args, "bBt", "track", "orphan");
  const tell = (words: string, form: string) => found.add("git", words, `git ${form}`);
  if (sub === "push") {
    if (has(args, "f", "force", "force-with-lease", "mirror") || args.rest.some((ref) => ref.startsWith("+")))
      tell("overwrites what was pushed before", "push --force");
    if (has(args, "d", "delete", "prune") || args.rest.some((ref) => ref.startsWith(":")))
      tell("deletes branches for everybody", "push --delete");
  }
  if (sub === "reset" && has(args, "", "hard")) tell("throws your changes away", "reset --hard");
  if (sub === "clean" && has(args, "fxX", "force"))
    found.add("deletes", "deletes files that git does not know", `git ${all.slice(at, at + 3).join(" ")}`);
  if (sub === "checkout" && (has(args, "f", "force") || args.all.includes("--") || first === "." || isOfTree))
    tell("throws your changes away", "checkout");
  if (sub === "restore" && (!has(args, "S", "staged") || has(args, "W", "worktree")))
    tell("throws your changes away", "restore");
  if (sub === "switch" && has(args, "fC", "force", "discard-changes"))
    tell("throws your changes away", "switch -f");
  if (sub === "branch" && (has(args, "D") || (has(args, "d", "delete") && has(args, "f", "force"))))
    tell("deletes branches that may not be merged", "branch -D");
  if (sub === "stash" && /^(?:drop|clear)$/.test(first)) tell("throws your changes away", `stash ${first}`);
  if (/^filter-(?:branch|repo)$/.test(sub)) tell("rewrites the whole past", sub);
  if (sub === "update-ref" || (sub === "reflog" && /^(?:expire|delete)$/.test(first)))
    tell("rewrites the whole past", `${sub} ${first}`);
  if (sub === "rm" && has(args, "rf", "force") && !has(args, "", "cached"))
    found.add("deletes", "deletes files", "git rm");
  if (sub === "worktree" && first === "remove" && has(args, "f", "force"))
    tell("throws your changes away", "worktree remove -f");
  const set = sub === "config" && args.rest.length > 1 ? args.rest.find((arg) => runs.test(arg)) : undefined;
  if (set !== undefined) found.add("runs", "lets git run other programs", `git config ${set}`);
  if (sub === "config" && has(args, "", "global", "system"))
    tell("changes git in all projects", "config --global");
};
