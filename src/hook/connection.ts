/**
 * `beckon hook AGENT --connect`: once it has delivered an event, the hook prints how the agent's plugin can send the next ones
 * itself, without a process for each. The plugin gets no token, only the names of the files that this hook has checked.
 */
import type { JsonRecord } from "../core/json.ts";
import type { Paths } from "../storage/paths.ts";
import type { Target } from "./target.ts";

export interface PluginConnection {
  /** The address that the event was delivered to. It counts only while `endpoint` names it. */
  readonly url: string;
  readonly endpoint: string;
  readonly authHeader: string;
  /** `_meta` without what differs from event to event. */
  readonly meta: JsonRecord;
}

export async function printConnection(target: Target, paths: Paths, meta: JsonRecord): Promise<void> {
  const { id: _id, at: _at, collected_at: _collectedAt, seq: _seq, ...lasting } = meta;
  const connection: PluginConnection = {
    url: target.url.origin,
    endpoint: paths.endpoint,
    authHeader: paths.authHeader,
    meta: lasting,
  };
  await Bun.write(Bun.stdout, `${JSON.stringify({ connection })}\n`);
}
