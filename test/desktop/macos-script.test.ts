import { beforeEach, describe, expect, test } from "bun:test";
import { encodeMessage, type ViewMessage } from "../../src/desktop/macos/protocol.ts";
import { waitUntil } from "../wait-until.ts";
import { startScript, createViewMessage as view } from "./macos/script-harness.ts";

let { appKit, machine, output, exits, user, send, received } = startScript();
beforeEach(() => {
  ({ appKit, machine, output, exits, user, send, received } = startScript());
});

describe("at its start", () => {
  test("it reports that it is ready, has no Dock icon, and reads input also while a menu is open", () => {
    expect(received("ready")).toEqual([{ type: "ready", version: 1, system: "Version 15.0 (Build 24A335)" }]);
    const app = appKit.objects.find(({ className: kind }) => kind === "NSApplication");
    expect(app?.properties.activationPolicy).toBe(1);
    expect(appKit.calls).toContainEqual([
      "waitForDataInBackgroundAndNotifyForModes:",
      ["kCFRunLoopDefaultMode", "NSEventTrackingRunLoopMode"],
    ]);
    // Without App Nap, but the Mac itself may sleep.
    expect(appKit.calls).toContainEqual(["beginActivity", 0x00efffff]);
  });

  test("there is no icon before the first view", () => {
    expect(user.statusItem()).toBeNull();
  });

  test("the app that was active is activated again, but only at the start", () => {
    machine.now += 1_000;
    appKit.postNotification("NSApplicationDidBecomeActiveNotification");
    expect(appKit.calls.filter(([name]) => name === "activateWithOptions:")).toHaveLength(1);
    machine.now += 60_000;
    appKit.postNotification("NSApplicationDidBecomeActiveNotification");
    expect(appKit.calls.filter(([name]) => name === "activateWithOptions:")).toHaveLength(1);
  });
});

describe("the helper exits", () => {
  test("when its input ends", () => {
    appKit.writeInput(null);
    expect(exits).toEqual([0]);
  });

  test("when its parent is gone, even if its input stays open", () => {
    user.fireTimers("checkParent:");
    expect(exits).toEqual([]);
    machine.parentPid = 1;
    user.fireTimers("checkParent:");
    expect(exits).toEqual([0]);
  });

  test("when beckon ended before it was ready", () => {
    expect(startScript({ parentPid: 1 }).exits).toEqual([0]);
  });
});

describe("input", () => {
  test("arrives in chunks of any length: several lines at once, or one line in many chunks", async () => {
    const text = [
      { type: "ping", batch: 1 } as const,
      view(2, [{ label: "Zürich – 猫 “quoted” 👋", id: "a" }]),
      { type: "ping", batch: 2 } as const,
    ]
      .map(encodeMessage)
      .join("");
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    for (const character of text) appKit.writeInput(character);
    await waitUntil(() => received("pong").length === 2, 5_000);
    expect(received("pong")).toEqual([
      { type: "pong", batch: 1 },
      { type: "pong", batch: 2 },
    ]);
    expect(user.openMenu()).toMatchObject([{ label: "Zürich – 猫 “quoted” 👋" }]);
  });

  test("a line that is not a message is reported, and the next one is handled", () => {
    appKit.writeInput(`{"type":"dance"}\nnot JSON\nnull\n${encodeMessage({ type: "ping", batch: 3 })}`);
    expect(received("error")).toHaveLength(3);
    expect(received("error")[0]).toEqual({ type: "error", text: "unknown message: dance" });
    expect(received("pong")).toEqual([{ type: "pong", batch: 3 }]);
  });

  test("an endless line is dropped, and the next one is handled", async () => {
    for (let chunk = 0; chunk < 20; chunk += 1) appKit.writeInput("x".repeat(100_000));
    appKit.writeInput(`x\n${encodeMessage({ type: "ping", batch: 4 })}`);
    await waitUntil(() => received("pong").length === 1, 5_000);
    expect(received("error")).toHaveLength(1);
  });

  test("at most 20 errors are reported", () => {
    appKit.writeInput("no\n".repeat(500));
    expect(received("error")).toHaveLength(20);
  });

  test("the output is ASCII, also for an id that is not", () => {
    send(view(1, [{ label: "x", id: "séance 猫" }]));
    user.openMenu();
    user.chooseItem("x");
    expect(output.join("")).toMatch(/^[\n\x20-\x7e]*$/);
    expect(received("action")).toEqual([{ type: "action", batch: 1, id: "séance 猫" }]);
  });
});

describe("the icon", () => {
  test("is a template of 18 points that keeps its position, with the number beside it", () => {
    send(view(1, [], { count: 2, title: "beckon: 2 need you", tooltip: "web\napi" }));
    expect(user.statusItem()).toMatchObject({ length: -1, autosaveName: "beckon" });
    send({ type: "hide" }, view(3, [], { name: "beckon-demo" }));
    expect(user.statusItem()).toMatchObject({ autosaveName: "beckon-demo" });
    send({ type: "hide" }, view(1, [], { count: 2, title: "beckon: 2 need you", tooltip: "web\napi" }));
    expect(user.statusButton()).toMatchObject({ title: "2", imagePosition: 2, toolTip: "web\napi" });
    expect(user.statusButton()?.accessibilityLabel).toBe("beckon: 2 need you");
    const image = appKit.objects.find(({ className: kind }) => kind === "NSImage");
    expect(image?.properties).toMatchObject({ template: true, size: { width: 18, height: 18 } });
    send(view(2, []));
    expect(user.statusButton()).toMatchObject({ title: "", imagePosition: 1 });
  });

  test("that cannot be read is replaced by the name, and reported", () => {
    send(view(1, [], { icon: "AAAA" }));
    expect(user.statusButton()).toMatchObject({ title: "beckon", imagePosition: 2 });
    expect(received("error")).toHaveLength(1);
  });

  test("can be hidden and shown again", () => {
    send(view(1, []), { type: "hide" });
    expect(user.statusItem()).toBeNull();
    send({ type: "hide" }, view(2, [{ label: "a", id: "a" }]));
    expect(user.statusItem()).not.toBeNull();
    expect(user.openMenu()).toHaveLength(1);
  });
});

describe("the menu", () => {
  const rows: ViewMessage["rows"] = [
    { label: "Needs you (1)" },
    {
      label: "● web",
      rows: [
        { label: "Go to terminal", id: "focus" },
        { separator: true },
        { label: "Mute", id: "mute", checked: true },
      ],
    },
    { separator: true },
    { label: "Quit", id: "quit" },
  ];

  test("shows headings, submenus, check marks and separators", () => {
    send(view(1, rows));
    expect(user.openMenu()).toEqual([
      { label: "Needs you (1)", enabled: false, checked: false, rows: [] },
      {
        label: "● web",
        enabled: true,
        checked: false,
        rows: [
          { label: "Go to terminal", enabled: true, checked: false, rows: [] },
          "separator",
          { label: "Mute", enabled: true, checked: true, rows: [] },
        ],
      },
      "separator",
      { label: "Quit", enabled: true, checked: false, rows: [] },
    ]);
  });

  test("does not change while it is open, and a choice means what the user read", () => {
    send(view(7, rows));
    const before = user.openMenu();
    send(view(8, [{ label: "Something else", id: "focus" }], { count: 5 }));
    expect(user.readMenu()).toEqual(before);
    expect(user.statusButton()?.title).toBe("5");
    user.chooseItem("Go to terminal");
    expect(received("opened")).toEqual([{ type: "opened", batch: 7 }]);
    expect(received("action")).toEqual([{ type: "action", batch: 7, id: "focus" }]);
    expect(user.openMenu()).toMatchObject([{ label: "Something else" }]);
  });

  test("opened twice without a new view, it has the same rows", () => {
    send(view(1, rows));
    expect(user.openMenu()).toEqual(user.openMenu());
  });
});
