import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { testWith } from "../needs.ts";
import { findAccessibilityFaults, launchBrowser, type OpenedPage, openPage } from "./browser.ts";
import { liveDay } from "./sample.ts";
import { type SampleServer, serveSample } from "./sample-server.ts";
import { sampleTeams } from "./sample-teams.ts";

/** The team on the page, in a real browser, with invented people behind beckon's own server. */
const testPage = testWith("chromium");
let browser: Browser;
beforeAll(async () => {
  if (Bun.which("chromium")) browser = await launchBrowser();
});
afterAll(() => browser?.close());

let server: SampleServer;
let opened: OpenedPage;
afterEach(async () => {
  await opened?.page.context().close();
  await server?.stop();
});

async function show(teams?: typeof sampleTeams.nine, options: BrowserContextOptions = {}): Promise<Page> {
  server = serveSample(teams ? { ...liveDay, teams } : liveDay);
  opened = await openPage(browser, server.createPageUrl(), options, (page) =>
    page.clock.setFixedTime(liveDay.now),
  );
  await opened.page.locator(".row").first().waitFor();
  return opened.page;
}

async function showTeam(teams: typeof sampleTeams.nine, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await show(teams, options);
  await page.getByRole("link", { name: "Team", exact: true }).last().click();
  await page.locator(".team-t tbody tr").first().waitFor();
  return page;
}

const readAll = async (page: Page, selector: string): Promise<string[]> =>
  (await page.locator(selector).allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim());

testPage("without a team, the page has no Team, and loads nothing of it", async () => {
  const page = await show();
  expect(await page.getByRole("link", { name: "Team" }).count()).toBe(0);
  expect(await page.locator("script[src='/team.js']").count()).toBe(0);
});

testPage("people stand in the order of how long they are blocked, with their machines", async () => {
  const page = await showTeam(sampleTeams.nine);
  expect(await page.locator(".said p").innerText()).toBe(
    "3 of 9 people are blocked, the longest for 48m 04s",
  );
  const rows = await readAll(page, ".team-t tbody tr");
  expect(rows.slice(0, 4)).toEqual([
    "M Mira mira-mbp, build-box 2 48m 04s since 13:44 on build-box 1h 36m",
    "Y You laptop 2 7m 04s since 14:25 24m",
    "B Bartholomew Featherstonehaugh-Lindqvist gpu-lab-frankfurt-2.internal.example 1 2m 04s since 14:30 search-index · Bash 10m",
    "A Aiko aiko-desktop – nothing waits 8m",
  ]);
  expect(rows.at(-1)).toBe("S Sol sol-laptop – not heard since 11:48 5m");
  // Nobody answers for somebody else.
  expect(await page.locator(".team button").count()).toBe(0);
  await page.getByLabel("Team", { exact: true }).selectOption("payments");
  expect(await page.locator(".team-t tbody tr").count()).toBe(2);
});

testPage("everyone sees what they share", async () => {
  const page = await showTeam(sampleTeams.three);
  const shared = await page.locator(".share-me").innerText();
  expect(shared).toContain(
    "that something waits for you, how many and since when; no project, prompt or command",
  );
  expect(shared).toContain("2 other people in friends");
  expect(shared).toContain('"kind": "permission"');
  expect(shared).not.toContain("npm publish");
});

testPage("of many people, those who are blocked are never folded away", async () => {
  const page = await showTeam(sampleTeams.forty);
  expect(await page.locator(".team-t tbody tr").count()).toBe(16);
  expect(await page.locator(".team-t .bl b").count()).toBe(8);
  await page.getByRole("button", { name: "Show 24 more, none of them is blocked" }).click();
  expect(await page.locator(".team-t tbody tr").count()).toBe(40);
});

testPage(
  "it can be read by everyone, in light and dark and on a phone",
  async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    for (const options of [{}, { colorScheme: "dark" as const }, phone]) {
      const page = await showTeam(sampleTeams.nine, options);
      expect(await findAccessibilityFaults(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      expect(opened.faults).toEqual([]);
      await page.context().close();
      await server.stop();
    }
  },
  30_000,
);
