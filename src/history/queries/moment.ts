/** Shows the sessions as they were at a moment: the block it is in, the records up to it, and how the asks of then ended. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import { findQuietMode } from "../../core/config/quiet.ts";
import type { PastMoment } from "../../core/interfaces/wire.ts";
import type { Moment } from "../../core/session/event.ts";
import { isBlocking, isVisible, type Session } from "../../core/session/session.ts";
import { sessionKeyOf } from "../../core/session/session-ref.ts";
import { settle } from "../../core/session/settle.ts";
import type { PastAskEnd } from "../../core/view/past-ask.ts";
import { createSessionView } from "../../core/view/session-view.ts";
import { createAskId } from "../../state/transitions.ts";
import { formatLocalTime, withLocalTime } from "../../system/clock.ts";
import { applyRecords, createPastState, type PastState, readBlock } from "../past-state.ts";
import { atOfSeq, toSeq } from "../seq.ts";

type Values = SQLQueryBindings[];

export function findMoment(db: Database, at: number, now: number): PastMoment {
  const from = findFirst(db);
  const nothing = { enabled: true, at, now, from, isKnown: false, sessions: [], ends: [] };
  if (from === null || at < from || at > now) return nothing;
  const state = readState(db, at);
  const { context, last } = state;
  if (context === null || last === null) return nothing;
  // Nothing was recorded since then, so both clocks went on alike.
  const moment: Moment = { at, t: last.t + (at - last.at) };
  const sessions = [...state.sessions.values()];
  const { preferences, config } = context;
  const quiet = findQuietMode(preferences.quietUntil, config.quietHours, withLocalTime({ at }));
  const viewContext = { preferences, config, formatTime: formatLocalTime };
  return {
    ...nothing,
    isKnown: true,
    ...(state.isStopped ? { stoppedAt: last.at } : {}),
    ...(quiet === null ? {} : { quiet }),
    sessions: sessions.map((session) => createSessionView(session, moment, viewContext)),
    ends: sessions.flatMap((session) => findEnds(db, settle(session, moment.t))),
  };
}

/** When the first moment is that can be shown. */
function findFirst(db: Database): number | null {
  const first = db
    .query<{ seq: number | null }, Values>(
      "SELECT min(seq) AS seq FROM (SELECT min(seq) AS seq FROM past_blocks UNION ALL SELECT min(seq) FROM past_parts)",
    )
    .get();
  return first?.seq == null ? null : atOfSeq(first.seq);
}

function readState(db: Database, at: number): PastState {
  const end = toSeq(at + 1);
  const block = db
    .query<{ seq: number; block: Uint8Array }, Values>(
      "SELECT seq, block FROM past_blocks WHERE seq < ? ORDER BY seq DESC LIMIT 1",
    )
    .get(end);
  const state = block ? readBlock(block.block, at) : createPastState();
  const parts = db
    .query<{ records: string }, Values>("SELECT records FROM past_parts WHERE seq > ? ORDER BY seq")
    .all(block?.seq ?? 0);
  for (const { records } of parts) applyRecords(state, JSON.parse(records), at);
  return state;
}

function findEnds(db: Database, session: Session): PastAskEnd[] {
  return session.asks
    .filter((ask) => isVisible(ask) && isBlocking(ask))
    .flatMap((ask) => {
      const row = db
        .query<Omit<PastAskEnd, "key" | "ask">, Values>(
          `SELECT closed_at AS closedAt, asks.how, asks.place AS "where", asks.waited_ms AS waitedMs, items.detail FROM asks
         LEFT JOIN items ON items.seq = asks.item_seq WHERE asks.id = ?1 OR request = ?2 LIMIT 1`,
        )
        .get(createAskId(session, ask), ask.request);
      return row ? [{ key: sessionKeyOf(session), ask: ask.id, ...row }] : [];
    });
}
