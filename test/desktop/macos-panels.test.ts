import { beforeEach, describe, expect, test } from "bun:test";
import { panel, startScript } from "./macos/running.ts";

let { bridge, machine, someone, tell, heard } = startScript();
beforeEach(() => {
  ({ bridge, machine, someone, tell, heard } = startScript());
});

describe("panels", () => {
  test("stand one below the other in the upper right corner, on every space, and take no focus", () => {
    tell(panel("web"), panel("api", { body: "one line" }));
    const [first, second] = someone.panels();
    expect([first?.title, second?.title]).toEqual(["web", "api"]);
    const right = (frame: { x: number; width: number } | undefined) => (frame?.x ?? 0) + (frame?.width ?? 0);
    expect(right(first?.frame)).toBe(1440 - 14);
    expect((first?.frame.y ?? 0) + (first?.frame.height ?? 0)).toBe(875 - 14);
    expect(first?.frame.y).toBeGreaterThan((second?.frame.y ?? 0) + (second?.frame.height ?? 0));
    expect(first?.thing.set).toMatchObject({
      styleMask: 128,
      level: 3,
      collectionBehavior: 1 | 16 | 64 | 256,
      hidesOnDeactivate: false,
      releasedWhenClosed: false,
      opaque: false,
    });
    for (const selector of ["canBecomeKeyWindow", "canBecomeMainWindow"]) {
      expect(bridge.send(first?.thing as never, selector)).toBe(false);
    }
    expect(bridge.send(first?.pointer as never, "acceptsFirstMouse:", null)).toBe(true);
  });

  test("a click goes to beckon and takes the panel away", () => {
    tell(panel("web"), panel("api"));
    someone.press("web");
    expect(heard("clicked")).toEqual([{ is: "clicked", key: "web" }]);
    expect(someone.panels().map(({ title }) => title)).toEqual(["api"]);
  });

  test("VoiceOver's press is a click", () => {
    tell(panel("web"));
    expect(bridge.send(someone.panel("web").pointer, "accessibilityPerformPress")).toBe(true);
    expect(heard("clicked")).toEqual([{ is: "clicked", key: "web" }]);
  });

  test("let go outside, it was no click", () => {
    tell(panel("web"));
    someone.press("web", { x: 400, y: 20 });
    someone.press("web", { x: 20, y: -3 });
    someone.press("web", { x: 20, y: 300 });
    expect(heard("clicked")).toEqual([]);
    expect(someone.panels()).toHaveLength(1);
  });

  test("the cross is there while the pointer is, and closes", () => {
    tell(panel("web"));
    expect(someone.panel("web").isCrossShown).toBe(false);
    someone.pointAt("web");
    expect(someone.panel("web").isCrossShown).toBe(true);
    someone.press("web", someone.cross("web"));
    expect(heard("closed")).toEqual([{ is: "closed", key: "web", by: "user" }]);
    expect(heard("clicked")).toEqual([]);
  });

  test("taken back by beckon, nothing is said", () => {
    tell(panel("web"), { do: "close", key: "web" }, { do: "close", key: "never seen" });
    expect(someone.panels()).toEqual([]);
    expect(heard("closed")).toEqual([]);
    expect(heard("error")).toEqual([]);
    const shut = bridge.things.filter(({ kind }) => kind === "BeckonPanel");
    expect(shut.map(({ set }) => set.isClosed)).toEqual([true]);
  });

  test("shown anew in its place, with the new words", () => {
    tell(panel("web"), panel("api"), panel("web", { body: "wants Edit" }));
    expect(someone.panels().map(({ title, body }) => [title, body])).toEqual([
      ["web", "wants Edit"],
      ["api", "wants Bash"],
    ]);
  });

  test("a quiet one fades after its time, one that blocks stays", () => {
    tell(panel("web"), panel("done", { isUrgent: false, staysMs: 8_000 }));
    const [timer] = bridge.timers.filter(({ selector }) => selector === "expire:");
    expect(timer?.seconds).toBe(8);
    someone.timePasses("expire:");
    expect(someone.panel("done").alpha).toBe(0);
    someone.timePasses("faded:");
    expect(heard("closed")).toEqual([{ is: "closed", key: "done", by: "expired" }]);
    expect(someone.panels().map(({ title }) => title)).toEqual(["web"]);
  });

  test("one that the pointer is on does not fade, one that is told anew while it fades comes back", () => {
    tell(panel("done", { staysMs: 8_000 }));
    someone.pointAt("done");
    someone.timePasses("expire:");
    expect(someone.panel("done").alpha).toBe(1);
    someone.pointAway("done");
    someone.timePasses("expire:");
    expect(someone.panel("done").alpha).toBe(0);
    tell(panel("done", { staysMs: 8_000, body: "more" }));
    expect(someone.panel("done").alpha).toBe(1);
    someone.timePasses("faded:");
    expect(someone.panels()).toHaveLength(1);
  });

  test("at most five, those that block first; the last one counts the others", () => {
    tell(panel("quiet", { isUrgent: false }), ...["a", "b", "c", "d", "e", "f"].map((key) => panel(key)));
    expect(someone.panels().map(({ title }) => title)).toEqual(["a", "b", "c", "d", "e"]);
    expect(someone.panels().map(({ more }) => more)).toEqual(["", "", "", "", "and 2 more"]);
    tell({ do: "close", key: "b" }, { do: "close", key: "c" });
    expect(someone.panels().map(({ title }) => title)).toEqual(["a", "d", "e", "f", "quiet"]);
    expect(someone.panels().at(-1)?.more).toBe("");
  });

  test("one without room is not counted down before it was seen", () => {
    tell(...["a", "b", "c", "d", "e"].map((key) => panel(key)), panel("late", { staysMs: 8_000 }));
    someone.timePasses("expire:");
    someone.timePasses("faded:");
    expect(heard("closed")).toEqual([]);
    tell({ do: "close", key: "a" });
    someone.timePasses("expire:");
    someone.timePasses("faded:");
    expect(heard("closed")).toEqual([{ is: "closed", key: "late", by: "expired" }]);
  });

  test("one that has to make room is not counted down meanwhile", () => {
    tell(panel("quiet", { isUrgent: false, staysMs: 8_000 }));
    tell(...["a", "b", "c", "d", "e"].map((key) => panel(key)));
    expect(someone.panels().map(({ title }) => title)).not.toContain("quiet");
    someone.timePasses("expire:");
    someone.timePasses("faded:");
    expect(heard("closed")).toEqual([]);
    tell({ do: "close", key: "a" });
    expect(someone.panel("quiet").alpha).toBe(1);
  });

  test("nothing moves under the pointer; new ones come below", () => {
    tell(panel("a"), panel("b"), panel("c"));
    someone.pointAt("b");
    const where = (title: string) => someone.panel(title).frame.y;
    const [b, c] = [where("b"), where("c")];
    tell({ do: "close", key: "a" }, panel("d"));
    expect([where("b"), where("c")]).toEqual([b, c]);
    expect(where("d")).toBeLessThan(c);
    // The next one may be entered before this one is left.
    someone.pointAt("c");
    someone.pointAway("b");
    expect(where("b")).toBe(b);
    someone.pointAway("c");
    expect(where("b")).toBeGreaterThan(b);
  });

  test("a panel that is taken away under the pointer holds nothing up", () => {
    tell(panel("a"), panel("b"));
    const before = someone.panel("b").frame.y;
    someone.pointAt("a");
    tell({ do: "close", key: "a" });
    expect(someone.panel("b").frame.y).toBeGreaterThan(before);
  });

  test("go along when the screen changes, and wait while there is none", () => {
    bridge.setScreen(null);
    tell(panel("web"));
    expect(someone.panels()).toEqual([]);
    bridge.setScreen({ x: 1440, y: -200, width: 1920, height: 1055 });
    expect(someone.panel("web").frame.x).toBe(1440 + 1920 - 14 - 344);
    expect(heard("error")).toEqual([]);
  });

  test("sound once for a burst, and none for what was there before a restart", () => {
    tell(panel("again", { sound: true, isAgain: true }));
    const played = () => bridge.calls.filter(([name]) => name === "play");
    expect(played()).toEqual([]);
    tell(panel("a", { sound: true }), panel("b", { sound: true }), panel("quiet"));
    expect(played()).toEqual([["play", "Glass"]]);
    machine.now += 5_000;
    tell(panel("c", { sound: true }));
    expect(played()).toHaveLength(2);
  });

  test("are read out where VoiceOver is on", () => {
    const announced = () => bridge.calls.filter(([name]) => name === "announce");
    tell(panel("web"));
    expect(announced()).toEqual([]);
    bridge.setVoiceOver(true);
    tell(panel("api"));
    expect(announced()).toEqual([
      ["announce", "AXAnnouncementRequested", { AXAnnouncementKey: "api. wants Bash", AXPriorityKey: 90 }],
    ]);
  });

  test("a long text takes three lines, no more", () => {
    tell(panel("web", { body: "word ".repeat(500) }));
    expect(someone.panel("web").frame.height).toBeLessThan(110);
  });

  const answers = [
    { id: "allow@x", label: "Allow", needsAll: true },
    { id: "deny@x", label: "Deny", needsAll: false },
  ];
  const labels = (title: string) => someone.panel(title).buttons.map(({ set }) => set.title);

  test("an answer is a click on its button; a click beside it goes there", () => {
    const exact = { isExact: true, buttons: answers, body: "set -e\nmake" };
    tell(panel("web", exact), panel("api", exact));
    expect(labels("web")).toEqual(["Allow", "Deny"]);
    someone.press("web", someone.button("web", "Deny"));
    someone.press("api", { x: 100, y: someone.panel("api").frame.height - 20 });
    expect(heard("clicked")).toEqual([
      { is: "clicked", key: "web", button: "deny@x" },
      { is: "clicked", key: "api" },
    ]);
    expect(someone.panels()).toEqual([]);
  });

  test("VoiceOver's press on a button is its answer", () => {
    tell(panel("web", { isExact: true, buttons: answers }));
    const { thing } = someone.button("web", "Allow");
    bridge.send(thing.set.target as never, String(thing.set.action), thing.proxy);
    expect(heard("clicked")).toEqual([{ is: "clicked", key: "web", button: "allow@x" }]);
  });

  test("nobody can allow what does not fit, or is not word for word", () => {
    tell(panel("long", { isExact: true, buttons: answers, body: "make\n".repeat(30) }));
    tell(panel("cut", { buttons: answers }));
    expect([labels("long"), labels("cut")]).toEqual([["Deny"], ["Deny"]]);
  });

  test("buttons come and go with new words, below the text and above no other panel", () => {
    tell(panel("web"), panel("api"));
    const before = someone.panel("web").frame.height;
    tell(panel("web", { isExact: true, buttons: answers, body: "a\nb\nc\nd\ne" }));
    const { frame } = someone.panel("web");
    expect(frame.height).toBeGreaterThan(before + 24);
    expect(someone.panel("api").frame.y + someone.panel("api").frame.height).toBeLessThan(frame.y);
    const { y } = someone.button("web", "Allow");
    expect(y).toBeLessThan(14 + 24);
    tell(panel("web"));
    expect(labels("web")).toEqual([]);
    expect(heard("error")).toEqual([]);
  });
});
