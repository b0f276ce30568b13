/**
 * What the work guard costs: the time of an edit and of a command in the real CLI, without beckon, with the guard off, with the
 * guard on in another project, and with it on here while a port runs.
 */
import { home } from "../agent/namespace.ts";
import { openSandbox, type Sandbox } from "../agent/sandbox.ts";
import { measureCall, requireClaude } from "./claude-cli.ts";
import { preparePrograms, withFolder } from "./processes.ts";
import {
  type Case,
  type Figures,
  formatFigures,
  interleave,
  listDifferences,
  median,
  meets,
} from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 15);
const calls = 15;
const maxOffMs = 3;
const maxOnMs = 60;
const bare = "no hooks";
const off = "guard off";
const elsewhere = "guard on elsewhere";
const on = "guard on";

/** The settings; null if beckon is not installed. */
const arms: Readonly<Record<string, object | null>> = {
  [bare]: null,
  [off]: {},
  [elsewhere]: { projects: { [`${home}/other`]: { mode: "strict" } } },
  [on]: { projects: { [`${home}/proj`]: { mode: "strict" } } },
};

async function openArm(workGuard: object | null, binary: string): Promise<Sandbox> {
  const settings = { permissions: { allow: ["Bash", "Write"] }, hooks: {} };
  const sandbox = await openSandbox({ settings, binary, isInstalled: workGuard !== null });
  try {
    const config = JSON.stringify({ workGuard: workGuard ?? {} });
    await sandbox.runShell(
      `mkdir -p other .config/beckon && printf '%s' '${config}' >.config/beckon/config.json`,
    );
    await sandbox.beckon.start();
    // `beckon status` would be another process that runs meanwhile.
    await sandbox.beckon.stopPolling();
    await sandbox.runShell("cd proj && beckon port create bench --title Bench && beckon port start bench");
    for (const name of ["proj", "other"])
      if (JSON.stringify(workGuard).includes(`/${name}`))
        await sandbox.waitForFile(`${name}/.claude/settings.local.json`);
    return sandbox;
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

/** How much longer a call takes than in the base. */
const added = (figures: Figures, name: string, base: string): number =>
  median(listDifferences(figures, name, base));

async function measure(folder: string): Promise<boolean> {
  const [program] = preparePrograms(folder);
  const sandboxes = new Map<string, Sandbox>();
  try {
    for (const [name, settings] of Object.entries(arms))
      sandboxes.set(name, await openArm(settings, program?.binary ?? ""));
    const measureCalls = (prompt: (round: number) => string) => {
      const cases: Case[] = [...sandboxes].map(([name, sandbox]) => ({
        name,
        run: (round) =>
          measureCall(sandbox, { args: "--permission-mode acceptEdits", prompt: prompt(round), calls }),
      }));
      return interleave(cases, { rounds, warmUp: 1 });
    };
    const edits = await measureCalls((round) => `DO writes ${calls} file-${round}`);
    const commands = await measureCalls(() => `DO times ${calls} true`);
    console.log(formatFigures(edits, "ms an edit", [bare]));
    console.log(formatFigures(commands, "ms a command", [bare]));
    console.log(`the guard adds ${added(edits, on, off).toFixed(2)} ms to an edit where it is on`);
    const verdicts = [
      meets("ms that a guard elsewhere adds to an edit", added(edits, elsewhere, off), "at most", maxOffMs),
      meets("ms that the guard adds to a command", added(commands, on, off), "at most", maxOffMs),
      meets("ms that the guard adds to an edit", added(edits, on, off), "at most", maxOnMs),
    ];
    return verdicts.every(Boolean);
  } finally {
    for (const sandbox of sandboxes.values()) await sandbox.close();
  }
}

await requireClaude();
process.exitCode = (await withFolder(measure)) ? 0 : 1;
