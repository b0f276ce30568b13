/** The order of sessions in every list: menu, `beckon status`, dashboard. */
import { viewKeyOf } from "../session/session-ref.ts";
import { type Group, groups } from "./group-names.ts";
import type { SessionView } from "./session-view.ts";

/** Where a session belongs in a list. */
interface ListPosition {
  /** `agent:sessionId` */
  readonly key: string;
  readonly group: Group;
  /** Wall time. */
  readonly since: number;
}

const newestFirst: ReadonlySet<Group> = new Set(["failed", "ready", "ended"]);

/**
 * The session that waits or works longest comes first, so it keeps its position. In groups of what is
 * over, the newest does.
 */
export function sortSessions<Item>(
  items: readonly Item[],
  positionOf: (item: Item) => ListPosition,
): readonly Item[] {
  const positions = items.map((item) => ({ item, position: positionOf(item) }));
  return positions.sort((a, b) => comparePositions(a.position, b.position)).map(({ item }) => item);
}

function comparePositions(a: ListPosition, b: ListPosition): number {
  const byTime = newestFirst.has(a.group) ? b.since - a.since : a.since - b.since;
  return groups.indexOf(a.group) - groups.indexOf(b.group) || byTime || (a.key < b.key ? -1 : 1);
}

export function sortViews(views: readonly SessionView[]): readonly SessionView[] {
  return sortSessions(views, (view) => ({
    key: viewKeyOf(view),
    group: view.group,
    since: view.since,
  }));
}
