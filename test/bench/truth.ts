/**
 * The truth meter: the share of seconds in which a tool shows the right state of Claude Code, and how soon it tells of a dialog. First on
 * every recording that has the CLI's own status, then in fresh runs of the real CLI.
 */

import { openSandbox, type Sandbox } from "../agent/sandbox.ts";
import { dialog } from "../agent/scenario.ts";
import { type Recording, readRecordings } from "../replay/recording.ts";
import { addUp, type Measured, measureTruth, readShownChanges } from "../truth/meter.ts";
import { formatTruth, measureRecordings, measureSimpleTools } from "../truth/table.ts";
import { requireClaude } from "./claude-cli.ts";

/** A person needs longer than this to see a dialog and to answer it. The CLI's own notification comes after 6 s. */
const readMs = 8_000;

const scenarios: readonly ((sandbox: Sandbox) => Promise<void>)[] = [
  async (sandbox) => {
    await sandbox.openDialog("DO bash touch x", dialog.permission);
    await Bun.sleep(readMs);
    await sandbox.pressKeys("4");
    await sandbox.waitForStatus("idle");
    await sandbox.runTurn("SAY next");
  },
  async (sandbox) => {
    await sandbox.openDialog("DO ask", dialog.question);
    await Bun.sleep(readMs);
    await sandbox.pressKeys("Escape");
    await sandbox.waitForStatus("idle");
    await sandbox.runTurn("DO slow 5");
  },
  async (sandbox) => {
    await sandbox.typeLine("DO agent DO bash touch x");
    await sandbox.waitForHook("Stop");
    await sandbox.waitForStatus("waiting");
    await sandbox.waitForScreen(dialog.permission);
    await Bun.sleep(readMs);
    await sandbox.pressKeys("Enter");
    await sandbox.waitForHook("Stop");
    await sandbox.waitForStatus("idle");
  },
  async (sandbox) => {
    await sandbox.typeLine("DO slow 30");
    await sandbox.waitForStatus("busy");
    await sandbox.dwell();
    await sandbox.killCli();
    await sandbox.waitForState("completed");
  },
];

async function run(drive: (sandbox: Sandbox) => Promise<void>): Promise<[Recording, Measured]> {
  const sandbox = await openSandbox();
  try {
    await sandbox.beckon.start();
    await sandbox.startCli();
    await drive(sandbox);
    await sandbox.dwell();
    sandbox.recorder.mark("end");
    const recording = sandbox.recorder.recording("fresh");
    const changes = readShownChanges(sandbox.recorder.shown);
    return [recording, measureTruth(recording, changes, { isLive: true })];
  } finally {
    await sandbox.close();
  }
}

const recordings = readRecordings().filter(({ hasStatus }) => hasStatus);
const measured = measureRecordings(recordings);
const formatMinutes = (ms: number) => `${(ms / 60_000).toFixed(1)} minutes`;
console.log(`${recordings.length} recordings, ${formatMinutes(measured.get("beckon")?.allMs ?? 0)}\n`);
console.log(formatTruth(measured));

await requireClaude();
const runs: [Recording, Measured][] = [];
for (const drive of scenarios) runs.push(await run(drive));
const beckon = addUp(runs.map(([, result]) => result));
const others = measureSimpleTools(
  runs.map(([recording]) => recording),
  { isLive: true },
);
console.log(`\n${runs.length} fresh runs of the real CLI, ${formatMinutes(beckon.allMs)}\n`);
console.log(formatTruth(new Map([["beckon", beckon], ...others])));
process.exit(beckon.delaysMs.length === beckon.dialogs ? 0 : 1);
