/**
 * How long an answer from the phone takes in the real CLI: from the moment when the ntfy server receives the tap to the moment when
 * the allowed command runs, which writes the time itself.
 */
import { readFileSync } from "node:fs";
import { openChannels } from "../agent/channels.ts";
import { cliVersion, fetchCli, isCliCached, sandboxNeeds } from "../agent/cli.ts";
import { openSandbox, type Sandbox } from "../agent/sandbox.ts";
import { dialog } from "../agent/scenario.ts";
import { hasAll } from "../needs.ts";
import { preparePrograms, withFolder } from "./processes.ts";
import { formatFigures, interleave, median, meets, percentile } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 20);
const maxP50Ms = 150;

async function measure(folder: string): Promise<boolean> {
  const [program] = preparePrograms(folder);
  // The recorder's hooks would run before the command, too.
  const sandbox = await openSandbox({ settings: { hooks: {} }, binary: program?.binary ?? "" });
  try {
    const { phone } = await openChannels(sandbox, { phone: "ntfy" });
    await sandbox.beckon.start();
    // `beckon status` would be another process that runs meanwhile.
    await sandbox.beckon.stopPolling();
    await sandbox.startCli();
    let count = 0;

    const measureAnswer = async (): Promise<number> => {
      const file = `ran-${++count}`;
      await sandbox.typeLine(`DO bash date +%s%N >${file}`);
      await sandbox.waitForScreen(dialog.permission);
      await phone.waitForText(file);
      await phone.tap("Allow");
      const ranAt = await readTime(sandbox, file);
      await sandbox.waitForStatus("idle");
      return ranAt - (await phone.lastTapAt());
    };

    const name = "tap → command runs";
    const figures = await interleave([{ name, run: measureAnswer }], { rounds, warmUp: 2 });
    const tookMs = figures.get(name) ?? [];
    console.log(formatFigures(figures, "ms", [], 1));
    console.log(`p95 ${percentile(tookMs, 0.95).toFixed(1)} ms, ${rounds} answers`);
    return meets("from the tap to the running command, p50 ms", median(tookMs), "at most", maxP50Ms);
  } finally {
    await sandbox.close();
  }
}

async function readTime(sandbox: Sandbox, file: string): Promise<number> {
  await sandbox.waitForFile(`proj/${file}`);
  for (;;) {
    const text = readFileSync(sandbox.resolveInHome(`proj/${file}`), "utf8").trim();
    // The shell creates the file before the command writes to it.
    if (text !== "") return Number(BigInt(text) / 1_000n) / 1_000;
    await Bun.sleep(5);
  }
}

if (hasAll(sandboxNeeds) && !isCliCached(cliVersion)) {
  console.log(`fetching Claude Code ${cliVersion} from the npm registry: this bench drives the real CLI`);
  await fetchCli(cliVersion);
}
if (!hasAll(sandboxNeeds) || !isCliCached(cliVersion)) {
  console.error(
    `this bench drives Claude Code ${cliVersion} in a namespace. It needs ${sandboxNeeds.join(", ")}`,
  );
  process.exit(1);
}
process.exitCode = (await withFolder(measure)) ? 0 : 1;
