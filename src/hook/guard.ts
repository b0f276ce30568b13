/**
 * `beckon hook AGENT --guard`: asks the work guard about an edit, or about the start of a session, and prints its answer in the
 * agent's form. The agent waits for it, so whatever goes wrong here, nothing is printed, and the edit goes on.
 */
import type { Agent } from "../agents/agent.ts";
import { listEditedFiles } from "../agents/edits.ts";
import { type GuardScope, isInGuardScope } from "../core/config/work-guard.ts";
import type { HookOutput } from "../core/interfaces/wire.ts";
import { type JsonRecord, parseRecordOrNull } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { timing } from "../core/timing.ts";
import type { Paths } from "../storage/paths.ts";
import { verifyDecision } from "../system/decision-signature.ts";
import { openRequest } from "./http.ts";
import { describeEvent, findRealSender, readSmall, readSurroundings, type Sender } from "./meta.ts";
import { chooseTarget } from "./target.ts";

/** What the hook prints. null for nothing. */
export async function askGuard(
  called: Sender,
  table: readonly Agent[],
  stdin: Promise<string>,
  paths: Paths,
): Promise<string | null> {
  const folders = Promise.resolve({ paths });
  const aroundCalled = readSurroundings(called, process.env, folders);
  const choosing = chooseTarget(process.env, paths, [], aroundCalled);
  const payload = parseRecordOrNull(await stdin);
  if (payload === null) return null;
  const agent = findRealSender(called, payload, table);
  const guard = agent?.forwarding?.guard;
  if (!agent || guard === undefined) return null;
  const reduced = guard.reduce(payload);
  if (!(await isAsked(paths, reduced))) return null;
  const timedOut = Bun.sleep(timing.guardTimeoutMs).then(() => null);
  const target = await Promise.race([choosing, timedOut]);
  // Only this machine's own beckon may refuse an edit.
  if (target === null || !target.isLoopback || target.key === null) return null;
  const around = agent === called ? aroundCalled : readSurroundings(agent, process.env, folders);
  const meta = { ...describeEvent(agent.forwarding, process.env), ...(await around) };
  const body = JSON.stringify({ provider: agent.id, _meta: meta, payload: reduced });
  const exchange = openRequest(target, "/api/guard?signed", body);
  const line = await Promise.race([exchange.readLine(), timedOut]);
  exchange.close();
  if (line === null || line.length > limits.maxDecisionBytes) return null;
  const verified = verifyDecision(target.key, meta.id, line);
  const output = verified === null ? null : parseRecordOrNull(verified);
  const printed = output && guard.formatOutput(payload, output as unknown as HookOutput);
  return printed ? JSON.stringify(printed) : null;
}

/**
 * False in a project where the guard is off, though another project or the general setting has this hook. It takes one small file
 * that the app writes. If that is missing or damaged, the app decides.
 */
async function isAsked(paths: Paths, reduced: JsonRecord): Promise<boolean> {
  const { cwd, tool_name, tool = tool_name, tool_input, input = tool_input } = reduced;
  const scope = parseRecordOrNull((await readSmall(paths.guardScope)) ?? "");
  if (scope === null || typeof cwd !== "string") return true;
  const files = tool === undefined ? null : Object.values(Object(input)).flatMap(listEditedFiles);
  try {
    return isInGuardScope(scope as unknown as GuardScope, cwd, files);
  } catch {
    return true;
  }
}
