/** The menu as com.canonical.dbusmenu sees it: numbered items with properties, and what changed between two of them. */

import type { UserAction } from "../../core/config/user-action.ts";
import type { MenuEntry, MenuItem } from "../../core/view/view.ts";

export type Properties = Readonly<Record<string, string | boolean | number>>;

export interface MenuNode {
  readonly id: number;
  readonly properties: Properties;
  readonly action: UserAction | null;
  readonly children: readonly MenuNode[];
}

export interface Layout {
  readonly root: MenuNode;
  readonly byId: ReadonlyMap<number, MenuNode>;
}

/** What a property is where an item does not say: these are the specification's. */
export const propertyDefaults: Properties = {
  type: "standard",
  label: "",
  enabled: true,
  visible: true,
  "toggle-type": "",
  "toggle-state": -1,
  "children-display": "",
};

export const emptyLayout: Layout = layoutFrom({
  id: 0,
  properties: { "children-display": "submenu" },
  action: null,
  children: [],
});

/**
 * Numbers entries by their id. One that means the same keeps its number while it keeps its place among the others, and no
 * number is given twice, so that a click on a menu that has changed meanwhile does what its words said, or nothing.
 */
export function createNumbering(): (items: readonly MenuItem[]) => Layout {
  let numbers = new Map<string, number>();
  let orders = new Map<number, readonly number[]>();
  let last = 0;
  const fresh = (): number => ++last;

  return (items) => {
    const used = new Map<string, number>();
    const ordered = new Map<number, readonly number[]>();
    const keyOf = (id: string): string => {
      let key = id;
      for (let copy = 2; used.has(key); copy++) key = `${id}\n${copy}`;
      used.set(key, 0);
      return key;
    };
    const nodes = (of: readonly MenuItem[], parent: number): MenuNode[] => {
      const keys = of.map(({ id }) => keyOf(id));
      const known = keys.map((key) => numbers.get(key));
      const ids = withoutMoves(orders.get(parent) ?? [], known, fresh);
      ordered.set(parent, ids);
      keys.forEach((key, index) => {
        used.set(key, ids[index] ?? 0);
      });
      return of.map((item, index) => {
        const id = ids[index] ?? 0;
        return {
          id,
          properties: propertiesOf(item, of),
          action: item.kind === "entry" ? item.action : null,
          children: item.kind === "entry" && item.children ? nodes(item.children, id) : [],
        };
      });
    };
    const layout = layoutFrom({ ...emptyLayout.root, children: nodes(items, emptyLayout.root.id) });
    numbers = used;
    orders = ordered;
    return layout;
  };
}

/**
 * Numbers for one list of entries, from those before and those known. GNOME's AppIndicator extension (46) takes in what is
 * new, place by place, then removes what is gone, and moves nothing: of what would have to move, or stands behind something
 * that goes while new ones come after it, the number is a new one.
 */
function withoutMoves(
  before: readonly number[],
  known: readonly (number | undefined)[],
  fresh: () => number,
): readonly number[] {
  const oldPlace = known.map((number) => (number === undefined ? -1 : before.indexOf(number)));
  // From here on nothing is new and all are in the order they had.
  let rest = known.length;
  let next = before.length;
  for (; rest > 0; rest--) {
    const place = oldPlace[rest - 1] ?? -1;
    if (place < 0 || place >= next) break;
    next = place;
  }
  const shown = [...before];
  return known.map((number, index) => {
    if (number !== undefined && (index >= rest || shown[index] === number)) return number;
    const made = fresh();
    shown.splice(index, 0, made);
    return made;
  });
}

function layoutFrom(root: MenuNode): Layout {
  const byId = new Map<number, MenuNode>();
  const visit = (node: MenuNode): void => {
    byId.set(node.id, node);
    node.children.forEach(visit);
  };
  visit(root);
  return { root, byId };
}

function propertiesOf(item: MenuItem, siblings: readonly MenuItem[]): Properties {
  if (item.kind === "separator") return { type: "separator" };
  const hasChildren = (item.children?.length ?? 0) > 0;
  return {
    // One `_` underlines the letter after it.
    label: item.label.replaceAll("_", "__"),
    enabled: item.action !== null || hasChildren,
    ...(hasChildren && { "children-display": "submenu" }),
    ...(item.checked !== undefined && {
      "toggle-type": isOneOfSeveral(item, siblings) ? "radio" : "checkmark",
      "toggle-state": item.checked ? 1 : 0,
    }),
  };
}

/** Siblings that do the same in other ways are a choice (quiet for an hour, until tomorrow); one alone is a switch. */
function isOneOfSeveral(entry: MenuEntry, siblings: readonly MenuItem[]): boolean {
  const alike = siblings.filter(
    (other) => other.kind === "entry" && other.checked !== undefined && other.action?.do === entry.action?.do,
  );
  return alike.length > 1;
}

export interface MenuChange {
  /** Items came, went or moved. */
  readonly isLayoutNew: boolean;
  /** Of items that were there before: what is set now, and what is back to its default. */
  readonly changed: readonly { readonly id: number; readonly properties: Properties }[];
  readonly removed: readonly { readonly id: number; readonly names: readonly string[] }[];
}

export function changeBetween(before: Layout, after: Layout): MenuChange {
  const changed: { id: number; properties: Properties }[] = [];
  const removed: { id: number; names: string[] }[] = [];
  for (const [id, node] of after.byId) {
    const old = before.byId.get(id);
    if (old === undefined) continue;
    const set = Object.entries(node.properties).filter(([name, value]) => old.properties[name] !== value);
    const gone = Object.keys(old.properties).filter((name) => !(name in node.properties));
    if (set.length > 0) changed.push({ id, properties: Object.fromEntries(set) });
    if (gone.length > 0) removed.push({ id, names: gone });
  }
  return { isLayoutNew: shapeOf(before.root) !== shapeOf(after.root), changed, removed };
}

const shapeOf = (node: MenuNode): string => `${node.id}(${node.children.map(shapeOf).join()})`;
