/** Writes asks: each is a row, an item of the list, and the events `agent_blocked` and `agent_unblocked`. */
import type { AskEnding } from "../../core/answers/ending.ts";
import { maskText } from "../../secrets/index.ts";
import { createAskItem } from "../../streams/history-item.ts";
import { createWaitingEvent } from "../../streams/lifecycle-event.ts";
import { createBlockedEvent, createBlockedId } from "../../streams/normalized-event.ts";
import type { AskRow, OpenState, RowOf, SessionRow } from "../rows.ts";
import type { EventWriter, ItemSession } from "./events.ts";
import type { SessionWriter } from "./sessions.ts";
import type { AskTableRow, Statements } from "./statements.ts";

/** An ask by its id, or by the agent's own id of the request if that is known. */
interface AskName {
  readonly id: string;
  readonly request: string | null;
}

/** What is recorded of an ask. */
type OpenedAsk = Pick<AskRow, "id" | "session"> & {
  readonly ask: Pick<AskRow["ask"], "request" | "kind" | "agentId" | "tool" | "summary" | "at">;
};

export interface AskWriter {
  open(row: OpenedAsk): void;
  /** A hook has described an ask that was open already. */
  name(row: AskRow): void;
  /** `session` is null if it is not known any more. */
  close(ask: AskName, session: RowOf<"ask-closed">["session"] | null, at: number, waitedMs: number): void;
  /** Another machine knows better when its ask closed. */
  correct(ask: AskName, at: number, waitedMs: number): void;
  /** `detail` is what was replied, or the message of a denial. */
  end(ask: AskName, how: AskEnding, where: string | null, detail: string | null): void;
  /** Closes the asks of these sessions that are open in the history only. */
  closeLost(open: Pick<OpenState, "asks" | "closing">, isMeant: (key: string) => boolean): void;
}

/** A dialog that no hook described and that was gone sooner is not recorded: nobody could have seen what it asks. */
const minUnnamedMs = 1_000;

export function createAskWriter(sql: Statements, events: EventWriter, sessions: SessionWriter): AskWriter {
  function open(row: OpenedAsk): void {
    const { id, session, ask } = row;
    const { request, kind, agentId, tool, summary, at } = ask;
    sessions.write(session);
    if (sql.findAsk.get(id, request)) return;
    const seq = events.addItem(id, at, itemSessionOf(session), createAskItem(ask));
    sql.addAsk.run(id, session.key, request, kind, agentId, tool, summary, session.project, at, seq);
    const { agentIds } = sessions.find(session.key);
    const agent = agentIds.get(agentId ?? "");
    events.addEvent(createBlockedEvent("agent_blocked", id, at, session, ask, agent), null);
    events.addLifecycle(createWaitingEvent(row, sessions.find(session.key).firstCwd));
  }

  function remove({ id, opened_at, item_seq }: AskTableRow): void {
    if (item_seq !== null) events.removeItem(item_seq);
    sql.removeAsk.run(id);
    events.removeEvent(createBlockedId("agent_blocked", id), opened_at);
  }

  const writer: AskWriter = {
    open,
    name(row) {
      const { id, session, ask } = row;
      if (sql.nameAsk.run(ask.request, ask.kind, ask.tool, ask.summary, id).changes === 0) {
        open(row);
        return;
      }
      const seq = sql.readAsk.get(id, null)?.item_seq ?? null;
      if (seq !== null) events.changeItem(seq, itemSessionOf(session), createAskItem(ask));
    },
    close({ id, request }, session, at, waitedMs) {
      const row = sql.readAsk.get(id, request);
      if (!row || row.closed_at !== null) return;
      if (row.request === null && row.tool === null && row.summary === "" && waitedMs < minUnnamedMs) {
        remove(row);
        return;
      }
      sql.closeAsk.run(at, waitedMs, row.id);
      sql.closeItem.run(waitedMs, row.item_seq);
      if (!session) return;
      const ask = { ...row, agentId: row.agent_id };
      const agent = sessions.find(session.key).agentIds.get(row.agent_id ?? "");
      events.addEvent(createBlockedEvent("agent_unblocked", row.id, at, session, ask, agent), null);
    },
    correct({ id, request }, at, waitedMs) {
      const row = sql.readAsk.get(id, request);
      if (!row || row.closed_at === at) return;
      sql.closeAsk.run(at, waitedMs, row.id);
      sql.closeItem.run(waitedMs, row.item_seq);
    },
    end({ id, request }, how, where, detail) {
      const row = sql.readAsk.get(id, request);
      // An end that was derived from the journal has no place, and can be replaced.
      if (!row || row.place !== null) return;
      sql.endAsk.run(how, where, row.id);
      // It was given to beckon, so no hook's masking has seen it.
      sql.endItem.run(how, where, detail === null ? null : maskText(detail), row.item_seq);
    },
    closeLost({ asks, closing }, isMeant) {
      const openIds = new Set([...closing, ...asks.flatMap(({ id, ask }) => [id, ask.request ?? id])]);
      for (const { id, key, request, opened_at, last_at } of sql.listOpenAsks.all()) {
        if (!isMeant(key)) continue;
        if (openIds.has(id) || (request !== null && openIds.has(request))) continue;
        const at = Math.max(opened_at, last_at ?? opened_at);
        writer.close({ id, request: null }, null, at, at - opened_at);
        writer.end({ id, request: null }, "dismissed", null, null);
      }
    },
  };
  return writer;
}

export function itemSessionOf({ key, agent, project, branch }: SessionRow): ItemSession {
  return { key, provider: agent, project, branch };
}
