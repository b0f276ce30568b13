import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { UserAction } from "../../src/core/config/user-action.ts";
import type { Schedule } from "../../src/core/interfaces/index.ts";
import { emptyView, type MenuItem, type TrayView } from "../../src/core/view/view.ts";
import { createThrottle } from "../../src/desktop/coalesce.ts";
import { type Bus, connectBus } from "../../src/desktop/dbus.ts";
import { compareLayouts, createNumbering, DbusMenu, type Layout } from "../../src/desktop/tray/dbusmenu.ts";
import { createPanelIcon } from "../../src/desktop/tray/panel.ts";
import { StatusItem } from "../../src/desktop/tray/sni.ts";
import { removeHelperIcons } from "../../src/desktop/tray/systray-helper.ts";
import { createSlots, findChangedSlots } from "../../src/desktop/tray/systray-slots.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { type PrivateBus, startBus } from "./private-bus.ts";
import { entry, separator } from "./tray-app.ts";

const readLabels = ({ root }: Layout) => root.children.map(({ properties }) => properties.label ?? "—");

describe("the numbers of menu entries", () => {
  test("an entry keeps its number when its label changes, or others are added and removed around it", () => {
    const number = createNumbering();
    const [a, b] = number([entry("a", "one"), entry("b", "two")]).root.children;
    const [, a2, , b2] = number(["n", "a", "m", "b"].map((id) => entry(id, `${id}, 3 min`))).root.children;
    expect([a2?.id, b2?.id]).toEqual([a?.id, b?.id]);
    const [b3] = number([entry("b", "two")]).root.children;
    expect(b3?.id).toBe(b?.id ?? -1);
  });

  test("the entries below one that moves up keep their numbers, so the highlighted one stays", () => {
    const number = createNumbering();
    const ids = (of: string) => number([...of].map((id) => entry(id, id))).root.children.map(({ id }) => id);
    const [h, w, , , , y, z] = ids("hwnxdyz");
    const after = ids("hwdnyz");
    expect([after[0], after[1], after[4], after[5]]).toEqual([h, w, y, z]);
  });

  test("a number is never reused, so a late click does what it meant or nothing", () => {
    const number = createNumbering();
    const gone = number([entry("a", "one")]).root.children[0]?.id;
    const later = number([entry("b", "two")]);
    expect(later.byId.has(gone ?? 0)).toBe(false);
    expect(number([entry("a", "one")]).root.children[0]?.id).not.toBe(gone);
  });

  test("underscores are shown as underscores", () => {
    expect(readLabels(createNumbering()([entry("a", "my_web__app"), separator("s")]))).toEqual([
      "my__web____app",
      "—",
    ]);
  });

  test("a choice has radio buttons, a switch a check mark, and a heading is disabled", () => {
    const quiet = (mode: "off" | "hour") =>
      ({ action: { do: "quiet", mode }, checked: mode === "off" }) as const;
    const { root } = createNumbering()([
      entry("off", "Off", quiet("off")),
      entry("hour", "For an hour", quiet("hour")),
      entry("mute", "Mute", { checked: true, action: { do: "mute", session: "s", on: false } }),
      entry("head", "2 need you", { action: null }),
    ]);
    expect(root.children.map(({ properties }) => properties)).toEqual([
      { label: "Off", enabled: true, "toggle-type": "radio", "toggle-state": 1 },
      { label: "For an hour", enabled: true, "toggle-type": "radio", "toggle-state": 0 },
      { label: "Mute", enabled: true, "toggle-type": "checkmark", "toggle-state": 1 },
      { label: "2 need you", enabled: false },
    ]);
  });

  test("a new label does not change the layout", () => {
    const number = createNumbering();
    const before = number([entry("a", "1 min", { checked: true }), entry("b", "two")]);
    const after = number([entry("a", "2 min"), entry("b", "two")]);
    const id = after.root.children[0]?.id ?? -1;
    expect(compareLayouts(before, after)).toEqual({
      isLayoutChanged: false,
      changed: [{ id, properties: { label: "2 min" } }],
      removed: [{ id, names: ["toggle-type", "toggle-state"] }],
    });
    expect(compareLayouts(after, after)).toEqual({ isLayoutChanged: false, changed: [], removed: [] });
    expect(compareLayouts(after, number([entry("b", "two"), entry("a", "2 min")])).isLayoutChanged).toBe(
      true,
    );
  });

  const items: fc.Memo<MenuItem[]> = fc.memo((depth) =>
    fc.array(
      fc.oneof(
        fc.constantFrom("s", "t").map(separator),
        fc
          .record({
            id: fc.constantFrom(..."abcdef"),
            label: fc.string(),
            children: depth > 1 ? items() : fc.constant([]),
          })
          .map(({ id, label, children }) => entry(id, label, { children })),
      ),
      { maxLength: 5 },
    ),
  );

  test("for any menus, a panel that applies the changes shows the last one", () => {
    fc.assert(
      fc.property(fc.array(items(3), { minLength: 2, maxLength: 6 }), (menus) => {
        const number = createNumbering();
        let before = number([]);
        let known = new Map<number, Record<string, unknown>>(
          [...before.byId].map(([id, node]) => [id, { ...node.properties }]),
        );
        for (const menu of menus) {
          const after = number(menu);
          const { isLayoutChanged, changed, removed } = compareLayouts(before, after);
          for (const { id, properties } of changed) Object.assign(known.get(id) ?? {}, properties);
          for (const { id, names } of removed) for (const name of names) delete known.get(id)?.[name];
          if (isLayoutChanged)
            known = new Map(
              [...after.byId].map(([id, node]) => [id, known.get(id) ?? { ...node.properties }]),
            );
          expect(known).toEqual(new Map([...after.byId].map(([id, node]) => [id, { ...node.properties }])));
          before = after;
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("GNOME's panel, which adds and removes entries but does not move them", () => {
  /** As its AppIndicator extension (46) does: it adds, then removes, and never moves. */
  function applyLikeGnome(
    shown: readonly number[],
    known: readonly number[],
    wanted: readonly number[],
  ): number[] {
    const view = [...shown];
    wanted.forEach((id, index) => {
      if (!known.includes(id)) view.splice(index, 0, id);
    });
    return view.filter((id) => wanted.includes(id) || !known.includes(id));
  }

  test("shows the entries of any menu in order", () => {
    const menus = fc.array(fc.uniqueArray(fc.constantFrom(..."abcdefgh"), { maxLength: 8 }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(menus, (orders) => {
        const number = createNumbering();
        let known: number[] = [];
        let shown: number[] = [];
        for (const order of orders) {
          const wanted = number(order.map((id) => entry(id, id))).root.children.map(({ id }) => id);
          shown = applyLikeGnome(shown, known, wanted);
          expect(shown).toEqual(wanted);
          known = wanted;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("the icon", () => {
  const actions: UserAction[] = [];
  const item = new StatusItem({
    onAction: (action) => actions.push(action),
    onOpening: () => {},
    menuPath: "/menu",
  });

  test("has the title once in its tooltip, and the rest as plain text", () => {
    const title = "beckon: 1 needs you";
    item.show({ ...emptyView, title, tooltip: `${title}\nweb: <b>Bash</b> & more` });
    expect(item.ToolTip).toEqual(["", [], title, "web: &lt;b&gt;Bash&lt;/b&gt; &amp; more"]);
    item.show({ ...emptyView, title, tooltip: title });
    expect(item.ToolTip).toEqual(["", [], title, ""]);
  });

  test("needs attention, and a middle click goes to the next session, only while one is blocked", () => {
    item.show(emptyView);
    item.SecondaryActivate(0, 0);
    expect(item.Status).toBe("Active");
    expect(actions).toEqual([]);
    item.show({ ...emptyView, icon: { phase: "blocked", count: 1 } });
    item.SecondaryActivate(0, 0);
    expect(item.Status).toBe("NeedsAttention");
    expect(actions).toEqual([{ do: "next" }]);
  });

  test("opens the menu with a left click, or goes to the next session if the user set that", () => {
    const blocked = { ...emptyView, icon: { phase: "blocked", count: 1 } } as const;
    const isMenu = (view: TrayView) => {
      item.show(view);
      return item.ItemIsMenu;
    };
    expect([isMenu(emptyView), isMenu(blocked)]).toEqual([true, true]);
    const leftClick = "nextWaiting";
    expect([isMenu({ ...emptyView, leftClick }), isMenu({ ...blocked, leftClick })]).toEqual([true, false]);
    actions.length = 0;
    item.Activate(0, 0);
    expect(actions).toEqual([{ do: "next" }]);
  });
});

test("of many views the first one is shown at once, and then the newest one after each pause", () => {
  const shown: number[] = [];
  const timers: (() => void)[] = [];
  const schedule: Schedule = (work) => {
    timers.push(work);
    return () => void timers.splice(timers.indexOf(work), 1);
  };
  const views = createThrottle((n: number) => shown.push(n), 30, schedule);
  for (let n = 0; n < 10_000; n++) views.set(n);
  expect(shown).toEqual([0]);
  timers.shift()?.();
  expect(shown).toEqual([0, 9_999]);
  views.set(1);
  views.set(2);
  views.flush();
  expect(shown).toEqual([0, 9_999, 2]);
  views.set(3);
  views.stop();
  expect(timers).toEqual([]);
  expect(shown).toEqual([0, 9_999, 2]);
});

describe("the menu for systray2's helper", () => {
  const shown = (items: readonly MenuItem[], platform = "linux") =>
    createSlots(items, platform).slots.flatMap((slot) =>
      slot.hidden
        ? []
        : [slot.title, ...(slot.items ?? []).flatMap(({ hidden, title }) => (hidden ? [] : ` ${title}`))],
    );

  test("every menu has the same slots, so that none is ever added", () => {
    const ids = (items: readonly MenuItem[]) =>
      createSlots(items, "linux").slots.flatMap(({ __id, items }) => [
        __id,
        ...(items ?? []).map((slot) => slot.__id),
      ]);
    const some = ids([entry("a", "one", { children: [entry("b", "two")] })]);
    expect(some).toEqual(ids([]));
    expect(new Set(some).size).toBe(some.length);
  });

  test("children of children are indented below their parent, and separators are lines", () => {
    const child = entry("c", "Explore", {
      children: [entry("d", "Focus"), separator("t"), entry("e", "Mute")],
    });
    expect(shown([entry("a", "one", { children: [child] }), separator("s"), entry("b", "two")])).toEqual([
      "one",
      " Explore",
      "     Focus",
      " ────────────",
      "     Mute",
      "────────────",
      "two",
    ]);
  });

  test("Allow is not offered if part of what it allows is cut off", () => {
    const rows = (count: number) =>
      Array.from({ length: count }, (_, n) => entry(`r${n}`, `│ ${n}`, { action: null }));
    const titles = (count: number) => {
      const ask = [...rows(count), entry("yes", "Allow", { needsAll: true }), entry("no", "Deny")];
      const { slots } = createSlots([entry("s", "shop", { children: ask })], "linux");
      return slots.flatMap(({ items = [] }) => items).flatMap(({ title, hidden }) => (hidden ? [] : [title]));
    };
    expect(titles(22)).toContain("Allow");
    expect(titles(23)).not.toContain("Allow");
    expect(titles(23)).toContain("Deny");
    expect(titles(40)).not.toContain("Allow");
  });

  test("Allow stays where only commands below the answers are cut off", () => {
    const rows = Array.from({ length: 15 }, (_, n) => entry(`r${n}`, `│ ${n}`, { action: null }));
    const answers = [entry("yes", "Allow", { needsAll: true }), entry("no", "Deny")];
    const commands = Array.from({ length: 12 }, (_, n) => entry(`c${n}`, `Command ${n}`));
    const lines = shown([entry("s", "shop", { children: [...rows, ...answers, ...commands] })]);
    expect(lines.slice(15)).toEqual([
      " │ 14",
      " Allow",
      " Deny",
      ...[0, 1, 2, 3, 4, 5].map((n) => ` Command ${n}`),
      " … 6 more",
    ]);
  });

  test("on Linux, where the helper has no check marks, one is part of the label", () => {
    const on = createSlots([entry("a", "Mute", { checked: true })], "linux");
    const off = createSlots([entry("a", "Mute", { checked: false })], "linux");
    expect(findChangedSlots(on.slots, off.slots).map(({ title }) => title)).toEqual(["Mute"]);
    expect(shown([entry("a", "Mute", { checked: true })])).toEqual(["✓ Mute"]);
    expect(shown([entry("a", "R&D", { checked: true })], "win32")).toEqual(["R&&D"]);
  });

  test("a menu that is too long says how many entries it leaves out, and keeps Quit", () => {
    const long = Array.from({ length: 100 }, (_, n) => entry(`${n}`, `session ${n}`));
    const lines = shown([...long, entry("quit", "Quit")]);
    expect(lines).toHaveLength(40);
    expect(lines).toContain("… 62 more");
    expect(lines.at(-1)).toBe("Quit");
  });

  test("a click does what the entry says now", () => {
    const { slots, actions } = createSlots(
      [entry("a", "one"), entry("b", "two", { children: [entry("c", "x")] })],
      "linux",
    );
    const id = (title: string) => slots.find((slot) => slot.title === title && !slot.hidden)?.__id ?? -1;
    expect(actions.get(id("one"))).toEqual({ do: "focus", session: "a" });
    expect(actions.get(9_999)).toBeUndefined();
  });
});

describe("the menu on the bus", () => {
  const testOnBus = testWith("linux", "dbus-daemon");
  let daemon: PrivateBus;
  let ours: Bus;
  let panel: Bus;
  const actions: UserAction[] = [];
  const menu = new DbusMenu({ onAction: (action) => actions.push(action), onOpening: () => {} });

  beforeAll(async () => {
    if (Bun.which("dbus-daemon") === null) return;
    daemon = await startBus();
    const connect = () => connectBus({ address: daemon.env.DBUS_SESSION_BUS_ADDRESS, onEnd: () => {} });
    [ours, panel] = await Promise.all([connect(), connect()]);
    ours.export("/menu", menu);
    menu.show([entry("a", "one", { children: [entry("b", "in_one")] }), entry("c", "two")]);
  });
  afterAll(async () => {
    ours?.close();
    panel?.close();
    await daemon?.stop();
  });

  const call = (member: string, signature: string, ...body: unknown[]) =>
    panel.call({
      destination: ours.name,
      path: "/menu",
      interface: "com.canonical.dbusmenu",
      member,
      signature,
      body,
    });
  type Item = [number, Record<string, { value: unknown }>, { value: Item }[]];
  const layout = async (parent: number, depth: number, names: string[] = []) => {
    const [revision, item] = await call("GetLayout", "iias", parent, depth, names);
    return { revision, item: item as Item };
  };

  testOnBus("a panel gets the levels, the part and the properties that it asks for", async () => {
    const { item: whole } = await layout(0, -1);
    const [one] = whole[2];
    expect(one?.value[2][0]?.value[1].label?.value).toBe("in__one");
    expect((await layout(0, 1)).item[2][0]?.value[2]).toEqual([]);
    expect((await layout(0, 0)).item[2]).toEqual([]);
    expect((await layout(one?.value[0] ?? -1, -1, ["label"])).item[1]).toEqual({
      label: expect.objectContaining({ value: "one" }),
    });
  });

  testOnBus("a new icon is signalled a second time, for a panel that missed it", async () => {
    let signals = 0;
    await panel.onSignal({ interface: "org.kde.StatusNotifierItem", member: "NewIcon" }, () => signals++);
    const icon = createPanelIcon({
      address: () => daemon.env.DBUS_SESSION_BUS_ADDRESS,
      onAction: () => {},
      onShown: () => {},
      onProblem: () => {},
    });
    expect(await icon.hasBus).toBe(true);
    icon.show({ ...emptyView, icon: { phase: "blocked", count: 1 } });
    await waitUntil(() => signals === 1, 5_000);
    icon.show({ ...emptyView, icon: { phase: "blocked", count: 1 }, title: "the same icon" });
    await waitUntil(() => signals === 2, 10_000);
    icon.stop();
  });

  testOnBus("unknown ids are not an error", async () => {
    expect((await layout(777, -1)).item).toEqual([777, {}, []]);
    expect(await call("GetGroupProperties", "aias", [777], [])).toEqual([[]]);
    expect(await call("GetProperty", "is", 777, "enabled")).toEqual([
      expect.objectContaining({ value: true }),
    ]);
    expect(await call("AboutToShow", "i", 777)).toEqual([false]);
    expect(await call("AboutToShowGroup", "ai", [0, 777])).toEqual([[], [777]]);
  });

  testOnBus("an unknown property is an error, also if JavaScript objects have one of that name", async () => {
    for (const name of ["constructor", "__proto__", "toString", "icon-name", ""]) {
      const error = await call("GetProperty", "is", 0, name).catch(({ type, text }) => [type, text]);
      expect(error).toEqual(["org.freedesktop.DBus.Error.InvalidArgs", "menu entries have no such property"]);
    }
  });

  testOnBus("a request that repeats an id a hundred thousand times is answered once", async () => {
    const ids = Array.from({ length: 100_000 }, () => 0);
    const [answer] = await call("GetGroupProperties", "aias", ids, []);
    expect(answer).toHaveLength(1);
  });

  testOnBus("a click does what its entry says, once, alone or in a group", async () => {
    const { Variant } = await import("@jellybrick/dbus-next");
    const noData = new Variant("s", "");
    const two = (await layout(0, 1)).item[2][1]?.value[0] ?? -1;
    await call("Event", "isvu", two, "hovered", noData, 0);
    await call("Event", "isvu", 777, "clicked", noData, 0);
    expect(actions).toEqual([]);
    await call("Event", "isvu", two, "clicked", noData, 0);
    expect(
      await call("EventGroup", "a(isvu)", [
        [two, "clicked", noData, 0],
        [777, "clicked", noData, 0],
      ]),
    ).toEqual([[777]]);
    expect(actions).toEqual([
      { do: "focus", session: "c" },
      { do: "focus", session: "c" },
    ]);
  });

  testOnBus(
    "a new label is signalled as a property, a new entry as a layout with the next revision",
    async () => {
      const signals: string[] = [];
      const match = { interface: "com.canonical.dbusmenu", path: "/menu", sender: ours.name };
      for (const member of ["LayoutUpdated", "ItemsPropertiesUpdated"])
        await panel.onSignal({ ...match, member }, (body) => signals.push(`${member} ${body[0]}`));
      const { revision } = await layout(0, 0);
      menu.show([entry("a", "ONE", { children: [entry("b", "in_one")] }), entry("c", "two")]);
      await waitUntil(() => signals.length === 1, 10_000);
      expect(signals[0]).toStartWith("ItemsPropertiesUpdated");
      menu.show([entry("a", "ONE"), entry("c", "two")]);
      await waitUntil(() => signals.length >= 2, 10_000);
      expect(signals.at(-1)).toBe(`LayoutUpdated ${Number(revision) + 1}`);
      expect((await layout(0, 0)).revision).toBe(Number(revision) + 1);
    },
  );
});

describe("the icon files that systray2's helper leaves", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "beckon-icons-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const helper = () => join(folder, "tray_helper");
  const icons = () => join(folder, "icons");

  test("are removed, and other files are not", () => {
    mkdirSync(join(icons(), "systray_folder"), { recursive: true });
    for (const name of ["systray_a1B2c3", "systray_temp_icon_0f", "notes.txt"]) {
      writeFileSync(join(icons(), name), "");
    }
    removeHelperIcons(helper());
    expect(readdirSync(icons()).sort()).toEqual(["notes.txt", "systray_folder"]);
  });

  test("a link among them, or in place of their folder, is removed without touching its target", () => {
    const target = join(folder, "other");
    mkdirSync(target);
    writeFileSync(join(target, "systray_file"), "precious");
    mkdirSync(icons());
    symlinkSync(join(target, "systray_file"), join(icons(), "systray_link"));
    symlinkSync(target, join(icons(), "systray_folder"));
    removeHelperIcons(helper());
    expect(readdirSync(icons())).toEqual([]);
    rmSync(icons(), { recursive: true });
    symlinkSync(target, icons());
    removeHelperIcons(helper());
    expect(existsSync(icons())).toBe(false);
    expect(readFileSync(join(target, "systray_file"), "utf8")).toBe("precious");
  });

  test("do not have to exist", () => {
    removeHelperIcons(helper());
    expect(readdirSync(folder)).toEqual([]);
  });
});
