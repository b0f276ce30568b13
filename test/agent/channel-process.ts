/**
 * bun channel-process.ts TYPE   the local server of a service, for a sandbox whose network only its own processes reach. It reads
 *                               calls from stdin, one JSON line each ({"call": "tap", "args": ["Allow"]}), and prints one JSON
 *                               line for each: {"result": …} or {"error": "…"}. The first line that it prints describes it.
 */
import { createInterface } from "node:readline";
import type { FakeService } from "../channels/servers/fake-service.ts";
import { serverStarters } from "../channels/servers/index.ts";

export interface ServerDescription extends Pick<FakeService, "settings" | "secrets" | "accounts"> {
  readonly type: string;
}

if (import.meta.main) {
  const [type = ""] = process.argv.slice(2);
  const server = await serverStarters[type]?.();
  if (!server) throw new Error(`there is no server for ${type}`);
  const { settings, secrets, accounts } = server;
  const description: ServerDescription = { type, settings, secrets, accounts };
  console.log(JSON.stringify(description));
  for await (const line of createInterface({ input: process.stdin })) {
    const { call, args } = JSON.parse(line) as { call: keyof FakeService; args: unknown[] };
    const run = server[call] as (...values: unknown[]) => unknown;
    try {
      console.log(JSON.stringify({ result: (await run(...args)) ?? null }));
    } catch (error) {
      console.log(JSON.stringify({ error: String(error) }));
    }
  }
  process.exit(0);
}
