/** Clicks on answers in the menu. */
import { expect, test } from "bun:test";
import type { UserAction } from "../../src/core/config/user-action.ts";
import { timing } from "../../src/core/timing.ts";
import { createClickCheck } from "../../src/desktop/tray/click-check.ts";
import { createStep } from "../core/answers/fixture.ts";
import { entry } from "./tray-app.ts";

const allow = (ask: string): Extract<UserAction, { do: "answer" }> => ({
  do: "answer",
  session: "claude:a",
  ask,
  answer: { do: "allow" },
  step: createStep("menu"),
});
const confirm = (ask: string): UserAction => ({ do: "confirm", session: "claude:a", ask });

function createHarness() {
  let t = 10_000;
  const messages: string[] = [];
  let refreshes = 0;
  const now = () => ({ at: 1_790_000_000_000 + t, t });
  const clicks = createClickCheck({
    clock: now,
    showMessage: (title) => void messages.push(title),
    refresh: () => void refreshes++,
  });
  return {
    messages,
    refreshes: () => refreshes,
    pass(ms: number): void {
      t += ms;
    },
    /** Shows the menu with a session whose submenu has these actions. */
    show: (...actions: UserAction[]) =>
      clicks.onShown(
        [entry("s", "shop", { children: actions.map((action, n) => entry(`${n}`, "x", { action })) })],
        now(),
      ),
    click: clicks.accept,
    confirming: () => clicks.confirming(now()),
    nextChange: () => clicks.nextChange(now()),
    now,
  };
}

test("a click on an answer that has just appeared in an open menu answers nothing", () => {
  const menu = createHarness();
  menu.show(allow("first"));
  menu.pass(timing.minReadMs);
  menu.show(allow("second"));
  menu.pass(timing.minReadMs - 1);
  expect(menu.click(allow("second"))).toBeNull();
  expect(menu.messages).toEqual(["Nothing was answered"]);
  menu.show(allow("second"));
  menu.pass(1);
  expect(menu.click(allow("second"))).toEqual({
    ...allow("second"),
    step: createStep("menu", { shownMs: timing.minReadMs }),
  });
});

test("a click on an answer that the menu no longer offers answers nothing", () => {
  const menu = createHarness();
  menu.show(allow("first"));
  menu.pass(timing.minReadMs);
  menu.show();
  expect(menu.click(allow("first"))).toBeNull();
});

test("clicks that answer nothing are never delayed", () => {
  const menu = createHarness();
  expect(menu.click({ do: "quit" })).toEqual({ do: "quit" });
  const focus: UserAction = { do: "focus", session: "claude:a" };
  expect(menu.click(focus)).toEqual(focus);
});

test("the first click on something dangerous only asks for a second one, for a minute", () => {
  const menu = createHarness();
  menu.show(confirm("first"));
  menu.pass(timing.minReadMs);
  expect(menu.click(confirm("first"))).toBeNull();
  expect(menu.messages).toEqual(["Not allowed yet: this is marked as dangerous"]);
  expect(menu.refreshes()).toBe(1);
  expect(menu.confirming()).toBe("first");
  expect(menu.nextChange()).toBe(menu.now().at + 60_000);
  menu.pass(59_999);
  expect(menu.confirming()).toBe("first");
  menu.pass(1);
  expect(menu.confirming()).toBeNull();
  expect(menu.nextChange()).toBeNull();
});

test("a double click does not confirm", () => {
  const menu = createHarness();
  menu.show(confirm("first"));
  menu.pass(timing.minReadMs);
  menu.click(confirm("first"));
  menu.show(allow("first"));
  menu.pass(100);
  expect(menu.click(allow("first"))).toBeNull();
});
