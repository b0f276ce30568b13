import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import type { Browser } from "playwright-core";
import { type AppFixture, createAppFixture, createPromptEvent } from "../app-fixture.ts";
import { testWith } from "../needs.ts";
import { createPageUrl, findAccessibilityFaults, launchBrowser, openPage } from "./browser.ts";

const testPage = testWith("chromium");
let browser: Browser;
beforeAll(async () => {
  if (Bun.which("chromium")) browser = await launchBrowser();
});
afterAll(() => browser?.close());

let fixture: AppFixture;
afterEach(() => fixture?.destroy());

testPage("a session that starts appears without a reload", async () => {
  fixture = createAppFixture();
  await fixture.start();
  const { page, faults } = await openPage(browser, await createPageUrl(fixture));
  await fixture.postHook(createPromptEvent("s1"));
  await page.getByText("proj").first().waitFor();
  expect(page.url()).not.toContain("code");
  await page.reload();
  await page.getByText("proj").first().waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});
