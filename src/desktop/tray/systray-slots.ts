/**
 * The menu for systray2's helper. It takes no new items once it runs, an item with children cannot lose its arrow, and
 * separators can neither be hidden nor stand in a submenu. So every place is allocated at the start, hidden, as an entry
 * and as one with children; a separator is an entry with a line for a name. On Windows it deletes what it hides, and brings
 * it back without its children.
 */

import type { UserAction } from "../../core/config/user-action.ts";
import type { MenuItem } from "../../core/view/view.ts";

/** As the helper reads it. */
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
  /** The places at the top, in order. */
  readonly slots: readonly Slot[];
  readonly actions: ReadonlyMap<number, UserAction>;
}

const places = 40;
const placesInside = 16;
/** Of a menu that is too long, its end stays: quit is there. */
const keptAtEnd = 10;
const idsPerPlace = 2 + placesInside;

type Words = Pick<Slot, "title" | "enabled" | "checked" | "hidden">;
type Line = { readonly item: MenuItem; readonly depth: number };

const nothing: Words = { title: "", enabled: false, checked: false, hidden: true };

export function slotsOf(items: readonly MenuItem[], platform: string): SlotMenu {
  const actions = new Map<number, UserAction>();
  const shown = cut(
    items.map((item) => ({ item, depth: 0 })),
    places,
  );

  function slot(id: number, line: Line | undefined): Slot {
    if (line?.item.kind === "entry" && line.item.action) actions.set(id, line.item.action);
    return { __id: id, tooltip: "", ...(line ? wordsOf(line, platform) : nothing) };
  }

  const slots = Array.from({ length: places }, (_, place) => {
    const first = 1 + place * idsPerPlace;
    const line = shown[place];
    const inside = line ? cut(linesIn(line.item, 0), placesInside) : [];
    const isBranch = inside.length > 0;
    const children = Array.from({ length: placesInside }, (_, n) => slot(first + 2 + n, inside[n]));
    return [
      slot(first, isBranch ? undefined : line),
      { ...slot(first + 1, isBranch ? line : undefined), items: children },
    ];
  }).flat();
  return { slots, actions };
}

/** Children of children stand below their parent, further in. */
function linesIn(item: MenuItem, depth: number): Line[] {
  if (item.kind === "separator") return [];
  return (item.children ?? []).flatMap((child) => [{ item: child, depth }, ...linesIn(child, depth + 1)]);
}

function cut(lines: readonly Line[], max: number): Line[] {
  if (lines.length <= max) return [...lines];
  // Not all of what they say yes to would be there.
  const safe = lines.filter(({ item }) => item.kind === "separator" || !item.needsAll);
  if (safe.length < lines.length) return cut(safe, max);
  const end = Math.min(keptAtEnd, max - 2);
  const left = lines.length - (max - 1);
  const more: MenuItem = { kind: "entry", id: "more", label: `… ${left} more`, action: null };
  return [...lines.slice(0, max - 1 - end), { item: more, depth: 0 }, ...lines.slice(lines.length - end)];
}

function wordsOf({ item, depth }: Line, platform: string): Words {
  if (item.kind === "separator")
    return { title: "─".repeat(12), enabled: false, checked: false, hidden: false };
  const checked = item.checked ?? false;
  // The helper on Linux has no check marks; on Windows one `&` underlines the letter after it.
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

/** What the helper must be told, one item at a time. */
export function changedSlots(before: readonly Slot[], after: readonly Slot[]): Slot[] {
  return after.flatMap((slot, at) => {
    const old = before[at];
    const { items = [], ...own } = slot;
    const inside = changedSlots(old?.items ?? [], items);
    return old !== undefined && isSame(old, slot) ? inside : [own, ...inside];
  });
}

const isSame = (a: Slot, b: Slot): boolean =>
  a.title === b.title && a.enabled === b.enabled && a.checked === b.checked && a.hidden === b.hidden;
