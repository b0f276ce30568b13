import { beforeEach, describe, expect, test } from "bun:test";
import { encode, type ViewMessage } from "../../src/desktop/macos/protocol.ts";
import { startScript, view } from "./macos/running.ts";

let { bridge, machine, said, exits, someone, tell, heard } = startScript();
beforeEach(() => {
  ({ bridge, machine, said, exits, someone, tell, heard } = startScript());
});

describe("at the start", () => {
  test("it says that it is ready, without a Dock icon, and listens also while a menu is open", () => {
    expect(heard("ready")).toEqual([{ is: "ready", version: 1, system: "Version 15.0 (Build 24A335)" }]);
    const app = bridge.things.find(({ kind }) => kind === "NSApplication");
    expect(app?.set.activationPolicy).toBe(1);
    expect(bridge.calls).toContainEqual([
      "waitForDataInBackgroundAndNotifyForModes:",
      ["kCFRunLoopDefaultMode", "NSEventTrackingRunLoopMode"],
    ]);
    // Not slowed down for having no window; the Mac itself may sleep.
    expect(bridge.calls).toContainEqual(["beginActivity", 0x00efffff]);
  });

  test("no empty icon is there before there is something to show", () => {
    expect(someone.icon()).toBeNull();
  });

  test("the app that was active stays it, and later ones are left alone", () => {
    machine.now += 1_000;
    bridge.notify("NSApplicationDidBecomeActiveNotification");
    expect(bridge.calls.filter(([name]) => name === "activateWithOptions:")).toHaveLength(1);
    machine.now += 60_000;
    bridge.notify("NSApplicationDidBecomeActiveNotification");
    expect(bridge.calls.filter(([name]) => name === "activateWithOptions:")).toHaveLength(1);
  });
});

describe("it ends", () => {
  test("when its input ends", () => {
    bridge.input(null);
    expect(exits).toEqual([0]);
  });

  test("when it has another parent, though its input is held open", () => {
    someone.timePasses("look:");
    expect(exits).toEqual([]);
    machine.parent = 1;
    someone.timePasses("look:");
    expect(exits).toEqual([0]);
  });

  test("when beckon died before it was up", () => {
    expect(startScript({ parent: 1 }).exits).toEqual([0]);
  });
});

describe("what comes in", () => {
  test("in pieces of any length, several lines at once or a line in many", async () => {
    const text = [
      { do: "ping", batch: 1 } as const,
      view(2, [{ label: "Zürich – 猫 “quoted” 👋", id: "a" }]),
      { do: "ping", batch: 2 } as const,
    ]
      .map(encode)
      .join("");
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    for (const character of text) bridge.input(character);
    while (heard("pong").length < 2) await Bun.sleep(1);
    expect(heard("pong")).toEqual([
      { is: "pong", batch: 1 },
      { is: "pong", batch: 2 },
    ]);
    expect(someone.openMenu()).toMatchObject([{ label: "Zürich – 猫 “quoted” 👋" }]);
  });

  test("what it cannot read is told, and the next line is obeyed", () => {
    bridge.input(`{"do":"dance"}\nnot JSON\nnull\n${encode({ do: "ping", batch: 3 })}`);
    expect(heard("error")).toHaveLength(3);
    expect(heard("error")[0]).toEqual({ is: "error", text: "not known here: dance" });
    expect(heard("pong")).toEqual([{ is: "pong", batch: 3 }]);
  });

  test("a line without end takes no memory, and what follows it is obeyed", async () => {
    for (let piece = 0; piece < 20; piece += 1) bridge.input("x".repeat(100_000));
    bridge.input(`x\n${encode({ do: "ping", batch: 4 })}`);
    while (heard("pong").length < 1) await Bun.sleep(1);
    expect(heard("error")).toHaveLength(1);
  });

  test("a flood of errors is cut", () => {
    bridge.input("no\n".repeat(500));
    expect(heard("error")).toHaveLength(20);
  });

  test("what it says is ASCII, whatever an id is made of", () => {
    tell(view(1, [{ label: "x", id: "séance 猫" }]));
    someone.openMenu();
    someone.choose("x");
    expect(said.join("")).toMatch(/^[\n\x20-\x7e]*$/);
    expect(heard("action")).toEqual([{ is: "action", batch: 1, id: "séance 猫" }]);
  });
});

describe("the icon", () => {
  test("is a template of 18 points that keeps its place, with the number beside it", () => {
    tell(view(1, [], { count: 2, title: "beckon: 2 need you", tooltip: "web\napi" }));
    expect(someone.icon()).toMatchObject({ length: -1, autosaveName: "beckon" });
    expect(someone.statusButton()).toMatchObject({ title: "2", imagePosition: 2, toolTip: "web\napi" });
    expect(someone.statusButton()?.accessibilityLabel).toBe("beckon: 2 need you");
    const image = bridge.things.find(({ kind }) => kind === "NSImage");
    expect(image?.set).toMatchObject({ template: true, size: { width: 18, height: 18 } });
    tell(view(2, []));
    expect(someone.statusButton()).toMatchObject({ title: "", imagePosition: 1 });
  });

  test("that cannot be read is replaced by the name, and told", () => {
    tell(view(1, [], { icon: "AAAA" }));
    expect(someone.statusButton()).toMatchObject({ title: "beckon", imagePosition: 2 });
    expect(heard("error")).toHaveLength(1);
  });

  test("goes when it is taken back, and comes again", () => {
    tell(view(1, []), { do: "hide" });
    expect(someone.icon()).toBeNull();
    tell({ do: "hide" }, view(2, [{ label: "a", id: "a" }]));
    expect(someone.icon()).not.toBeNull();
    expect(someone.openMenu()).toHaveLength(1);
  });
});

describe("the menu", () => {
  const rows: ViewMessage["rows"] = [
    { label: "Needs you (1)" },
    {
      label: "● web",
      rows: [
        { label: "Go to terminal", id: "focus" },
        { line: true },
        { label: "Mute", id: "mute", checked: true },
      ],
    },
    { line: true },
    { label: "Quit", id: "quit" },
  ];

  test("shows headings, submenus, check marks and lines", () => {
    tell(view(1, rows));
    expect(someone.openMenu()).toEqual([
      { label: "Needs you (1)", enabled: false, checked: false, rows: [] },
      {
        label: "● web",
        enabled: true,
        checked: false,
        rows: [
          { label: "Go to terminal", enabled: true, checked: false, rows: [] },
          "line",
          { label: "Mute", enabled: true, checked: true, rows: [] },
        ],
      },
      "line",
      { label: "Quit", enabled: true, checked: false, rows: [] },
    ]);
  });

  test("stays as it is while it is open, and what is chosen means what was read", () => {
    tell(view(7, rows));
    const before = someone.openMenu();
    tell(view(8, [{ label: "Something else", id: "focus" }], { count: 5 }));
    expect(someone.menuAsItStands()).toEqual(before);
    expect(someone.statusButton()?.title).toBe("5");
    someone.choose("Go to terminal");
    expect(heard("opened")).toEqual([{ is: "opened", batch: 7 }]);
    expect(heard("action")).toEqual([{ is: "action", batch: 7, id: "focus" }]);
    expect(someone.openMenu()).toMatchObject([{ label: "Something else" }]);
  });

  test("opened again without a new view, it is not doubled", () => {
    tell(view(1, rows));
    expect(someone.openMenu()).toEqual(someone.openMenu());
  });
});
