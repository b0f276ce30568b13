/**
 * What beckon's hooks cost a session: the time of a tool call in the real CLI without hooks, with the installed ones, with
 * the same ones but not async, so that the CLI waits for each, and with hooks that do nothing, which shows the CLI's own cost.
 */
import { defaultMode, openSandbox, type Sandbox } from "../agent/sandbox.ts";
import { measureCall, requireClaude } from "./claude-cli.ts";
import { against, preparePrograms, withFolder } from "./processes.ts";
import { type Case, formatFigures, interleave, listDifferences, median, meets } from "./rounds.ts";

/** Each is a run of the CLI for every arm, and the median of its 20 calls, so this is 120 calls an arm. */
const rounds = Number(process.env.BENCH_ROUNDS ?? 6);
const warmUp = 1;
const call = { args: defaultMode, prompt: "DO times 20 true", calls: 20 };
const maxTimesNothing = 1.5;
const bare = "no hooks";
const nothing = "hooks that do nothing";

const inSettings = (change: string): string => `sed -i '${change}' .claude/settings.json`;
/** What changes in the settings after the install; null if beckon is not installed. */
const arms: Readonly<Record<string, string | null>> = {
  [bare]: null,
  beckon: "true",
  "beckon, not async": inSettings('s/,"async":true//g'),
  [nothing]: inSettings('s/,"args":\\[[^]]*\\]//g;s/"command":"[^"]*"/"command":"exit 0"/g'),
};

async function openArm(change: string | null, binary: string): Promise<Sandbox> {
  const settings = { permissions: { allow: ["Bash"] }, hooks: {} };
  const sandbox = await openSandbox({ settings, binary, isInstalled: change !== null });
  try {
    if (change !== null) await sandbox.runShell(change);
    await sandbox.beckon.start();
    // `beckon status` would be another process that runs meanwhile.
    await sandbox.beckon.stopPolling();
    return sandbox;
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

async function measure(folder: string): Promise<boolean> {
  const [beckon, other] = preparePrograms(folder).map((program) => program.binary);
  const sandboxes = new Map<string, Sandbox>();
  try {
    for (const [name, change] of Object.entries(arms))
      sandboxes.set(name, await openArm(change, beckon ?? ""));
    if (other) sandboxes.set(against, await openArm("true", other));
    const cases: Case[] = [...sandboxes].map(([name, sandbox]) => ({
      name,
      run: () => measureCall(sandbox, call),
    }));
    console.log(`${(rounds + warmUp) * cases.length} runs of the CLI`);
    const figures = await interleave(cases, { rounds, warmUp });
    for (const [name, sandbox] of sandboxes) {
      const hasArrived = sandbox.beckon.countEvents("PostToolUse") > 0;
      if (hasArrived !== (name.startsWith("beckon") || name === against)) {
        throw new Error(`${name}: events ${hasArrived ? "arrived" : "did not arrive"} at beckon`);
      }
    }
    console.log(formatFigures(figures, "ms a tool call", [bare, against]));
    for (const name of figures.keys()) {
      if (name === bare) continue;
      const more = listDifferences(figures, name, bare);
      const range = `${Math.min(...more).toFixed(2)} to ${Math.max(...more).toFixed(2)}`;
      console.log(`${name}: ${median(more).toFixed(2)} ms more a tool call, ${range}`);
    }
    const times =
      median(listDifferences(figures, "beckon", bare)) / median(listDifferences(figures, nothing, bare));
    return meets(`what beckon adds to a tool call × ${nothing}`, times, "at most", maxTimesNothing);
  } finally {
    for (const sandbox of sandboxes.values()) await sandbox.close();
  }
}

await requireClaude();
process.exitCode = (await withFolder(measure)) ? 0 : 1;
