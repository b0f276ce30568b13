/** Writes what is listed and exported: normalized events, items with their search text, and lifecycle events. */
import type { SQLQueryBindings } from "bun:sqlite";
import type { HistoryItem } from "../../core/interfaces/wire.ts";
import { truncate } from "../../core/text/truncate.ts";
import type { ItemText } from "../../streams/history-item.ts";
import type { LifecycleEvent } from "../../streams/lifecycle-event.ts";
import type { NormalizedFields } from "../../streams/normalized-event.ts";
import { toSearchText } from "../search-text.ts";
import { createInserter, toSeq } from "../seq.ts";
import type { Statements } from "./statements.ts";

const maxItemLength = 2_000;

/** The fields of an item that belong to its session. */
export type ItemSession = Pick<HistoryItem, "key" | "provider" | "project" | "branch">;

export interface EventWriter {
  /** Returns false if the event is known. */
  addEvent(event: NormalizedFields, raw: string | null): boolean;
  removeEvent(id: string, at: number): void;
  /** Returns the item's `seq`; null if the item is known. */
  addItem(id: string, at: number, session: ItemSession, item: ItemText): number | null;
  changeItem(seq: number, session: ItemSession, item: ItemText): void;
  removeItem(seq: number): void;
  addLifecycle(event: LifecycleEvent | null): void;
}

export function createEventWriter(sql: Statements): EventWriter {
  const insertEvent = createInserter(sql.listEventIds);
  const insertItem = createInserter(sql.listItemIds);

  return {
    addEvent(event, raw) {
      const ts = Date.parse(event.ts);
      const values = listEventValues(event, ts, raw);
      const seq = insertEvent.add(event.id, ts, (free) => {
        values[0] = free;
        return sql.addEvent.run(...values);
      });
      return seq !== null;
    },
    removeEvent(id, at) {
      sql.removeEvent.run(toSeq(at), id);
      insertEvent.forget();
    },
    addItem(id, at, session, { kind, severity = "info", ...item }) {
      const { key, provider, project, branch } = session;
      const text = truncate(item.text, maxItemLength);
      const seq = insertItem.add(id, at, (free) =>
        sql.addItem.run(free, id, key, provider, project, branch, kind, text, severity),
      );
      if (seq !== null) sql.addText.run(seq, toSearchText(text, { ...session, kind }));
      return seq;
    },
    changeItem(seq, session, { kind, ...item }) {
      const text = truncate(item.text, maxItemLength);
      sql.changeItem.run(kind, text, seq);
      sql.removeText.run(seq);
      sql.addText.run(seq, toSearchText(text, { ...session, kind }));
    },
    removeItem(seq) {
      sql.removeText.run(seq);
      sql.removeItem.run(seq);
      insertItem.forget();
    },
    addLifecycle(event) {
      if (event?.eventType !== "session.lifecycle" && event?.eventType !== "skill.lifecycle") return;
      const { id, occurredAtIso, sessionId, provider, phase = "", projectPath } = event;
      const raw = JSON.stringify(event);
      if (event.eventType === "session.lifecycle") {
        const { cwd = null } = event;
        sql.addSessionLifecycle.run(id, occurredAtIso, sessionId, provider, phase, projectPath, cwd, raw);
        return;
      }
      const { skillName = "", triggerCommand = null, targetDocPath = null, turnSeq = null } = event;
      const skill = [skillName, phase, triggerCommand, targetDocPath, turnSeq];
      sql.addSkillLifecycle.run(id, occurredAtIso, sessionId, provider, ...skill, projectPath, raw);
    },
  };
}

/** In the order of the columns; the first is `seq`. */
function listEventValues(event: NormalizedFields, ts: number, raw: string | null): SQLQueryBindings[] {
  return [
    null,
    event.id,
    ts,
    event.event_type,
    event.source,
    event.workspace_id,
    event.terminal_session_id,
    event.run_id,
    event.session_id,
    event.agent_id,
    event.target_agent_id,
    event.task_id,
    event.severity,
    JSON.stringify(event.payload),
    event.thinking_text,
    raw,
  ];
}
