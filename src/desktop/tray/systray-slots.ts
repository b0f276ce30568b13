/**
 * The menu for systray2's helper. The helper cannot add items while it runs, an item with children cannot lose its arrow,
 * and separators cannot be hidden or used in a submenu. So every slot is allocated hidden at the start, once as an entry and
 * once as an entry with children, and a separator is an entry whose label is a line. On Windows the helper deletes what it
 * hides, and shows it again without its children.
 */

import type { UserAction } from "../../core/config/user-action.ts";
import type { MenuItem } from "../../core/view/view.ts";

/** An item as the helper reads it. */
export interface Slot {
  readonly __id: number;
  readonly title: string;
  readonly tooltip: "";
  readonly enabled: boolean;
  readonly checked: boolean;
  readonly hidden: boolean;
  readonly items?: readonly Slot[];
}

export interface SlotMenu {
  /** The top level, in order. */
  readonly slots: readonly Slot[];
  readonly actions: ReadonlyMap<number, UserAction>;
}

const topSlots = 40;
const childSlots = 24;
/** A menu that is too long keeps this many items at its end: Quit is there. */
const keptAtEnd = 10;
const idsPerSlot = 2 + childSlots;

type SlotText = Pick<Slot, "title" | "enabled" | "checked" | "hidden">;
type Row = { readonly item: MenuItem; readonly depth: number };

const hiddenSlot: SlotText = { title: "", enabled: false, checked: false, hidden: true };

export function createSlots(items: readonly MenuItem[], platform: string): SlotMenu {
  const actions = new Map<number, UserAction>();
  const rows = shorten(
    items.map((item) => ({ item, depth: 0 })),
    topSlots,
  );

  function createSlot(id: number, row: Row | undefined): Slot {
    if (row?.item.kind === "entry" && row.item.action) actions.set(id, row.item.action);
    return { __id: id, tooltip: "", ...(row ? formatRow(row, platform) : hiddenSlot) };
  }

  const slots = Array.from({ length: topSlots }, (_, index) => {
    const firstId = 1 + index * idsPerSlot;
    const row = rows[index];
    const childRows = row ? shorten(flattenChildren(row.item, 0), childSlots) : [];
    const hasChildren = childRows.length > 0;
    const children = Array.from({ length: childSlots }, (_, n) => createSlot(firstId + 2 + n, childRows[n]));
    return [
      createSlot(firstId, hasChildren ? undefined : row),
      { ...createSlot(firstId + 1, hasChildren ? row : undefined), items: children },
    ];
  }).flat();
  return { slots, actions };
}

/** Children of children follow their parent, indented. */
function flattenChildren(item: MenuItem, depth: number): Row[] {
  if (item.kind === "separator") return [];
  return (item.children ?? []).flatMap((child) => [
    { item: child, depth },
    ...flattenChildren(child, depth + 1),
  ]);
}

function shorten(rows: readonly Row[], max: number): Row[] {
  if (rows.length <= max) return [...rows];
  const lastAnswer = rows.findLastIndex(({ item }) => isAnswer(item));
  // Commands below the answers can go: the terminal and the command line have them too.
  if (lastAnswer >= 0 && lastAnswer < max - 1)
    return [...rows.slice(0, max - 1), createRest(rows.length - (max - 1))];
  // An answer must not be offered when part of what it allows is cut off.
  const safe = rows.filter(({ item }) => item.kind === "separator" || !item.needsAll);
  if (safe.length < rows.length) return shorten(safe, max);
  const end = Math.min(keptAtEnd, max - 2);
  const rest = createRest(rows.length - (max - 1));
  return [...rows.slice(0, max - 1 - end), rest, ...rows.slice(rows.length - end)];
}

const isAnswer = (item: MenuItem): boolean =>
  item.kind === "entry" && (item.needsAll === true || item.action?.do === "answer");

const createRest = (count: number): Row => ({
  item: { kind: "entry", id: "more", label: `… ${count} more`, action: null },
  depth: 0,
});

function formatRow({ item, depth }: Row, platform: string): SlotText {
  if (item.kind === "separator")
    return { title: "─".repeat(12), enabled: false, checked: false, hidden: false };
  const checked = item.checked ?? false;
  // The helper has no check marks on Linux, and on Windows a single `&` underlines the letter after it.
  const mark = platform === "linux" && checked ? "✓ " : "";
  const label = platform === "win32" ? item.label.replaceAll("&", "&&") : item.label;
  const enabled = item.action !== null || (item.children?.length ?? 0) > 0;
  return {
    title: `${"    ".repeat(depth)}${mark}${label}`,
    enabled,
    checked: platform !== "linux" && checked,
    hidden: false,
  };
}

/** Returns the slots that differ, without their children: the helper updates one item at a time. */
export function findChangedSlots(before: readonly Slot[], after: readonly Slot[]): Slot[] {
  return after.flatMap((slot, at) => {
    const old = before[at];
    const { items = [], ...own } = slot;
    const children = findChangedSlots(old?.items ?? [], items);
    return old !== undefined && isSame(old, slot) ? children : [own, ...children];
  });
}

const isSame = (a: Slot, b: Slot): boolean =>
  a.title === b.title && a.enabled === b.enabled && a.checked === b.checked && a.hidden === b.hidden;
