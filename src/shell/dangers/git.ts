/** git commands that cannot be undone, or that affect others. */

import { findOptionValues, hasOption, parseArguments } from "./arguments.ts";
import type { CheckProgram } from "./context.ts";
import { isDryRun } from "./dry-run.ts";
import { findSecretPath } from "./paths.ts";

/** Settings of git that name a program, by their last part. */
const programSetting =
  /^(?:alias\..+|include(?:if)?\..+|core\.(?:sshcommand|pager|editor|fsmonitor|hookspath|askpass|gitproxy|attributesfile|alternaterefscommand|worktree)|pager\..+|protocol\.ext\.allow|credential\.(?:.+\.)?helper|.+\.(?:external|textconv|driver|clean|smudge|process|program|editor|cmd|command|helper|uploadpack|receivepack|packobjectshook|vcs|proxy|tocmd|cccmd|sendmailcmd|pushurl|insteadof|pushinsteadof))(?:=|$)/i;
const harmlessValue =
  /^(?:cat|less(?: -\w+)*|true|false|:|vim?|nano|store|cache(?: .*)?|osxkeychain|manager(?:-core)?|delta|code --wait|)$/;

/** `diff.external=x`. The settings that everybody uses, like `core.pager=cat`, do not count. */
function runsProgram(setting: string, value?: string): boolean {
  const text = value ?? (setting.includes("=") ? setting.slice(setting.indexOf("=") + 1) : undefined);
  if (/^[\w.-]+=!/.test(setting) || text?.startsWith("!")) return true;
  return programSetting.test(setting) && (text === undefined || !harmlessValue.test(text));
}

const globalValue = /^(?:-[cC]|--(?:git-dir|work-tree|exec-path|namespace|super-prefix|config-env))$/;
/** Options of any subcommand that name a program or a file. */
const runOption =
  /^(?:--(?:exec|upload-pack|receive-pack|extcmd|open-files-in-pager|server-option-exec)=|--(?:upload-pack|receive-pack|extcmd|template)$|--template=|-O(?!=)\S)/;

/** The same options in their short form. */
const shortRunOption: Readonly<Record<string, string>> = { difftool: "x", clone: "u", "fetch-pack": "u" };

export const git: CheckProgram = ({ all }, { findings, addedRemotes, checkOverwrite, checkTarget }) => {
  const at = all.findIndex((arg, n) => !arg.startsWith("-") && !globalValue.test(all[n - 1] ?? ""));
  const sub = all[at] ?? "";
  const args = parseArguments(all.slice(at + 1));
  const own = all.slice(0, at).find((arg) => runsProgram(arg) || /^--(?:exec-path|config-env)=/.test(arg));
  if (own !== undefined) findings.add("runs", "lets git run other programs", `git -c ${own}`);
  const option = args.all.find((arg) => runOption.test(arg));
  const address = args.all.find((arg) => /^(?:ext|fd)::/.test(arg));
  const setting = /^(?:clone|submodule)$/.test(sub)
    ? findOptionValues(args, "c", "config").find((value) => runsProgram(value))
    : undefined;
  const program = address ?? (sub === "rev-list" ? undefined : option) ?? setting;
  if (program !== undefined && !(sub === "rebase" && program === option))
    findings.add("runs", "lets git run other programs", `git ${sub} ${program}`);
  const short = Object.hasOwn(shortRunOption, sub) ? shortRunOption[sub] : undefined;
  if (short !== undefined && hasOption(args, short))
    findings.add("runs", "lets git run other programs", `git ${sub} -${short}`);
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
  if (sub === "remote" && /^(?:add|set-url)$/.test(first)) addedRemotes.add(args.rest[1] ?? "");
  const remote = sub === "push" ? (findOptionValues(args, "", "repo")[0] ?? (first || "origin")) : "";
  if (
    /^[a-z+]+:\/\/|^[\w.-]+@[\w.-]+:|^[\w.-]+:[^:]/.test(remote) ||
    (remote !== "" && addedRemotes.has(remote))
  )
    findings.add("sends", "sends the code to an address that is not a known remote", `git push ${remote}`);
  if (/^(?:heroku|dokku|prod(?:uction)?|live|deploy)$/.test(remote))
    findings.add("servers", "deploys to a server", `git push ${remote}`);
  if (/^(?:send-email|daemon|instaweb|imap-send)$/.test(sub))
    findings.add("sends", "sends the code away", `git ${sub}`);
  if (/^(?:archive|diff|format-patch|bundle|log|show)$/.test(sub)) {
    const files = [
      ...findOptionValues(args, sub === "log" || sub === "show" || sub === "diff" ? "" : "o", "output"),
      ...(sub === "bundle" ? args.rest.slice(1, 2) : []),
    ];
    for (const path of files) {
      checkTarget(path);
      checkOverwrite(path, `git ${sub} -o`);
    }
  }
  if (sub === "checkout-index" && hasOption(args, "f", "force"))
    report("discards your changes", "checkout-index -f");
  if (sub === "read-tree" && hasOption(args, "u", "reset")) report("discards your changes", "read-tree -u");
  if (sub === "submodule" && first === "deinit" && hasOption(args, "f", "force", "all"))
    report("discards your changes", "submodule deinit");
  if (sub === "submodule" && first === "update" && hasOption(args, "f", "force"))
    report("discards your changes", "submodule update -f");
  if ((sub === "gc" && args.all.some((arg) => /^--prune(?:=(?:now|all)|$)/.test(arg))) || sub === "prune")
    report("removes lost commits for good", `${sub} --prune`);
  const secret = sub === "add" ? args.rest.find((path) => findSecretPath(path) !== null) : undefined;
  if (secret !== undefined)
    findings.add("sends", "adds a file that may hold secrets to the history", `git add ${secret}`);
  if (
    (sub === "branch" && hasOption(args, "fMC", "force") && !hasOption(args, "d", "delete")) ||
    (sub === "checkout" && hasOption(args, "B"))
  )
    report("moves a branch away from its commits", `${sub} -f`);
  if (sub === "lfs" && first === "prune") report("removes files for good", "lfs prune");
  if (sub === "lfs" && first === "migrate" && /^(?:import|export)$/.test(args.rest[1] ?? ""))
    report("rewrites the history", "lfs migrate");
  // Commands that others add to git.
  if (sub === "annex" && /^(?:drop|dropunused|dead|uninit)$/.test(first))
    report("removes files for good", `annex ${first}`);
  if ((sub === "flow" && args.rest.includes("finish")) || (sub === "town" && first === "ship"))
    report("merges for everybody", `${sub} ${first}`);
  if (sub === "svn" && first === "dcommit")
    findings.add("publishes", "publishes for everybody", "git svn dcommit");
  if (sub === "tag" && hasOption(args, "f", "force")) report("moves a tag", "tag -f");
  if (sub === "tag" && hasOption(args, "d", "delete")) report("deletes a tag", "tag -d");
  if (sub === "replace" || (sub === "symbolic-ref" && args.rest.length > 1))
    report("rewrites the history", sub);
  if (sub === "reset" && hasOption(args, "", "hard", "merge"))
    report("discards your changes", "reset --hard");
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
  const set =
    sub === "config" && args.rest.length > 1
      ? args.rest.find((arg, n) => runsProgram(arg, args.rest[n + 1] ?? "-"))
      : undefined;
  if (set !== undefined) findings.add("runs", "lets git run other programs", `git config ${set}`);
  if (sub === "config" && hasOption(args, "", "global", "system"))
    report("changes git in all projects", "config --global");
};
