/**
 * What beckon costs a session of another agent: the time of a tool call in its real CLI without beckon, and with beckon connected.
 * The time runs from one request to the API to the next, without a terminal, which is drawn on its own clock.
 */
import { sandboxNeeds } from "../agent/cli.ts";
import { fetchOtherCli, isOtherCliCached } from "../agent/other/clis.ts";
import { codexDriver } from "../agent/other/codex.ts";
import { bash as copilotBash, copilotDriver } from "../agent/other/copilot.ts";
import { geminiDriver, shell as geminiShell } from "../agent/other/gemini.ts";
import { bash, opencodeConfig, opencodeDriver } from "../agent/other/opencode.ts";
import { type CliDriver, type OtherSandbox, openOtherSandbox } from "../agent/other/sandbox.ts";
import { hasAll } from "../needs.ts";
import { median } from "./rounds.ts";

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
  /** The prompt that makes the agent run a shell command. */
  readonly createCall: (command: string) => string;
  /** How many hooks the agent waits for at a call. It waits for none of a plugin's. */
  readonly awaitedHooks: number;
}

const benches: readonly Bench[] = [
  {
    driver: codexDriver,
    files: {},
    // The flag stands for the trust that the user gives to hooks.
    createCommand: (prompt) =>
      `codex exec --dangerously-bypass-hook-trust --skip-git-repo-check '${prompt}' </dev/null`,
    createCall: (cmd) => `DO tool exec_command ${JSON.stringify({ cmd })}`,
    awaitedHooks: 2,
  },
  {
    driver: opencodeDriver,
    files: opencodeConfig({ bash: "allow", edit: "allow" }),
    // As an argument, a prompt with spaces would get quotes around it.
    createCommand: (prompt) => `printf %s '${prompt}' | opencode run`,
    createCall: bash,
    awaitedHooks: 0,
  },
  {
    driver: copilotDriver,
    files: {},
    createCommand: (prompt) => `copilot -p '${prompt}' --allow-all-tools`,
    createCall: copilotBash,
    awaitedHooks: 1,
  },
  {
    driver: geminiDriver,
    files: {},
    createCommand: (prompt) => `gemini -p '${prompt}' --approval-mode yolo`,
    createCall: geminiShell,
    awaitedHooks: 2,
  },
];

async function msPerCall(sandbox: OtherSandbox, { createCommand, createCall }: Bench): Promise<number> {
  const before = sandbox.readRequests().length;
  // Each call is another one: opencode asks the user about a call that is made three times.
  const steps = Array.from({ length: calls }, (_, n) => createCall(`true ${n}`));
  const prompt = steps.join(" >> ").replaceAll(">> DO ", ">> ");
  await sandbox.runShell(`cd proj && ${createCommand(prompt)} >/dev/null 2>&1`);
  const requests = sandbox.readRequests().slice(before);
  if (requests.length !== calls + 1) throw new Error(`${requests.length} of ${calls + 1} requests arrived`);
  return median(requests.slice(1).map((at, n) => at - (requests[n] ?? Number.NaN)));
}

async function measure(bench: Bench): Promise<boolean> {
  const { driver, files } = bench;
  const bare = await openOtherSandbox(driver, { isInstalled: false, files });
  const connected = await openOtherSandbox(driver, { files });
  // `beckon status` would be another process that runs meanwhile.
  await connected.beckon.stopPolling();
  const times: { readonly bare: number; readonly connected: number }[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const isBareFirst = round % 2 === 0;
      const first = await msPerCall(isBareFirst ? bare : connected, bench);
      const second = await msPerCall(isBareFirst ? connected : bare, bench);
      times.push(isBareFirst ? { bare: first, connected: second } : { bare: second, connected: first });
    }
  } finally {
    await bare.close();
    await connected.close();
  }
  const without = median(times.map((time) => time.bare));
  const withBeckon = median(times.map((time) => time.connected));
  const added = median(times.map((time) => time.connected - time.bare));
  console.log(
    `${driver.cli.name}: ${without.toFixed(1)} ms a call without beckon, ${withBeckon.toFixed(1)} ms with it; added ${added.toFixed(1)} ms (median of ${rounds} rounds of ${calls} calls)`,
  );
  return added <= maxAddedMs + bench.awaitedHooks * maxHookMs;
}

if (!hasAll(sandboxNeeds)) {
  console.log(`skipped: needs ${sandboxNeeds.join(", ")}`);
} else {
  let isMet = true;
  const selected = benches.filter(
    ({ driver }) => (process.env.BENCH_AGENT ?? driver.cli.id) === driver.cli.id,
  );
  for (const bench of selected) {
    if (!isOtherCliCached(bench.driver.cli)) await fetchOtherCli(bench.driver.cli);
    isMet = (await measure(bench)) && isMet;
  }
  process.exit(isMet ? 0 : 1);
}
