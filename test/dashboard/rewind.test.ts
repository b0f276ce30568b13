/** A day that can be rewound on the page: by dragging, from a wait, with keys; and back to now with one. */
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { waitUntil } from "../wait-until.ts";
import { rewoundDay } from "./sample.ts";
import { phone, testPage, useSamplePage } from "./sample-page.ts";

const pages = useSamplePage();
const minute = 60_000;
/** 14:20:00, twelve minutes before the day's now. */
const then = rewoundDay.now - (rewoundDay.now % minute) - 12 * minute;

const slider = (page: Page) => page.getByRole("slider", { name: "Time shown" });
const isPast = (page: Page) => page.evaluate("document.documentElement.classList.contains('past')");

async function rewind(page: Page): Promise<void> {
  await slider(page).fill(String(then));
  await page.getByText("Needed you then").waitFor();
  await page.getByText("Nothing here can be answered.").waitFor();
}

testPage(
  "dragging the day shows that moment, nothing in it can be answered, and Esc is back now",
  async () => {
    const page = await pages.show(rewoundDay);
    const live = await page.locator("#h-ses .n").innerText();
    await rewind(page);
    await page.getByText("Sessions at 14:20").waitFor();
    expect(await page.locator(".then-bar b").innerText()).toBe("14:20 today");
    expect(await page.locator("#h-need + .badge").innerText()).toBe("2");
    // The list says it as of then, also to those who hear it. Only the strip, the count and the tabs are of now.
    expect(await page.locator("#sessions").innerText()).toMatch(/\b2 needed you\b[\s\S]*^Needed you$/m);
    const spoken = await page
      .locator("#sessions [aria-label]")
      .evaluateAll((all) => all.map((one) => one.ariaLabel));
    expect(spoken).toContain("needed you");
    expect(`${spoken} ${await page.locator("#sessions").innerText()}`).not.toMatch(/needs? you/i);
    expect(await page.locator("#sessions .new, #sessions .foot .end").count()).toBe(0);
    await page.getByText("Approved at 14:23").waitFor();
    await page.getByText("No alert: you are looking at it").waitFor();
    await page.getByText("Not answered yet at 14:32").waitFor();
    // Neither buttons nor keys answer.
    expect(await page.locator('[data-do="allow"], [data-do="deny"]').count()).toBe(0);
    for (const key of ["a", "a", "d", "s", "1", "Enter"]) await page.keyboard.press(key);
    expect(pages.server().actions).toEqual([]);
    await pages.check(page);
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Needs you" }).waitFor();
    expect(await isPast(page)).toBe(false);
    expect(await page.locator("#h-ses .n").innerText()).toBe(live);
  },
);

testPage("the handle goes on with the pointer while the page changes under it", async () => {
  const page = await pages.show(rewoundDay);
  await slider(page).scrollIntoViewIfNeeded();
  const box = await slider(page).boundingBox();
  if (!box) throw new Error("the day is not drawn");
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width - 4, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, y, { steps: 4 });
  await page.getByText("Needed you then").waitFor();
  const half = await slider(page).inputValue();
  await page.mouse.move(box.x + box.width * 0.25, y, { steps: 4 });
  await waitUntil(async () => Number(await slider(page).inputValue()) < Number(half), 5_000);
  await page.mouse.up();
});

testPage("a click on a wait shows the moment, and keys go on from there", async () => {
  const page = await pages.show(rewoundDay);
  await page.locator("#today .lane .s-waiting").first().click();
  await page.getByText("Needed you then").waitFor();
  const time = () => page.locator(".then-bar b").innerText();
  const first = await time();
  await page.keyboard.press("ArrowLeft");
  await waitUntil(async () => (await time()) !== first, 5_000);
  await page.keyboard.press("]");
  await waitUntil(async () => !(await page.getByText("No ask came after").isVisible()), 5_000);
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "Needs you" }).waitFor();
  await page.getByRole("button", { name: /^the longest/ }).click();
  await page.getByText("Needed you then").waitFor();
});

testPage("on a phone", async () => {
  const page = await pages.show(rewoundDay, phone);
  await rewind(page);
  await pages.check(page);
});
