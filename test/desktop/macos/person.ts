/** What a person sees of the script through the bridge, and does. */
import type { Bridge, Thing } from "./bridge.ts";

export interface SeenRow {
  readonly label: string;
  readonly enabled: boolean;
  readonly checked: boolean;
  readonly rows: readonly (SeenRow | "line")[];
}

export interface SeenPanel {
  readonly title: string;
  readonly body: string;
  readonly more: string;
  readonly buttons: readonly Thing[];
  readonly frame: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
  readonly isCrossShown: boolean;
  readonly alpha: number;
  readonly thing: Thing;
  readonly pointer: Thing;
}

export function person(bridge: Bridge) {
  const newest = (kind: string, isIt: (thing: Thing) => boolean = () => true): Thing | undefined =>
    bridge.things.findLast((thing) => thing.kind === kind && isIt(thing));
  const statusItem = (): Thing | undefined => newest("NSStatusItem", ({ set }) => set.isThere === true);

  const rowsOf = (menu: Thing): (SeenRow | "line")[] =>
    menu.children.map(({ set }) =>
      set.isSeparator
        ? "line"
        : {
            label: String(set.title),
            enabled: set.enabled === true,
            checked: set.state === 1,
            rows: set.submenu === undefined ? [] : rowsOf(set.submenu as Thing),
          },
    );
  const itemsOf = (menu: Thing): Thing[] =>
    menu.children.flatMap((item) =>
      item.set.submenu === undefined ? [item] : [item, ...itemsOf(item.set.submenu as Thing)],
    );
  const menu = (): Thing => {
    const found = statusItem()?.set.menu;
    if (found === undefined) throw new Error("there is no icon to click on");
    return found as Thing;
  };

  const panels = (): SeenPanel[] =>
    bridge.things
      .filter(({ kind, set }) => kind === "BeckonPanel" && set.isShown === true)
      .map((thing) => {
        const views = (thing.set.contentView as Thing).children;
        const [title, body, more] = views.filter(({ kind }) => kind === "NSTextField");
        const [, cross] = views.filter(({ kind }) => kind === "NSImageView");
        const pointer = views.find(({ kind }) => kind === "BeckonPointer");
        if (pointer === undefined) throw new Error("a panel that cannot be clicked");
        return {
          title: String(title?.set.stringValue),
          body: String(body?.set.stringValue),
          more: String(more?.set.stringValue),
          buttons: views.filter(({ kind }) => kind === "NSButton"),
          frame: thing.set.frame as SeenPanel["frame"],
          isCrossShown: cross?.set.hidden === false,
          alpha: Number(thing.set.alphaValue),
          thing,
          pointer,
        };
      })
      .sort((one, other) => other.frame.y - one.frame.y);
  const panel = (title: string): SeenPanel => {
    const found = panels().find((one) => one.title === title);
    if (found === undefined) throw new Error(`no panel ${title}: ${panels().map((one) => one.title)}`);
    return found;
  };
  const event = (x: number, y: number): unknown => bridge.make("NSEvent", { location: { x, y } }).proxy;
  const delegate = (): Thing => menu().set.delegate as Thing;

  return {
    icon: () => statusItem()?.set ?? null,
    statusButton: () => (statusItem()?.set.button as Thing | undefined)?.set ?? null,
    openMenu() {
      bridge.send(delegate(), "menuNeedsUpdate:", menu().proxy);
      return rowsOf(menu());
    },
    menuAsItStands: () => rowsOf(menu()),
    choose(label: string) {
      const item = itemsOf(menu()).find(({ set }) => set.title === label);
      if (item?.set.target === undefined || item.set.enabled !== true)
        throw new Error(`cannot choose ${label}`);
      bridge.send(item.set.target as Thing, String(item.set.action), item.proxy);
    },
    panels,
    panel,
    pointAt: (title: string) => bridge.send(panel(title).pointer, "mouseEntered:", event(10, 10)),
    pointAway: (title: string) => bridge.send(panel(title).pointer, "mouseExited:", event(-1, -1)),
    press(title: string, at: { readonly x: number; readonly y: number } = { x: 100, y: 20 }) {
      const { pointer } = panel(title);
      bridge.send(pointer, "mouseDown:", event(at.x, at.y));
      bridge.send(pointer, "mouseUp:", event(at.x, at.y));
    },
    /** The middle of a button, by its words. */
    button(title: string, label: string) {
      const found = panel(title).buttons.find(({ set }) => set.title === label);
      if (found === undefined) throw new Error(`no button ${label} on ${title}`);
      const { x, y, width, height } = found.set.frame as SeenPanel["frame"];
      return { x: x + width / 2, y: y + height / 2, thing: found };
    },
    /** The corner where the cross is. */
    cross(title: string) {
      const { frame } = panel(title);
      return { x: frame.width - 16, y: frame.height - 16 };
    },
    timePasses(selector: string) {
      for (const timer of bridge.timers.filter((one) => one.selector === selector && one.isValid()))
        timer.fire();
    },
  };
}
