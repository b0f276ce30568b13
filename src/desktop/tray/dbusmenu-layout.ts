/** The menu as com.canonical.dbusmenu sees it: numbered items with properties, and what changed between two of them. */
import type { Action, MenuEntry, MenuItem } from "../../core/view.ts";

export type Properties = Readonly<Record<string, string | boolean | number>>;

export interface MenuNode {
  readonly id: number;
  readonly properties: Properties;
  readonly action: Action | null;
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
 * Numbers entries by their id. One that means the same keeps its number, and no number is given twice, so that a click on
 * a menu that has changed meanwhile does what its words said, or nothing.
 */
export function createNumbering(): (items: readonly MenuItem[]) => Layout {
  let numbers = new Map<string, number>();
  let last = 0;

  return (items) => {
    const used = new Map<string, number>();
    const number = (id: string): number => {
      let key = id;
      for (let copy = 2; used.has(key); copy++) key = `${id}\n${copy}`;
      const known = numbers.get(key) ?? ++last;
      used.set(key, known);
      return known;
    };
    const nodes = (of: readonly MenuItem[]): MenuNode[] =>
      of.map((item) => ({
        id: number(item.id),
        properties: propertiesOf(item, of),
        action: item.kind === "entry" ? item.action : null,
        children: item.kind === "entry" && item.children ? nodes(item.children) : [],
      }));
    const layout = layoutFrom({ ...emptyLayout.root, children: nodes(items) });
    numbers = used;
    return layout;
  };
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
