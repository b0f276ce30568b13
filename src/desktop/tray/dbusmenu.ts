/** com.canonical.dbusmenu: the menu that panels fetch, and the clicks they send. */
import { DBusError, interface as dbusInterface, Variant } from "@jellybrick/dbus-next";
import type { UserAction } from "../../core/config/user-action.ts";
import type { MenuItem } from "../../core/view/view.ts";
import {
  changeBetween,
  createNumbering,
  emptyLayout,
  type MenuNode,
  type Properties,
  propertyDefaults,
} from "./dbusmenu-layout.ts";

const { Interface, property, method, signal, ACCESS_READ } = dbusInterface;

const invalidArgs = "org.freedesktop.DBus.Error.InvalidArgs";

type Variants = Record<string, Variant>;
type Item = [id: number, properties: Variants, children: Variant[]];
type Clicked = readonly [id: number, event: string, data: unknown, timestamp: number];

export interface MenuOptions {
  readonly onAction: (action: UserAction) => void;
  /** A person is about to look: what waits to be shown is shown now. */
  readonly onOpening: () => void;
}

/** Decorators, because the library's other way (configureMembers) exports objects without members. */
export class DbusMenu extends Interface {
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
    const { isLayoutNew, changed, removed } = changeBetween(before, this.#layout);
    if (changed.length > 0 || removed.length > 0) {
      this.ItemsPropertiesUpdated(
        changed.map(({ id, properties }) => [id, variantsOf(properties)]),
        removed.map(({ id, names }) => [id, [...names]]),
      );
    }
    if (isLayoutNew) this.LayoutUpdated(++this.#revision, 0);
  }

  @property({ signature: "u", access: ACCESS_READ })
  get Version(): number {
    return 3;
  }

  @property({ signature: "s", access: ACCESS_READ })
  get TextDirection(): string {
    return "ltr";
  }

  @property({ signature: "s", access: ACCESS_READ })
  get Status(): string {
    return "normal";
  }

  @property({ signature: "as", access: ACCESS_READ })
  get IconThemePath(): string[] {
    return [];
  }

  @method({ inSignature: "iias", outSignature: "u(ia{sv}av)" })
  GetLayout(parent: number, depth: number, names: string[]): [number, Item] {
    const node = this.#layout.byId.get(parent);
    return [this.#revision, node ? itemOf(node, depth, names) : [parent, {}, []]];
  }

  @method({ inSignature: "aias", outSignature: "a(ia{sv})" })
  GetGroupProperties(ids: number[], names: string[]): [number, Variants][] {
    // Each once: a question of a few bytes an id would be answered with the whole entry for each.
    const wanted = ids.length > 0 ? new Set(ids) : this.#layout.byId.keys();
    return [...wanted].flatMap((id): [number, Variants][] => {
      const node = this.#layout.byId.get(id);
      return node ? [[id, variantsOf(node.properties, names)]] : [];
    });
  }

  @method({ inSignature: "is", outSignature: "v" })
  GetProperty(id: number, name: string): Variant {
    const properties = { ...propertyDefaults, ...this.#layout.byId.get(id)?.properties };
    const value = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (value === undefined) throw new DBusError(invalidArgs, "menu entries have no such property");
    return variantOf(value);
  }

  @method({ inSignature: "isvu" })
  Event(id: number, event: string, _data: unknown, _timestamp: number): void {
    this.#take(id, event);
  }

  /** Returns the ids that are not, or no longer, in the menu. */
  @method({ inSignature: "a(isvu)", outSignature: "ai" })
  EventGroup(events: Clicked[]): number[] {
    const unknown = events.filter(([id]) => !this.#layout.byId.has(id)).map(([id]) => id);
    for (const [id, event] of events) this.#take(id, event);
    return unknown;
  }

  @method({ inSignature: "i", outSignature: "b" })
  AboutToShow(_id: number): boolean {
    return this.#refresh();
  }

  @method({ inSignature: "ai", outSignature: "aiai" })
  AboutToShowGroup(ids: number[]): [number[], number[]] {
    const isNew = this.#refresh();
    return [isNew ? ids : [], ids.filter((id) => !this.#layout.byId.has(id))];
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

  #take(id: number, event: string): void {
    const action = this.#layout.byId.get(id)?.action ?? null;
    if (event === "clicked" && action !== null) this.#options.onAction(action);
  }

  #refresh(): boolean {
    const before = this.#revision;
    this.#options.onOpening();
    return this.#revision !== before;
  }
}

/** `depth`: how many levels of children, -1 for all. `names`: which properties, none for all. */
function itemOf(node: MenuNode, depth: number, names: readonly string[]): Item {
  const children = depth === 0 ? [] : node.children;
  return [
    node.id,
    variantsOf(node.properties, names),
    children.map((child) => new Variant("(ia{sv}av)", itemOf(child, depth - 1, names))),
  ];
}

function variantsOf(properties: Properties, names: readonly string[] = []): Variants {
  const wanted = Object.entries(properties).filter(([name]) => names.length === 0 || names.includes(name));
  return Object.fromEntries(wanted.map(([name, value]) => [name, variantOf(value)]));
}

function variantOf(value: string | boolean | number): Variant {
  if (typeof value === "string") return new Variant("s", value);
  return typeof value === "boolean" ? new Variant("b", value) : new Variant("i", value);
}
