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
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Message, MessageType } from "@jellybrick/dbus-next";
import fc from "fast-check";
import type { UserAction } from "../../src/core/config/user-action.ts";
import type { MenuItem } from "../../src/core/view/view.ts";
import { type Bus, connectBus, ownerChanges } from "../../src/desktop/dbus.ts";
import { DbusMenu } from "../../src/desktop/tray/dbusmenu.ts";
import { changeBetween, createNumbering, type Layout } from "../../src/desktop/tray/dbusmenu-layout.ts";
import { latest } from "../../src/desktop/tray/latest.ts";
import { noView } from "../../src/desktop/tray/no-view.ts";
import { createPanelIcon } from "../../src/desktop/tray/panel.ts";
import { StatusItem } from "../../src/desktop/tray/sni.ts";
import { removeHelperIcons } from "../../src/desktop/tray/systray-helper.ts";
import { changedSlots, slotsOf } from "../../src/desktop/tray/systray-slots.ts";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import { type PrivateBus, startBus } from "./private-bus.ts";
import { entry, separator } from "./tray-app.ts";

const labelsOf = ({ root }: Layout) => root.children.map(({ properties }) => properties.label ?? "—");

describe("the menu in numbers", () => {
  test("an entry keeps its number while it means the same, whatever its words and what comes or goes around it", () => {
    const number = createNumbering();
    const [a, b] = number([entry("a", "one"), entry("b", "two")]).root.children;
    const [, a2, , b2] = number(["n", "a", "m", "b"].map((id) => entry(id, `${id}, 3 min`))).root.children;
    expect([a2?.id, b2?.id]).toEqual([a?.id, b?.id]);
    const [b3] = number([entry("b", "two")]).root.children;
    expect(b3?.id).toBe(b?.id ?? -1);
  });

  test("the entries below one that moves up keep theirs: who points at one of them is not disturbed", () => {
    const number = createNumbering();
    const ids = (of: string) => number([...of].map((id) => entry(id, id))).root.children.map(({ id }) => id);
    const [h, w, , , , y, z] = ids("hwnxdyz");
    const after = ids("hwdnyz");
    expect([after[0], after[1], after[4], after[5]]).toEqual([h, w, y, z]);
  });

  test("a number is never another entry's later, so a late click hits what it meant or nothing", () => {
    const number = createNumbering();
    const gone = number([entry("a", "one")]).root.children[0]?.id;
    const later = number([entry("b", "two")]);
    expect(later.byId.has(gone ?? 0)).toBe(false);
    expect(number([entry("a", "one")]).root.children[0]?.id).not.toBe(gone);
  });

  test("underscores are shown, not underlines", () => {
    expect(labelsOf(createNumbering()([entry("a", "my_web__app"), separator("s")]))).toEqual([
      "my__web____app",
      "—",
    ]);
  });

  test("a choice of several is round, a switch alone is square; what only tells is grey", () => {
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

  test("new words are no new layout", () => {
    const number = createNumbering();
    const before = number([entry("a", "1 min", { checked: true }), entry("b", "two")]);
    const after = number([entry("a", "2 min"), entry("b", "two")]);
    const id = after.root.children[0]?.id ?? -1;
    expect(changeBetween(before, after)).toEqual({
      isLayoutNew: false,
      changed: [{ id, properties: { label: "2 min" } }],
      removed: [{ id, names: ["toggle-type", "toggle-state"] }],
    });
    expect(changeBetween(after, after)).toEqual({ isLayoutNew: false, changed: [], removed: [] });
    expect(changeBetween(after, number([entry("b", "two"), entry("a", "2 min")])).isLayoutNew).toBe(true);
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

  test("whatever the menus: numbers are unique, and a panel that follows the changes has the last one", () => {
    fc.assert(
      fc.property(fc.array(items(3), { minLength: 2, maxLength: 6 }), (menus) => {
        const number = createNumbering();
        let before = number([]);
        let known = new Map<number, Record<string, unknown>>(
          [...before.byId].map(([id, node]) => [id, { ...node.properties }]),
        );
        for (const menu of menus) {
          const after = number(menu);
          const { isLayoutNew, changed, removed } = changeBetween(before, after);
          for (const { id, properties } of changed) Object.assign(known.get(id) ?? {}, properties);
          for (const { id, names } of removed) for (const name of names) delete known.get(id)?.[name];
          if (isLayoutNew)
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

describe("GNOME's panel, which takes in and removes entries but does not move them", () => {
  /** As its AppIndicator extension (46) does: in this order, with handlers for moves that find nothing to move. */
  function follow(shown: readonly number[], known: readonly number[], wanted: readonly number[]): number[] {
    const view = [...shown];
    wanted.forEach((id, index) => {
      if (!known.includes(id)) view.splice(index, 0, id);
    });
    return view.filter((id) => wanted.includes(id) || !known.includes(id));
  }

  test("shows every menu in its order, whatever came before", () => {
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
          shown = follow(shown, known, wanted);
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

  test("its tooltip says the title once, and the rest as text", () => {
    const title = "beckon: 1 needs you";
    item.show({ ...noView, title, tooltip: `${title}\nweb: <b>Bash</b> & more` });
    expect(item.ToolTip).toEqual(["", [], title, "web: &lt;b&gt;Bash&lt;/b&gt; &amp; more"]);
    item.show({ ...noView, title, tooltip: title });
    expect(item.ToolTip).toEqual(["", [], title, ""]);
  });

  test("asks for attention, and a click goes to who waits, only while somebody does", () => {
    item.show(noView);
    item.Activate(0, 0);
    expect(item).toMatchObject({ Status: "Active", ItemIsMenu: true });
    expect(actions).toEqual([]);
    item.show({ ...noView, icon: { phase: "blocked", count: 1 } });
    item.Activate(0, 0);
    expect(item).toMatchObject({ Status: "NeedsAttention", ItemIsMenu: false });
    expect(actions).toEqual([{ do: "next" }]);
  });
});

test("of many views the first is shown at once and then the newest, one per pause", async () => {
  const shown: number[] = [];
  const views = latest((n: number) => shown.push(n), 30);
  for (let n = 0; n < 10_000; n++) views.set(n);
  expect(shown).toEqual([0]);
  await until(() => shown.length === 2, 1_000);
  expect(shown).toEqual([0, 9_999]);
  views.set(1);
  views.set(2);
  views.flush();
  expect(shown.at(-1)).toBe(2);
  views.set(3);
  views.stop();
  await Bun.sleep(60);
  expect(shown).not.toContain(3);
});

describe("the menu for systray2's helper", () => {
  const shown = (items: readonly MenuItem[], platform = "linux") =>
    slotsOf(items, platform).slots.flatMap((slot) =>
      slot.hidden
        ? []
        : [slot.title, ...(slot.items ?? []).flatMap(({ hidden, title }) => (hidden ? [] : ` ${title}`))],
    );

  test("every menu has the same places, so that nothing is ever added", () => {
    const ids = (items: readonly MenuItem[]) =>
      slotsOf(items, "linux").slots.flatMap(({ __id, items }) => [
        __id,
        ...(items ?? []).map((slot) => slot.__id),
      ]);
    const some = ids([entry("a", "one", { children: [entry("b", "two")] })]);
    expect(some).toEqual(ids([]));
    expect(new Set(some).size).toBe(some.length);
  });

  test("children of children stand below their parent, and separators are lines", () => {
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

  test("where not all of what is asked has a place, nobody can say yes to it", () => {
    const rows = (count: number) =>
      Array.from({ length: count }, (_, n) => entry(`r${n}`, `│ ${n}`, { action: null }));
    const titles = (count: number) => {
      const ask = [...rows(count), entry("yes", "Allow", { needsAll: true }), entry("no", "Deny")];
      const { slots } = slotsOf([entry("s", "shop", { children: ask })], "linux");
      return slots.flatMap(({ items = [] }) => items).flatMap(({ title, hidden }) => (hidden ? [] : [title]));
    };
    expect(titles(14)).toContain("Allow");
    expect(titles(15)).not.toContain("Allow");
    expect(titles(15)).toContain("Deny");
    expect(titles(40)).not.toContain("Allow");
  });

  test("a check is a mark in the words on Linux, where the helper has none, and goes with them", () => {
    const on = slotsOf([entry("a", "Mute", { checked: true })], "linux");
    const off = slotsOf([entry("a", "Mute", { checked: false })], "linux");
    expect(changedSlots(on.slots, off.slots).map(({ title }) => title)).toEqual(["Mute"]);
    expect(shown([entry("a", "Mute", { checked: true })])).toEqual(["✓ Mute"]);
    expect(shown([entry("a", "R&D", { checked: true })], "win32")).toEqual(["R&&D"]);
  });

  test("of too long a menu the middle is left out, and said to be; quit stays", () => {
    const long = Array.from({ length: 100 }, (_, n) => entry(`${n}`, `session ${n}`));
    const lines = shown([...long, entry("quit", "Quit")]);
    expect(lines).toHaveLength(40);
    expect(lines).toContain("… 62 more");
    expect(lines.at(-1)).toBe("Quit");
  });

  test("a click does what the line says now", () => {
    const { slots, actions } = slotsOf(
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

  testOnBus("as deep, from where, and with what a panel asks for", async () => {
    const { item: whole } = await layout(0, -1);
    const [one] = whole[2];
    expect(one?.value[2][0]?.value[1].label?.value).toBe("in__one");
    expect((await layout(0, 1)).item[2][0]?.value[2]).toEqual([]);
    expect((await layout(0, 0)).item[2]).toEqual([]);
    expect((await layout(one?.value[0] ?? -1, -1, ["label"])).item[1]).toEqual({
      label: expect.objectContaining({ value: "one" }),
    });
  });

  testOnBus("a panel that missed a new icon hears of it again", async () => {
    let told = 0;
    await panel.onSignal({ interface: "org.kde.StatusNotifierItem", member: "NewIcon" }, () => told++);
    const icon = createPanelIcon({
      address: () => daemon.env.DBUS_SESSION_BUS_ADDRESS,
      onAction: () => {},
      onPlace: () => {},
      onProblem: () => {},
    });
    expect(await icon.hasBus).toBe(true);
    icon.show({ ...noView, icon: { phase: "blocked", count: 1 } });
    await until(() => told === 1, 500);
    icon.show({ ...noView, icon: { phase: "blocked", count: 1 }, title: "the same icon" });
    await until(() => told === 2, 3_000);
    icon.stop();
  });

  testOnBus("ids that are not there are no error", async () => {
    expect((await layout(777, -1)).item).toEqual([777, {}, []]);
    expect(await call("GetGroupProperties", "aias", [777], [])).toEqual([[]]);
    expect(await call("GetProperty", "is", 777, "enabled")).toEqual([
      expect.objectContaining({ value: true }),
    ]);
    expect(await call("AboutToShow", "i", 777)).toEqual([false]);
    expect(await call("AboutToShowGroup", "ai", [0, 777])).toEqual([[], [777]]);
  });

  testOnBus(
    "a property that no entry has is refused in one line, whatever JavaScript calls by that name",
    async () => {
      for (const name of ["constructor", "__proto__", "toString", "icon-name", ""]) {
        const refused = await call("GetProperty", "is", 0, name).catch((error) => [error.type, error.text]);
        expect(refused).toEqual([
          "org.freedesktop.DBus.Error.InvalidArgs",
          "menu entries have no such property",
        ]);
      }
    },
  );

  testOnBus("an entry asked for a hundred thousand times is answered once", async () => {
    const ids = Array.from({ length: 100_000 }, () => 0);
    const [answer] = await call("GetGroupProperties", "aias", ids, []);
    expect(answer).toHaveLength(1);
  });

  testOnBus("a click does what its entry says, once, alone or with others", async () => {
    const { Variant } = await import("@jellybrick/dbus-next");
    const nothing = new Variant("s", "");
    const two = (await layout(0, 1)).item[2][1]?.value[0] ?? -1;
    await call("Event", "isvu", two, "hovered", nothing, 0);
    await call("Event", "isvu", 777, "clicked", nothing, 0);
    expect(actions).toEqual([]);
    await call("Event", "isvu", two, "clicked", nothing, 0);
    expect(
      await call("EventGroup", "a(isvu)", [
        [two, "clicked", nothing, 0],
        [777, "clicked", nothing, 0],
      ]),
    ).toEqual([[777]]);
    expect(actions).toEqual([
      { do: "focus", session: "c" },
      { do: "focus", session: "c" },
    ]);
  });

  testOnBus("new words are told as such, a new line as a new layout with the next revision", async () => {
    const heard: string[] = [];
    const match = { interface: "com.canonical.dbusmenu", path: "/menu", sender: ours.name };
    for (const member of ["LayoutUpdated", "ItemsPropertiesUpdated"])
      await panel.onSignal({ ...match, member }, (body) => heard.push(`${member} ${body[0]}`));
    const { revision } = await layout(0, 0);
    menu.show([entry("a", "ONE", { children: [entry("b", "in_one")] }), entry("c", "two")]);
    await until(() => heard.length === 1, 2_000);
    expect(heard[0]).toStartWith("ItemsPropertiesUpdated");
    menu.show([entry("a", "ONE"), entry("c", "two")]);
    await until(() => heard.length >= 2, 2_000);
    expect(heard.at(-1)).toBe(`LayoutUpdated ${Number(revision) + 1}`);
    expect((await layout(0, 0)).revision).toBe(Number(revision) + 1);
  });
});

describe("the session bus", () => {
  /** A program that has nothing but a connection to a bus, and ends it when it is told to. */
  const program = (address: string) =>
    Bun.spawn(
      [
        process.execPath,
        "-e",
        `const { connectBus } = await import(${JSON.stringify(join(import.meta.dir, "../../src/desktop/dbus.ts"))});
        const bus = await connectBus({ address: ${JSON.stringify(address)}, onEnd() {} }).catch(() => null);
        console.log(bus === null ? "none" : "connected");
        for await (const _ of Bun.stdin.stream());
        bus?.close();`,
      ],
      { stdio: ["pipe", "pipe", "inherit"], timeout: 10_000, killSignal: "SIGKILL" },
    );

  testWith("linux", "dbus-daemon")("a bus that hangs keeps no program from ending", async () => {
    const daemon = await startBus();
    try {
      const child = program(daemon.env.DBUS_SESSION_BUS_ADDRESS);
      expect(new TextDecoder().decode((await child.stdout.getReader().read()).value)).toBe("connected\n");
      daemon.hang();
      child.stdin.end();
      expect(await child.exited).toBe(0);
    } finally {
      await daemon.stop();
    }
  });

  testWith("linux")(
    "nor does one that takes the connection and never answers",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "beckon-mute-bus-"));
      const path = join(folder, "bus");
      // Half open: our end alone does not end it.
      const mute = createServer({ allowHalfOpen: true }, (socket) => socket.on("error", () => {}).resume());
      await new Promise<void>((resolve) => mute.listen(path, resolve));
      try {
        const child = program(`unix:path=${path}`);
        child.stdin.end();
        expect(await child.stdout.text()).toBe("none\n");
        expect(await child.exited).toBe(0);
      } finally {
        mute.close();
        rmSync(folder, { recursive: true, force: true });
      }
    },
    15_000,
  );

  testWith("linux", "dbus-daemon")(
    "what a stranger sends to us alone is not its service's word",
    async () => {
      const daemon = await startBus();
      try {
        const [service, stranger] = [await daemon.connect(), await daemon.connect()];
        const bus = await connectBus({ address: daemon.env.DBUS_SESSION_BUS_ADDRESS, onEnd: () => {} });
        const heard: unknown[] = [];
        const from = { sender: "a.b", interface: "a.b", member: "C" };
        await bus.onSignal(from, ([who]) => heard.push(who));
        await bus.onSignal({ ...ownerChanges, arg0: "a.b" }, ([, , owner]) => heard.push(owner));
        const say = async (who: typeof service, what: string) => {
          const head = { type: MessageType.SIGNAL, destination: bus.name };
          who.send(
            new Message({ ...head, path: "/", interface: "a.b", member: "C", signature: "s", body: [what] }),
          );
          const { path, interface: of, member } = ownerChanges;
          const lie = ["a.b", "", `lie of ${what}`];
          who.send(new Message({ ...head, path, interface: of, member, signature: "sss", body: lie }));
        };
        await say(stranger, "before anybody has the name");
        await service.requestName("a.b");
        await until(() => heard.length > 0, 2_000);
        await say(stranger, "stranger");
        await stranger.requestName("x.y");
        await say(service, "service");
        await until(() => heard.length > 1, 2_000);
        expect(heard).toEqual([service.name, "service"]);
        await service.releaseName("a.b");
        await stranger.requestName("a.b");
        await say(stranger, "its successor");
        await until(() => heard.length > 4, 2_000);
        expect(heard.slice(2)).toEqual(["", stranger.name, "its successor"]);
        bus.close();
      } finally {
        await daemon.stop();
      }
    },
  );

  testWith("linux", "dbus-daemon")(
    "a call to somebody who never answers fails in time, and at the bus's end at once",
    async () => {
      const daemon = await startBus();
      try {
        let ends = 0;
        const address = daemon.env.DBUS_SESSION_BUS_ADDRESS;
        const silent = await daemon.connect();
        silent.addMethodHandler(() => true);
        const bus = await connectBus({ address, onEnd: () => ends++ });
        const question = { destination: silent.name ?? "", path: "/", interface: "a.b", member: "C" };
        await expect(bus.call({ ...question, timeoutMs: 50 })).rejects.toThrow("a.b.C: no answer in time");
        // Not by expect: it would wait for the answer on the spot.
        const refused = bus.call(question).catch(String);
        await daemon.kill();
        expect(await refused).toContain("the session bus has ended");
        expect(ends).toBe(1);
        await expect(bus.call(question)).rejects.toThrow("the session bus has ended");
        await expect(connectBus({ address, onEnd: () => {} })).rejects.toThrow();
      } finally {
        await daemon.stop();
      }
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

  test("none: nothing happens", () => {
    removeHelperIcons(helper());
    expect(readdirSync(folder)).toEqual([]);
  });
});
