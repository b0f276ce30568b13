import { beforeEach, describe, expect, test } from "bun:test";
import { createPanelMessage as panel, startScript } from "./macos/script-harness.ts";

let { appKit, machine, user, send, received } = startScript();
beforeEach(() => {
  ({ appKit, machine, user, send, received } = startScript());
});

describe("panels", () => {
  test("are stacked in the upper right corner, on every space, and take no focus", () => {
    send(panel("web"), panel("api", { body: "one line" }));
    const [first, second] = user.panels();
    expect([first?.title, second?.title]).toEqual(["web", "api"]);
    const right = (frame: { x: number; width: number } | undefined) => (frame?.x ?? 0) + (frame?.width ?? 0);
    expect(right(first?.frame)).toBe(1440 - 14);
    expect((first?.frame.y ?? 0) + (first?.frame.height ?? 0)).toBe(875 - 14);
    expect(first?.frame.y).toBeGreaterThan((second?.frame.y ?? 0) + (second?.frame.height ?? 0));
    expect(first?.window.properties).toMatchObject({
      styleMask: 128,
      level: 3,
      collectionBehavior: 1 | 16 | 64 | 256,
      hidesOnDeactivate: false,
      releasedWhenClosed: false,
      opaque: false,
    });
    for (const selector of ["canBecomeKeyWindow", "canBecomeMainWindow"]) {
      expect(appKit.send(first?.window as never, selector)).toBe(false);
    }
    expect(appKit.send(first?.clickArea as never, "acceptsFirstMouse:", null)).toBe(true);
  });

  test("a click is reported and closes the panel", () => {
    send(panel("web"), panel("api"));
    user.click("web");
    expect(received("clicked")).toEqual([{ type: "clicked", key: "web" }]);
    expect(user.panels().map(({ title }) => title)).toEqual(["api"]);
  });

  test("a VoiceOver press is a click", () => {
    send(panel("web"));
    expect(appKit.send(user.findPanel("web").clickArea, "accessibilityPerformPress")).toBe(true);
    expect(received("clicked")).toEqual([{ type: "clicked", key: "web" }]);
  });

  test("releasing the mouse button outside of the panel is not a click", () => {
    send(panel("web"));
    user.click("web", { x: 400, y: 20 });
    user.click("web", { x: 20, y: -3 });
    user.click("web", { x: 20, y: 300 });
    expect(received("clicked")).toEqual([]);
    expect(user.panels()).toHaveLength(1);
  });

  test("the close button is shown while the pointer is on the panel, and closes it", () => {
    send(panel("web"));
    expect(user.findPanel("web").isCloseButtonShown).toBe(false);
    user.enterPanel("web");
    expect(user.findPanel("web").isCloseButtonShown).toBe(true);
    user.click("web", user.findCloseButton("web"));
    expect(received("closed")).toEqual([{ type: "closed", key: "web", by: "user" }]);
    expect(received("clicked")).toEqual([]);
  });

  test("a panel that beckon closes is not reported", () => {
    send(panel("web"), { type: "close", key: "web" }, { type: "close", key: "never seen" });
    expect(user.panels()).toEqual([]);
    expect(received("closed")).toEqual([]);
    expect(received("error")).toEqual([]);
    const panels = appKit.objects.filter(({ className: kind }) => kind === "BeckonPanel");
    expect(panels.map(({ properties: set }) => set.isClosed)).toEqual([true]);
  });

  test("an updated panel keeps its position", () => {
    send(panel("web"), panel("api"), panel("web", { body: "wants Edit" }));
    expect(user.panels().map(({ title, body }) => [title, body])).toEqual([
      ["web", "wants Edit"],
      ["api", "wants Bash"],
    ]);
  });

  test("a panel that cannot be faded goes away all the same", () => {
    send(panel("done", { isUrgent: false, visibleMs: 8_000 }));
    appKit.breakAnimator();
    user.fireTimers("expire:");
    user.fireTimers("faded:");
    expect(received("closed")).toEqual([{ type: "closed", key: "done", by: "expired" }]);
    expect(user.panels()).toEqual([]);
  });

  test("a quiet panel fades after its time, an urgent one stays", () => {
    send(panel("web"), panel("done", { isUrgent: false, visibleMs: 8_000 }));
    const [timer] = appKit.timers.filter(({ selector }) => selector === "expire:");
    expect(timer?.seconds).toBe(8);
    user.fireTimers("expire:");
    expect(user.findPanel("done").alpha).toBe(0);
    user.fireTimers("faded:");
    expect(received("closed")).toEqual([{ type: "closed", key: "done", by: "expired" }]);
    expect(user.panels().map(({ title }) => title)).toEqual(["web"]);
  });

  test("a panel under the pointer does not fade, and an update brings back a fading one", () => {
    send(panel("done", { visibleMs: 8_000 }));
    user.enterPanel("done");
    user.fireTimers("expire:");
    expect(user.findPanel("done").alpha).toBe(1);
    user.leavePanel("done");
    user.fireTimers("expire:");
    expect(user.findPanel("done").alpha).toBe(0);
    send(panel("done", { visibleMs: 8_000, body: "more" }));
    expect(user.findPanel("done").alpha).toBe(1);
    user.fireTimers("faded:");
    expect(user.panels()).toHaveLength(1);
  });

  test("at most five are shown, urgent ones first, and the last one shows how many more there are", () => {
    send(panel("quiet", { isUrgent: false }), ...["a", "b", "c", "d", "e", "f"].map((key) => panel(key)));
    expect(user.panels().map(({ title }) => title)).toEqual(["a", "b", "c", "d", "e"]);
    expect(user.panels().map(({ more }) => more)).toEqual(["", "", "", "", "and 2 more"]);
    send({ type: "close", key: "b" }, { type: "close", key: "c" });
    expect(user.panels().map(({ title }) => title)).toEqual(["a", "d", "e", "f", "quiet"]);
    expect(user.panels().at(-1)?.more).toBe("");
  });

  test("a panel without room does not expire before it was shown", () => {
    send(...["a", "b", "c", "d", "e"].map((key) => panel(key)), panel("late", { visibleMs: 8_000 }));
    user.fireTimers("expire:");
    user.fireTimers("faded:");
    expect(received("closed")).toEqual([]);
    send({ type: "close", key: "a" });
    user.fireTimers("expire:");
    user.fireTimers("faded:");
    expect(received("closed")).toEqual([{ type: "closed", key: "late", by: "expired" }]);
  });

  test("a panel that had to make room does not expire meanwhile", () => {
    send(panel("quiet", { isUrgent: false, visibleMs: 8_000 }));
    send(...["a", "b", "c", "d", "e"].map((key) => panel(key)));
    expect(user.panels().map(({ title }) => title)).not.toContain("quiet");
    user.fireTimers("expire:");
    user.fireTimers("faded:");
    expect(received("closed")).toEqual([]);
    send({ type: "close", key: "a" });
    expect(user.findPanel("quiet").alpha).toBe(1);
  });

  test("nothing moves under the pointer, and new panels are added below", () => {
    send(panel("a"), panel("b"), panel("c"));
    user.enterPanel("b");
    const bottomOf = (title: string) => user.findPanel(title).frame.y;
    const [b, c] = [bottomOf("b"), bottomOf("c")];
    send({ type: "close", key: "a" }, panel("d"));
    expect([bottomOf("b"), bottomOf("c")]).toEqual([b, c]);
    expect(bottomOf("d")).toBeLessThan(c);
    // The pointer may enter the next panel before it leaves this one.
    user.enterPanel("c");
    user.leavePanel("b");
    expect(bottomOf("b")).toBe(b);
    user.leavePanel("c");
    expect(bottomOf("b")).toBeGreaterThan(b);
  });

  test("after the panel under the pointer is closed, the others move again", () => {
    send(panel("a"), panel("b"));
    const before = user.findPanel("b").frame.y;
    user.enterPanel("a");
    send({ type: "close", key: "a" });
    expect(user.findPanel("b").frame.y).toBeGreaterThan(before);
  });

  test("move when the display changes, and wait while there is none", () => {
    appKit.setDisplay(null);
    send(panel("web"));
    expect(user.panels()).toEqual([]);
    appKit.setDisplay({ x: 1440, y: -200, width: 1920, height: 1055 });
    expect(user.findPanel("web").frame.x).toBe(1440 + 1920 - 14 - 344);
    expect(received("error")).toEqual([]);
  });

  test("make one sound for a burst, and none for alerts from before a restart", () => {
    send(panel("again", { sound: true, isRepeated: true }));
    const played = () => appKit.calls.filter(([name]) => name === "play");
    expect(played()).toEqual([]);
    send(panel("a", { sound: true }), panel("b", { sound: true }), panel("quiet"));
    expect(played()).toEqual([["play", "Glass"]]);
    machine.now += 5_000;
    send(panel("c", { sound: true }));
    expect(played()).toHaveLength(2);
  });

  test("are read out if VoiceOver is on", () => {
    const announced = () => appKit.calls.filter(([name]) => name === "announce");
    send(panel("web"));
    expect(announced()).toEqual([]);
    appKit.setVoiceOver(true);
    send(panel("api"));
    expect(announced()).toEqual([
      ["announce", "AXAnnouncementRequested", { AXAnnouncementKey: "api. wants Bash", AXPriorityKey: 90 }],
    ]);
  });

  test("a long text takes at most three lines", () => {
    send(panel("web", { body: "word ".repeat(500) }));
    expect(user.findPanel("web").frame.height).toBeLessThan(110);
  });

  const answers = [
    { id: "allow@x", label: "Allow", needsAll: true },
    { id: "deny@x", label: "Deny", needsAll: false },
  ];
  const labels = (title: string) => user.findPanel(title).buttons.map(({ properties: set }) => set.title);

  test("a click on a button is that answer, and a click beside it a click on the panel", () => {
    const exact = { isExact: true, buttons: answers, body: "set -e\nmake" };
    send(panel("web", exact), panel("api", exact));
    expect(labels("web")).toEqual(["Allow", "Deny"]);
    user.click("web", user.findButton("web", "Deny"));
    user.click("api", { x: 100, y: user.findPanel("api").frame.height - 20 });
    expect(received("clicked")).toEqual([
      { type: "clicked", key: "web", button: "deny@x" },
      { type: "clicked", key: "api" },
    ]);
    expect(user.panels()).toEqual([]);
  });

  test("a VoiceOver press on a button is its answer", () => {
    send(panel("web", { isExact: true, buttons: answers }));
    const { button } = user.findButton("web", "Allow");
    appKit.send(button.properties.target as never, String(button.properties.action), button.proxy);
    expect(received("clicked")).toEqual([{ type: "clicked", key: "web", button: "allow@x" }]);
  });

  test("Allow is not offered for a text that does not fit, or is not exact", () => {
    send(panel("long", { isExact: true, buttons: answers, body: "make\n".repeat(30) }));
    send(panel("cut", { buttons: answers }));
    expect([labels("long"), labels("cut")]).toEqual([["Deny"], ["Deny"]]);
  });

  test("a text that fits is shown in full, whatever the height of the system's lines", () => {
    appKit.setLineHeight(17);
    send(panel("fits", { isExact: true, buttons: answers, body: "make\n".repeat(13).trimEnd() }));
    send(panel("long", { isExact: true, buttons: answers, body: "make\n".repeat(15).trimEnd() }));
    expect([labels("fits"), labels("long")]).toEqual([["Allow", "Deny"], ["Deny"]]);
  });

  test("an update adds and removes buttons, and no panel overlaps another", () => {
    send(panel("web"), panel("api"));
    const before = user.findPanel("web").frame.height;
    send(panel("web", { isExact: true, buttons: answers, body: "a\nb\nc\nd\ne" }));
    const { frame } = user.findPanel("web");
    expect(frame.height).toBeGreaterThan(before + 24);
    expect(user.findPanel("api").frame.y + user.findPanel("api").frame.height).toBeLessThan(frame.y);
    const { y } = user.findButton("web", "Allow");
    expect(y).toBeLessThan(14 + 24);
    send(panel("web"));
    expect(labels("web")).toEqual([]);
    expect(received("error")).toEqual([]);
  });
});
