/** What the benches that drive Claude Code's real CLI share. */
import { cliVersion, fetchCli, isCliCached, sandboxNeeds } from "../agent/cli.ts";
import type { Sandbox } from "../agent/sandbox.ts";
import { hasAll } from "../needs.ts";
import { median } from "./rounds.ts";

/** Fetches the CLI. Ends the process if the bench cannot run here. */
export async function requireClaude(): Promise<void> {
  if (hasAll(sandboxNeeds) && !isCliCached(cliVersion)) {
    console.log(`fetching Claude Code ${cliVersion} from the npm registry: this bench drives the real CLI`);
    await fetchCli(cliVersion);
  }
  if (hasAll(sandboxNeeds) && isCliCached(cliVersion)) return;
  console.error(
    `this bench drives Claude Code ${cliVersion} in a namespace. It needs ${sandboxNeeds.join(", ")}`,
  );
  process.exit(1);
}

/**
 * The time of a tool call, from the API's answer, which has the call, to the request with its result. In `-p` mode, because the
 * terminal is drawn on its own clock, which blurs a call by 50 ms. `prompt` must make so many calls.
 */
export async function measureCall(
  sandbox: Sandbox,
  { args, prompt, calls }: { readonly args: string; readonly prompt: string; readonly calls: number },
): Promise<number> {
  const before = sandbox.readRequests().length;
  await sandbox.runShell(`cd proj && claude ${args} -p '${prompt}' </dev/null`);
  const requests = sandbox.readRequests().slice(before);
  if (requests.length !== calls + 1) throw new Error(`${requests.length} of ${calls + 1} requests arrived`);
  // The median, because other work on the machine delays some calls, not most.
  return median(
    requests.slice(1).map(({ receivedAt }, n) => receivedAt - (requests[n]?.answeredAt ?? Number.NaN)),
  );
}
