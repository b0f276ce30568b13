/** `beckon --uninstall`: removes what install made. If a step fails, that is reported and the others go on. */
import { existsSync } from "node:fs";
import type { Agent } from "../agents/agent.ts";
import { agents } from "../agents/index.ts";
import { isBeckonHere, planPurge, purge } from "../setup/purge.ts";
import { readInstallRecord, withInstallLock } from "../setup/record.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { usageError } from "./args.ts";
import { currentFolder } from "./current-folder.ts";
import { formatLine, printLines } from "./output.ts";
import { parseSetupArguments } from "./setup-args.ts";
import { allSteps, hookSteps, removeOwnFolders, type Uninstall } from "./uninstall-steps.ts";
import { describeKept } from "./uninstall-text.ts";

export async function uninstall(args: string[], table: readonly Agent[] = agents): Promise<number> {
  const {
    flags,
    scope,
    agents: selected,
  } = parseSetupArguments(args, "--uninstall", ["--purge", "--dry-run"], table);
  const isPartial = scope !== null || selected !== null;
  const isPurge = flags.has("--purge");
  if (isPartial && isPurge) throw usageError("--purge removes everything: it excludes --scope and --agent");
  const isDryRun = flags.has("--dry-run");
  const paths = resolvePaths();
  const lines: string[] = [];
  const failures: string[] = [];
  const isChosen = Boolean(process.env.BECKON_HOME);
  const isOwnFolder = !isChosen || isBeckonHere(paths);
  const hasState = existsSync(paths.state);
  const loaded = await Promise.all(table.map(async (agent) => ({ agent, setup: await agent.loadSetup() })));
  const cwd = currentFolder();

  const carryOut = async (): Promise<Uninstall> => {
    const work: Uninstall = {
      paths,
      env: process.env,
      cwd,
      agents: loaded,
      record: readInstallRecord(paths),
      scope,
      selected,
      isDryRun,
      isOwnFolder,
      stuck: new Set(),
      cleared: new Set(),
      report: (line) => lines.push(line),
      fail: (line) => failures.push(line),
    };
    for (const step of isPartial ? hookSteps : allSteps) {
      await step(work).catch((error) => work.fail(error instanceof Error ? error.message : String(error)));
    }
    return work;
  };
  const mayLock = hasState && isOwnFolder && !isDryRun;
  const work = await (mayLock ? withLockIfPossible(paths, carryOut) : carryOut());
  if (isPurge) {
    const plan = planPurge(paths, { isChosen, isBeckons: isOwnFolder });
    if (!isDryRun) failures.push(...purge(plan));
    const verb = isDryRun ? "Would remove" : "Removed";
    if (plan.remove.length > 0) lines.push(`${verb} beckon's files in ${plan.folders.join(" and ")}.`);
    lines.push(...plan.kept);
  }
  if (!isPartial) {
    removeOwnFolders(work);
    if (!isPurge && hasState && isOwnFolder && !isDryRun) lines.push(...describeKept(paths, isChosen));
  }
  if (lines.length === 0 && failures.length === 0) lines.push("There is nothing to uninstall.");
  else if (isDryRun) lines.unshift("Nothing is changed: this is what beckon --uninstall would do.");
  for (const { agent, setup } of loaded) {
    if (selected === null || selected.includes(agent.id))
      lines.push(...setup.findLeftovers(process.env, cwd));
  }
  printLines(lines);
  for (const line of failures) process.stderr.write(`beckon: ${formatLine(line)}\n`);
  return failures.length > 0 ? 1 : 0;
}

/** Waits for an install that is under way. If no lock can be had, on a full disk for example, it goes on without. */
function withLockIfPossible(paths: Paths, carryOut: () => Promise<Uninstall>): Promise<Uninstall> {
  let running: Promise<Uninstall> | null = null;
  const once = () => {
    running ??= carryOut();
    return running;
  };
  return withInstallLock(paths, once).catch(once);
}
