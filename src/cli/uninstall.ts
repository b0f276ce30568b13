/** `beckon --uninstall`: takes away what the installer made. A step that fails is told, and the rest goes on. */
import { existsSync } from "node:fs";
import { enabledPlugin } from "../agents/claude/setup/warnings.ts";
import { isBeckonHere, planPurge, purge } from "../setup/purge.ts";
import { inTurn, readInstallRecord } from "../setup/record.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { parseArguments } from "./args.ts";
import { currentFolder } from "./current-folder.ts";
import { formatLine, print } from "./output.ts";
import { leaveFolders, steps, type Uninstalling } from "./uninstall-steps.ts";
import { pluginStays, whatStays } from "./uninstall-words.ts";

export async function uninstall(args: string[]): Promise<number> {
  const { flags } = parseArguments(args, { command: "--uninstall", flags: ["--purge", "--dry-run"] });
  const isDryRun = flags.has("--dry-run");
  const places = resolvePaths();
  const said: string[] = [];
  const failed: string[] = [];
  const isChosen = Boolean(process.env.BECKON_HOME);
  const isBeckons = !isChosen || isBeckonHere(places);
  const isThere = existsSync(places.state);
  const carryOut = async (): Promise<Uninstalling> => {
    const work: Uninstalling = {
      places,
      env: process.env,
      installed: readInstallRecord(places),
      isDryRun,
      isBeckons,
      stuck: new Set(),
      say: (line) => said.push(line),
      fail: (line) => failed.push(line),
    };
    for (const step of steps) {
      await step(work).catch((error) => work.fail(error instanceof Error ? error.message : String(error)));
    }
    return work;
  };
  const mayLock = isThere && isBeckons && !isDryRun;
  const work = await (mayLock ? whenItsTurn(places, carryOut) : carryOut());
  if (flags.has("--purge")) {
    const purging = planPurge(places, { isChosen, isBeckons });
    if (!isDryRun) failed.push(...purge(purging));
    const does = isDryRun ? "Would remove" : "Removed";
    if (purging.remove.length > 0) said.push(`${does} beckon's files in ${purging.folders.join(" and ")}.`);
    said.push(...purging.kept);
  }
  leaveFolders(work);
  if (!flags.has("--purge") && isThere && isBeckons && !isDryRun) said.push(...whatStays(places, isChosen));
  if (said.length === 0 && failed.length === 0) said.push("There is nothing to uninstall.");
  else if (isDryRun) said.unshift("Nothing is changed: this is what beckon --uninstall would do.");
  const plugin = enabledPlugin(process.env, currentFolder());
  if (plugin !== null) said.push(pluginStays(plugin));
  print(said.map((line) => `${formatLine(line)}\n`).join(""));
  for (const line of failed) process.stderr.write(`beckon: ${formatLine(line)}\n`);
  return failed.length > 0 ? 1 : 0;
}

/** After an install that is under way. Where no lock can be had, on a full disk say, it goes on without. */
function whenItsTurn(places: Paths, carryOut: () => Promise<Uninstalling>): Promise<Uninstalling> {
  let doing: Promise<Uninstalling> | null = null;
  const once = () => {
    doing ??= carryOut();
    return doing;
  };
  return inTurn(places, once).catch(once);
}
