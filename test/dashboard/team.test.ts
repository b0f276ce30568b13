import { expect } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { liveDay } from "./sample.ts";
import { phone, testPage, useSamplePage } from "./sample-page.ts";
import { sampleTeams } from "./sample-teams.ts";

/** The team on the page, in a real browser, with invented people behind beckon's own server. */
const pages = useSamplePage();

async function show(teams?: typeof sampleTeams.nine, options: BrowserContextOptions = {}): Promise<Page> {
  const prepare = (page: Page) => page.clock.setFixedTime(liveDay.now);
  const page = await pages.open(teams ? { ...liveDay, teams } : liveDay, { options, prepare });
  await page.locator(".row").first().waitFor();
  return page;
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

for (const [name, options] of [
  ["light", {}],
  ["dark", { colorScheme: "dark" as const }],
  ["a phone", phone],
] as const)
  testPage(`it can be read by everyone: ${name}`, async () => {
    await pages.check(await showTeam(sampleTeams.nine, options));
  });
