/** What a user sees of the script in the fake AppKit, and does with it. */
import type { FakeAppKit, ObjcObject } from "./fake-appkit.ts";

export interface VisibleRow {
  readonly label: string;
  readonly enabled: boolean;
  readonly checked: boolean;
  readonly rows: readonly (VisibleRow | "separator")[];
}

interface Frame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface VisiblePanel {
  readonly title: string;
  readonly body: string;
  readonly more: string;
  readonly buttons: readonly ObjcObject[];
  readonly frame: Frame;
  readonly isCloseButtonShown: boolean;
  readonly alpha: number;
  readonly window: ObjcObject;
  readonly clickArea: ObjcObject;
}

export function createFakeUser(appKit: FakeAppKit) {
  const statusItem = (): ObjcObject | undefined =>
    appKit.objects.findLast(
      ({ className, properties }) => className === "NSStatusItem" && properties.isInMenuBar === true,
    );

  const readRows = (menu: ObjcObject): (VisibleRow | "separator")[] =>
    menu.children.map(({ properties }) =>
      properties.isSeparator
        ? "separator"
        : {
            label: String(properties.title),
            enabled: properties.enabled === true,
            checked: properties.state === 1,
            rows: properties.submenu === undefined ? [] : readRows(properties.submenu as ObjcObject),
          },
    );
  const listItems = (menu: ObjcObject): ObjcObject[] =>
    menu.children.flatMap((item) =>
      item.properties.submenu === undefined
        ? [item]
        : [item, ...listItems(item.properties.submenu as ObjcObject)],
    );
  const findMenu = (): ObjcObject => {
    const menu = statusItem()?.properties.menu;
    if (menu === undefined) throw new Error("there is no icon to click on");
    return menu as ObjcObject;
  };

  /** From the top of the screen down. */
  const panels = (): VisiblePanel[] =>
    appKit.objects
      .filter(({ className, properties }) => className === "BeckonPanel" && properties.isShown === true)
      .map((window): VisiblePanel => {
        const views = (window.properties.contentView as ObjcObject).children;
        const [title, body, more] = views.filter(({ className }) => className === "NSTextField");
        const [, closeButton] = views.filter(({ className }) => className === "NSImageView");
        const clickArea = views.find(({ className }) => className === "BeckonClickArea");
        if (clickArea === undefined) throw new Error("a panel that cannot be clicked");
        return {
          title: String(title?.properties.stringValue),
          body: String(body?.properties.stringValue),
          more: String(more?.properties.stringValue),
          buttons: views.filter(({ className }) => className === "NSButton"),
          frame: window.properties.frame as Frame,
          isCloseButtonShown: closeButton?.properties.hidden === false,
          alpha: Number(window.properties.alphaValue),
          window,
          clickArea,
        };
      })
      .sort((a, b) => b.frame.y - a.frame.y);
  const findPanel = (title: string): VisiblePanel => {
    const panel = panels().find((each) => each.title === title);
    if (panel === undefined) throw new Error(`no panel ${title}: ${panels().map((each) => each.title)}`);
    return panel;
  };
  const createEvent = (x: number, y: number): unknown =>
    appKit.create("NSEvent", { location: { x, y } }).proxy;

  return {
    statusItem: () => statusItem()?.properties ?? null,
    statusButton: () => (statusItem()?.properties.button as ObjcObject | undefined)?.properties ?? null,
    openMenu() {
      const menu = findMenu();
      appKit.send(menu.properties.delegate as ObjcObject, "menuNeedsUpdate:", menu.proxy);
      return readRows(menu);
    },
    readMenu: () => readRows(findMenu()),
    chooseItem(label: string) {
      const item = listItems(findMenu()).find(({ properties }) => properties.title === label);
      if (item?.properties.target === undefined || item.properties.enabled !== true) {
        throw new Error(`cannot choose ${label}`);
      }
      appKit.send(item.properties.target as ObjcObject, String(item.properties.action), item.proxy);
    },
    panels,
    findPanel,
    enterPanel: (title: string) =>
      appKit.send(findPanel(title).clickArea, "mouseEntered:", createEvent(10, 10)),
    leavePanel: (title: string) =>
      appKit.send(findPanel(title).clickArea, "mouseExited:", createEvent(-1, -1)),
    click(title: string, at: { readonly x: number; readonly y: number } = { x: 100, y: 20 }) {
      const { clickArea } = findPanel(title);
      appKit.send(clickArea, "mouseDown:", createEvent(at.x, at.y));
      appKit.send(clickArea, "mouseUp:", createEvent(at.x, at.y));
    },
    /** A button by its label, with its middle. */
    findButton(title: string, label: string) {
      const button = findPanel(title).buttons.find(({ properties }) => properties.title === label);
      if (button === undefined) throw new Error(`no button ${label} on ${title}`);
      const { x, y, width, height } = button.properties.frame as Frame;
      return { x: x + width / 2, y: y + height / 2, button };
    },
    findCloseButton(title: string) {
      const { frame } = findPanel(title);
      return { x: frame.width - 16, y: frame.height - 16 };
    },
    fireTimers(selector: string) {
      for (const timer of appKit.timers.filter((each) => each.selector === selector && each.isValid())) {
        timer.fire();
      }
    },
  };
}
