/**
 * `beckon hook AGENT --statusline`: passes on what the agent writes to its status line. It comes often and only the newest counts:
 * if beckon is not running or slow, it is dropped.
 */
import { timing } from "../core/timing.ts";
import type { Paths } from "../storage/paths.ts";
import { openRequest } from "./http.ts";
import { readSurroundings, type Sender } from "./meta.ts";
import { chooseTarget } from "./target.ts";

export async function sendStatusLine(agent: Sender, text: string, paths: Paths): Promise<void> {
  const surroundings = readSurroundings(agent, process.env, Promise.resolve({ paths }));
  const target = await chooseTarget(process.env, paths, [], surroundings);
  if (!target?.isLoopback) return;
  const body = `{"provider":${JSON.stringify(agent.id)},"payload":${text.trim() || "null"}}`;
  await Promise.race([
    openRequest(target, "/api/statusline", body).status,
    Bun.sleep(timing.hookSendTimeoutMs),
  ]);
}
