/**
 * What beckon costs a session of another agent: the time of a tool call in its real CLI without beckon, and with beckon connected.
 * The time runs from one request to the API to the next, without a terminal, which is drawn on its own clock.
 */
import { sandboxNeeds } from "../agent/cli.ts";
import { fetchOtherCli, isOtherCliCached } from "../agent/other/clis.ts";
import { codexDriver } from "../agent/other/codex.ts";
import { copilotDriver } from "../agent/other/copilot.ts";
import { geminiDriver } from "../agent/other/gemini.ts";
import { grokDriver } from "../agent/other/grok.ts";
import { kiloConfig, kiloDriver } from "../agent/other/kilo.ts";
import { kimiDriver } from "../agent/other/kimi.ts";
import { opencodeConfig, opencodeDriver } from "../agent/other/opencode.ts";
import { callTool } from "../agent/other/prompts.ts";
import { qwenDriver } from "../agent/other/qwen.ts";
import { type CliDriver, type OtherSandbox, openOtherSandbox } from "../agent/other/sandbox.ts";
import { hasAll } from "../needs.ts";
import { preparePrograms, withFolder } from "./processes.ts";
import { type Case, formatFigures, interleave, listDifferences, median, meets, ratio } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 8);
const calls = 20;
/** A user does not feel less than this at a tool call that a model has thought about for seconds. */
const maxAddedMs = 10;

/** One run of beckon's program: 12 ms of CPU. */
const maxHookMs = 20;

interface Bench {
  readonly driver: CliDriver;
  /** Settings in which a command needs no permission. */
  readonly files: Readonly<Record<string, string>>;
  createCommand(prompt: string): string;
  /** The prompt that makes the agent run a shell command. Absent if the driver's needs no permission here. */
  createCall?(command: string): string;
  /** How many hooks the agent waits for at a call. It waits for none of a plugin's, and for no more than a shell if a hook is detached. */
  readonly awaitedHooks: number;
  /** How much of a call's time without beckon it may take with it. Absent if hooks are awaited. */
  readonly maxRatio?: number;
}

const benches: readonly Bench[] = [
  {
    driver: codexDriver,
    files: {},
    // The flag stands for the trust that the user gives to hooks.
    createCommand: (prompt) =>
      `codex exec --dangerously-bypass-hook-trust --skip-git-repo-check '${prompt}' </dev/null`,
    createCall: (cmd) => callTool("exec_command", { cmd }),
    awaitedHooks: 1,
  },
  {
    driver: opencodeDriver,
    files: opencodeConfig({ bash: "allow", edit: "allow" }),
    // As an argument, a prompt with spaces would get quotes around it.
    createCommand: (prompt) => `printf %s '${prompt}' | opencode run`,
    awaitedHooks: 0,
    maxRatio: 1.05,
  },
  {
    driver: copilotDriver,
    files: {},
    createCommand: (prompt) => `copilot -p '${prompt}' --allow-all-tools`,
    awaitedHooks: 1,
  },
  {
    driver: geminiDriver,
    files: {},
    createCommand: (prompt) => `gemini -p '${prompt}' --approval-mode yolo`,
    awaitedHooks: 2,
  },
  {
    driver: qwenDriver,
    files: {},
    createCommand: (prompt) => `qwen -p '${prompt}' --approval-mode yolo </dev/null`,
    awaitedHooks: 0,
  },
  {
    driver: kiloDriver,
    files: kiloConfig({ bash: "allow", edit: "allow" }),
    createCommand: (prompt) => `printf %s '${prompt}' | kilo run`,
    awaitedHooks: 0,
    maxRatio: 1.05,
  },
  {
    driver: kimiDriver,
    files: { ".kimi-code/config.toml": 'telemetry = false\ndefault_permission_mode = "yolo"\n' },
    createCommand: (prompt) => `kimi -p '${prompt}' </dev/null`,
    awaitedHooks: 0,
    maxRatio: 1.1,
  },
  {
    driver: grokDriver,
    files: {},
    createCommand: (prompt) => `grok -p '${prompt}' --always-approve </dev/null`,
    createCall: (command) => callTool("run_terminal_command", { command, description: "Run a command" }),
    awaitedHooks: 0,
    maxRatio: 1.1,
  },
];

async function msPerCall(sandbox: OtherSandbox, bench: Bench): Promise<number> {
  const { driver, createCommand, createCall = driver.createCommandPrompt } = bench;
  const before = sandbox.readRequests().length;
  // Each call is another one: opencode asks the user about a call that is made three times.
  const steps = Array.from({ length: calls }, (_, n) => createCall(`true ${n}`));
  const prompt = steps.join(" >> ").replaceAll(">> DO ", ">> ");
  await sandbox.runShell(`cd proj && ${createCommand(prompt)} >/dev/null 2>&1`);
  const requests = sandbox.readRequests().slice(before);
  // Some agents also ask for a title and a summary.
  if (requests.length <= calls) throw new Error(`${requests.length} of ${calls + 1} requests arrived`);
  return median(requests.slice(1).map((at, n) => at - (requests[n] ?? Number.NaN)));
}

async function measure(bench: Bench): Promise<boolean> {
  const { driver, files, awaitedHooks, maxRatio } = bench;
  const bare = await openOtherSandbox(driver, { isInstalled: false, files });
  try {
    const connected = await openOtherSandbox(driver, { files });
    try {
      // `beckon status` would be another process that runs meanwhile.
      await connected.beckon.stopPolling();
      const cases: readonly Case[] = [
        { name: "without beckon", run: () => msPerCall(bare, bench) },
        { name: "with beckon", run: () => msPerCall(connected, bench) },
      ];
      const figures = await interleave(cases, { rounds, warmUp: 1 });
      console.log(formatFigures(figures, `ms a call of ${driver.cli.name}`, [], 1));
      const added = median(listDifferences(figures, "with beckon", "without beckon"));
      const isQuick = meets(
        "ms that beckon adds to a call",
        added,
        "at most",
        maxAddedMs + awaitedHooks * maxHookMs,
      );
      if (maxRatio === undefined) return isQuick;
      const part = ratio(figures, "with beckon", "without beckon");
      return meets("a call with beckon × without", part, "at most", maxRatio) && isQuick;
    } finally {
      await connected.close();
    }
  } finally {
    await bare.close();
  }
}

if (!hasAll(sandboxNeeds)) {
  console.error(`this bench drives real CLIs in a namespace. It needs ${sandboxNeeds.join(", ")}`);
  process.exit(1);
}
const selected = benches.filter(({ driver }) => (process.env.BENCH_AGENT ?? driver.cli.id) === driver.cli.id);
const isMet = await withFolder(async (folder) => {
  preparePrograms(folder);
  let isEachMet = true;
  for (const bench of selected) {
    if (!isOtherCliCached(bench.driver.cli)) await fetchOtherCli(bench.driver.cli);
    isEachMet = (await measure(bench)) && isEachMet;
  }
  return isEachMet;
});
process.exit(isMet ? 0 : 1);
