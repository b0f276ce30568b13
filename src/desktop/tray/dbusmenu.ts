/**
 * com.canonical.dbusmenu: the menu that a panel on Linux fetches, and the clicks that it sends. The first half is pure: it
 * numbers the items and compares two menus. The class at the end is the D-Bus object.
 */
import { DBusError, interface as dbusInterface, Variant } from "@jellybrick/dbus-next";
import type { UserAction } from "../../core/config/user-action.ts";
import type { MenuEntry, MenuItem } from "../../core/view/view.ts";

type Properties = Readonly<Record<string, string | boolean | number>>;

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

/** The value of a property that an item does not have, by the specification. */
const propertyDefaults: Properties = {
  type: "standard",
  label: "",
  enabled: true,
  visible: true,
  "toggle-type": "",
  "toggle-state": -1,
  "children-display": "",
};

const emptyLayout: Layout = createLayout({
  id: 0,
  properties: { "children-display": "submenu" },
  action: null,
  children: [],
});

/**
 * Numbers entries by their id. An entry keeps its number while it keeps its position among the others, and no number is used
 * twice. So a click on a menu that has changed meanwhile does what its label said, or nothing. Panels, too, get confused by an id that
 * they know from another item (https://github.com/blueman-project/blueman/pull/1847).
 */
export function createNumbering(): (items: readonly MenuItem[]) => Layout {
  let numbers = new Map<string, number>();
  let orders = new Map<number, readonly number[]>();
  let last = 0;
  const takeNumber = (): number => ++last;

  return (items) => {
    const newNumbers = new Map<string, number>();
    const newOrders = new Map<number, readonly number[]>();
    const keyOf = (id: string): string => {
      let key = id;
      for (let copy = 2; newNumbers.has(key); copy++) key = `${id}\n${copy}`;
      newNumbers.set(key, 0);
      return key;
    };
    const createNodes = (siblings: readonly MenuItem[], parent: number): MenuNode[] => {
      const keys = siblings.map(({ id }) => keyOf(id));
      const known = keys.map((key) => numbers.get(key));
      const ids = numberWithoutMoves(orders.get(parent) ?? [], known, takeNumber);
      newOrders.set(parent, ids);
      keys.forEach((key, index) => {
        newNumbers.set(key, ids[index] ?? 0);
      });
      return siblings.map((item, index) => {
        const id = ids[index] ?? 0;
        return {
          id,
          properties: propertiesOf(item, siblings),
          action: item.kind === "entry" ? item.action : null,
          children: item.kind === "entry" && item.children ? createNodes(item.children, id) : [],
        };
      });
    };
    const layout = createLayout({ ...emptyLayout.root, children: createNodes(items, emptyLayout.root.id) });
    numbers = newNumbers;
    orders = newOrders;
    return layout;
  };
}

/**
 * Numbers one list of entries. GNOME's AppIndicator extension (46) inserts new entries by position, then removes those that
 * are gone, and never moves one (https://github.com/ubuntu/gnome-shell-extension-appindicator/issues/632). So an entry gets a new number if it would have to move, or if it follows a removed entry
 * and new entries follow it.
 */
function numberWithoutMoves(
  before: readonly number[],
  known: readonly (number | undefined)[],
  takeNumber: () => number,
): readonly number[] {
  const oldPosition = known.map((number) => (number === undefined ? -1 : before.indexOf(number)));
  // From this index on, no entry is new and all are in their old order.
  let tail = known.length;
  let next = before.length;
  for (; tail > 0; tail--) {
    const position = oldPosition[tail - 1] ?? -1;
    if (position < 0 || position >= next) break;
    next = position;
  }
  const shown = [...before];
  return known.map((number, index) => {
    if (number !== undefined && (index >= tail || shown[index] === number)) return number;
    const added = takeNumber();
    shown.splice(index, 0, added);
    return added;
  });
}

function createLayout(root: MenuNode): Layout {
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
    // A single `_` underlines the letter after it.
    label: item.label.replaceAll("_", "__"),
    enabled: item.action !== null || hasChildren,
    ...(hasChildren && { "children-display": "submenu" }),
    ...(item.checked !== undefined && {
      "toggle-type": isOneOfSeveral(item, siblings) ? "radio" : "checkmark",
      "toggle-state": item.checked ? 1 : 0,
    }),
  };
}

/** Siblings with the same action are a choice (quiet for an hour, until tomorrow); a single one is a switch. */
function isOneOfSeveral(entry: MenuEntry, siblings: readonly MenuItem[]): boolean {
  const alike = siblings.filter(
    (other) => other.kind === "entry" && other.checked !== undefined && other.action?.do === entry.action?.do,
  );
  return alike.length > 1;
}

export interface MenuChange {
  /** Items were added, removed or moved. */
  readonly isLayoutChanged: boolean;
  /** Of items that existed before: the properties that have a new value, and those that are back to the default. */
  readonly changed: readonly { readonly id: number; readonly properties: Properties }[];
  readonly removed: readonly { readonly id: number; readonly names: readonly string[] }[];
}

export function compareLayouts(before: Layout, after: Layout): MenuChange {
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
  return { isLayoutChanged: shapeOf(before.root) !== shapeOf(after.root), changed, removed };
}

const shapeOf = (node: MenuNode): string => `${node.id}(${node.children.map(shapeOf).join()})`;

const { Interface, property, method, signal, ACCESS_READ } = dbusInterface;

const invalidArgs = "org.freedesktop.DBus.Error.InvalidArgs";

type Variants = Record<string, Variant>;
type WireItem = [id: number, properties: Variants, children: Variant[]];
type MenuEvent = readonly [id: number, event: string, data: unknown, timestamp: number];

export interface MenuOptions {
  readonly onAction: (action: UserAction) => void;
  /** The menu is about to open: a view that still waits must be shown now. */
  readonly onOpening: () => void;
}

/** With decorators, because the library's configureMembers exports objects without members. */
export class DbusMenu extends Interface {
  // What never changes.
  @property({ signature: "u", access: ACCESS_READ }) readonly Version = 3;
  @property({ signature: "s", access: ACCESS_READ }) readonly TextDirection = "ltr";
  @property({ signature: "s", access: ACCESS_READ }) readonly Status = "normal";
  @property({ signature: "as", access: ACCESS_READ }) readonly IconThemePath: string[] = [];

  #options: MenuOptions;
  #number = createNumbering();
  #layout = emptyLayout;
  #revision = 1;

  constructor(options: MenuOptions) {
    super("com.canonical.dbusmenu");
    this.#options = options;
  }

  show(items: readonly MenuItem[]): void {
    const before = this.#layout;
    this.#layout = this.#number(items);
    const { isLayoutChanged, changed, removed } = compareLayouts(before, this.#layout);
    if (changed.length > 0 || removed.length > 0) {
      this.ItemsPropertiesUpdated(
        changed.map(({ id, properties }) => [id, toVariants(properties)]),
        removed.map(({ id, names }) => [id, [...names]]),
      );
    }
    if (isLayoutChanged) this.LayoutUpdated(++this.#revision, 0);
  }

  @method({ inSignature: "iias", outSignature: "u(ia{sv}av)" })
  GetLayout(parent: number, depth: number, names: string[]): [number, WireItem] {
    const node = this.#layout.byId.get(parent);
    return [this.#revision, node ? formatItem(node, depth, names) : [parent, {}, []]];
  }

  @method({ inSignature: "aias", outSignature: "a(ia{sv})" })
  GetGroupProperties(ids: number[], names: string[]): [number, Variants][] {
    // Each id once, or a request that repeats an id would get an answer many times its size.
    const wanted = ids.length > 0 ? new Set(ids) : this.#layout.byId.keys();
    return [...wanted].flatMap((id): [number, Variants][] => {
      const node = this.#layout.byId.get(id);
      return node ? [[id, toVariants(node.properties, names)]] : [];
    });
  }

  @method({ inSignature: "is", outSignature: "v" })
  GetProperty(id: number, name: string): Variant {
    const properties = { ...propertyDefaults, ...this.#layout.byId.get(id)?.properties };
    const value = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (value === undefined) throw new DBusError(invalidArgs, "menu entries have no such property");
    return toVariant(value);
  }

  @method({ inSignature: "isvu" })
  Event(id: number, event: string, _data: unknown, _timestamp: number): void {
    this.#handle(id, event);
  }

  /** Returns the ids that are not in the menu. */
  @method({ inSignature: "a(isvu)", outSignature: "ai" })
  EventGroup(events: MenuEvent[]): number[] {
    const unknown = events.filter(([id]) => !this.#layout.byId.has(id)).map(([id]) => id);
    for (const [id, event] of events) this.#handle(id, event);
    return unknown;
  }

  @method({ inSignature: "i", outSignature: "b" })
  AboutToShow(_id: number): boolean {
    return this.#refresh();
  }

  @method({ inSignature: "ai", outSignature: "aiai" })
  AboutToShowGroup(ids: number[]): [number[], number[]] {
    const isChanged = this.#refresh();
    return [isChanged ? ids : [], ids.filter((id) => !this.#layout.byId.has(id))];
  }

  @signal({ signature: "a(ia{sv})a(ias)" })
  ItemsPropertiesUpdated(changed: [number, Variants][], removed: [number, string[]][]): unknown[] {
    return [changed, removed];
  }

  @signal({ signature: "ui" })
  LayoutUpdated(revision: number, parent: number): unknown[] {
    return [revision, parent];
  }

  @signal({ signature: "iu" })
  ItemActivationRequested(id: number, timestamp: number): unknown[] {
    return [id, timestamp];
  }

  #handle(id: number, event: string): void {
    const action = this.#layout.byId.get(id)?.action ?? null;
    if (event === "clicked" && action !== null) this.#options.onAction(action);
  }

  /** Returns whether the menu has changed. */
  #refresh(): boolean {
    const before = this.#revision;
    this.#options.onOpening();
    return this.#revision !== before;
  }
}

/** `depth`: how many levels of children, -1 for all. `names`: which properties, all if empty. */
function formatItem(node: MenuNode, depth: number, names: readonly string[]): WireItem {
  const children = depth === 0 ? [] : node.children;
  return [
    node.id,
    toVariants(node.properties, names),
    children.map((child) => new Variant("(ia{sv}av)", formatItem(child, depth - 1, names))),
  ];
}

function toVariants(properties: Properties, names: readonly string[] = []): Variants {
  const wanted = Object.entries(properties).filter(([name]) => names.length === 0 || names.includes(name));
  return Object.fromEntries(wanted.map(([name, value]) => [name, toVariant(value)]));
}

function toVariant(value: string | boolean | number): Variant {
  if (typeof value === "string") return new Variant("s", value);
  return typeof value === "boolean" ? new Variant("b", value) : new Variant("i", value);
}
