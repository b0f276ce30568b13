/** Compares what two machines have recorded of the sessions of one of them. */
import type { HistoryPage, Stats } from "../../src/core/interfaces/wire.ts";
import { isAskKind } from "../../src/core/view/story.ts";
import type { AppFixture } from "../app-fixture.ts";

/** An ask, without what differs between machines: the name of the session, and the way of the answer. */
export interface RecordedAsk {
  readonly sessionId: string;
  readonly text: string;
  readonly how: string | null;
  readonly at: number;
  readonly waitedMs: number | null;
}

export async function readAsks(machine: AppFixture): Promise<RecordedAsk[]> {
  const asks: RecordedAsk[] = [];
  let before = "";
  do {
    const page = (await (await machine.request(`/api/history?limit=500${before}`)).json()) as HistoryPage;
    for (const { kind, text, how, at, waitedMs, key } of page.items)
      if (isAskKind(kind))
        asks.push({
          sessionId: key.slice(key.indexOf(":") + 1),
          text,
          how: how ?? null,
          at,
          waitedMs: waitedMs ?? null,
        });
    before = page.next === null ? "" : `&before=${page.next}`;
  } while (before !== "");
  return asks.sort((a, b) => a.text.localeCompare(b.text) || a.at - b.at);
}

export const readStats = async (machine: AppFixture): Promise<Stats> =>
  (await (await machine.request("/api/stats?days=2")).json()) as Stats;
