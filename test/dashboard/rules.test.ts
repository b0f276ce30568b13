/** Rules, precedent and rounds on the page, in a real browser. */
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { waitUntil } from "../wait-until.ts";
import { liveDay } from "./sample.ts";
import { testPage, useSamplePage } from "./sample-page.ts";
import { createRulesDay } from "./sample-rules.ts";

const pages = useSamplePage();
const day = createRulesDay(liveDay);

async function show(): Promise<Page> {
  const page = await pages.open(day, { prepare: (opened: Page) => opened.clock.setFixedTime(day.now) });
  await page.locator('.ask [data-do="deny"]:enabled').first().waitFor();
  return page;
}

testPage("a suggestion shows its back-test, and becomes a rule with a click", async () => {
  const page = await show();
  expect(await page.locator("script[src='/rules.js']").count()).toBe(0);
  await page.getByRole("link", { name: "Rules", exact: true }).click();
  await page.locator(".rules-t tbody tr").first().waitFor();
  expect((await page.locator(".facts").innerText()).replaceAll(/\s+/g, " ")).toContain(
    "41 of 41 none that you denied",
  );
  await page.getByRole("button", { name: "Make it a rule" }).click();
  await page.getByRole("button", { name: "End now" }).click();
  await page.getByRole("button", { name: "Remove Edit(guide/**) in docs" }).click();
  expect(pages.server().actions.map(({ action, body }) => ({ action, ...body }))).toMatchObject([
    { action: "add", project: "/home/dev/checkout-api", from: "suggestion" },
    { action: "trust", end: true },
    { action: "remove", name: "edit-guide-docs" },
  ]);
});

testPage("a request shows what was answered before; what is marked offers nothing that lasts", async () => {
  const page = await show();
  const [first, marked] = [page.locator(".ask").first(), page.locator(".ask", { hasText: "git push" })];
  expect(await first.locator(".prec b").innerText()).toBe("You allowed npm run test:e2e 14 of 14 times");
  expect(await marked.locator(".prec span").innerText()).toContain("not on a Friday");
  expect(await marked.getByRole("button", { name: "Always…" }).count()).toBe(0);
  await first.getByRole("button", { name: "Always…" }).click();
  await first.getByRole("button", { name: /^Trust this session until/ }).click();
  await page.locator(".ask.over, .ask [disabled]").first().waitFor();
  expect(pages.server().actions.map(({ action }) => action)).toEqual(["trust", "answer"]);
});

testPage("requests of one kind are allowed together only after each was on the screen", async () => {
  const page = await pages.open(day, {
    options: { viewport: { width: 1440, height: 600 } },
    prepare: (opened: Page) => opened.clock.setFixedTime(day.now),
  });
  const together = page.locator('[data-do="together"]');
  await together.waitFor();
  expect(await page.locator(".inbox-head .end").innerText()).toBe("3 asks, about 50 s");
  expect(await together.isEnabled()).toBe(false);
  for (const card of await page.locator(".ask").all()) {
    await card.scrollIntoViewIfNeeded();
    await waitUntil(async () => (await page.locator('[data-do="deny"]:enabled').count()) === 3, 10_000);
  }
  await page.locator('[data-do="together"]:enabled').waitFor();
  await together.click();
  const answered = pages.server().actions.filter(({ action }) => action === "answer");
  expect(answered.map(({ name }) => name).sort()).toEqual(["claude:s-checkout-api", "claude:s-storefront"]);
});
