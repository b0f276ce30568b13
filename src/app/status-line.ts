/** Applies what an agent writes to its status line: POST /api/statusline. It is not journalled: the next one replaces it. */
import type { LoadedAgents } from "../agents/index.ts";
import { asText, isRecord, type JsonRecord } from "../core/json.ts";
import { type ClockReading, createInternalEvent, type Enrichment } from "../core/session/event.ts";
import type { Store } from "../state/store.ts";

export interface StatusLineOptions {
  readonly agents: LoadedAgents;
  readonly store: Pick<Store, "get" | "dispatch">;
  readonly clock: () => ClockReading;
}

let count = 0;

/** Returns a text if the body is invalid. A session that is not known, or has ended, is ignored. */
export function applyStatusLine(
  { agents, store, clock }: StatusLineOptions,
  body: JsonRecord,
): string | null {
  const { provider, payload } = body;
  const agent = asText(provider);
  const report = isRecord(payload) ? agents.get(agent)?.readStatusLine?.(payload) : null;
  if (!report) return "not the status line of an agent that beckon knows";
  const session = store.get({ agent, sessionId: report.sessionId });
  if (!session || session.ended) return null;
  const names = Object.keys(report.enrichment) as (keyof Enrichment & keyof typeof session)[];
  const news = names.filter(
    (name) => report.enrichment[name] != null && !Bun.deepEquals(report.enrichment[name], session[name]),
  );
  if (news.length === 0) return null;
  const enrichment = Object.fromEntries(news.map((name) => [name, report.enrichment[name]]));
  const now = clock();
  const subject = { agent, sessionId: report.sessionId };
  store.dispatch(
    createInternalEvent(`status-line-${++count}-${now.t}`, now, subject, {
      kind: "enriched",
      with: enrichment,
    }),
  );
  return null;
}
