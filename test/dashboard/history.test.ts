import { expect } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { waitUntil } from "../wait-until.ts";
import { listScripts } from "./browser.ts";
import { emptyDay, historyOffDay, hostileDay, liveDay, type Sample } from "./sample.ts";
import { fitsScreen, phone, testPage, useSamplePage } from "./sample-page.ts";

/** The history in a real browser, with an invented day behind beckon's own server. */
const pages = useSamplePage();

async function showHistory(sample: Sample, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await pages.show(sample, options);
  await page.keyboard.press("/");
  await page.locator(".story").waitFor();
  // A history that is off has nothing to search.
  if (sample.story({}).enabled) await page.locator("#find:focus").waitFor();
  await page.keyboard.press("Escape");
  return page;
}

const threadOf = (page: Page, name: string) => page.locator(".thread", { hasText: name });
const readText = (text: string) => text.replaceAll(/\s+/g, " ").trim();

testPage(
  "the history tells a turn: the prompt, the work folded, the ask with its end, the response",
  async () => {
    const page = await showHistory(liveDay);
    const billing = threadOf(page, "billing");
    await billing.waitFor();
    expect((await billing.locator(".beat").allInnerTexts()).slice(0, 4).map(readText)).toEqual([
      "12:01 You: publish a dry run so that I see what is in the package",
      "12:01 2 commands, 1 lookup 4m",
      "12:05 Asked to run npm publish --dry-run Allowed by you, on this page waited 3m 30s",
      "12:09 Dry run is clean: 14 files, 61 kB. The changelog is not in the package; say so if it should be. the turn took 8m",
    ]);
    expect(await billing.locator(".beat.fails").innerText()).toContain("Failed API Error: 529 Overloaded");
    const denied = threadOf(page, "customer-onboarding").locator(".beat", { hasText: "exponential-backoff" });
    expect(readText(await denied.innerText())).toContain(
      "Denied by you, on this page: “use the helper in lib/retry”",
    );
    const story = await page.locator(".story").innerText();
    expect(story).not.toMatch(
      /\b(Tool|Notification|Prompt|startup|prompt_input_exit|AskUserQuestion|ExitPlanMode)\b/,
    );
    await pages.check(page);
  },
);

testPage("what is asked has the room: no text of a story is cut at 1440", async () => {
  const page = await showHistory(liveDay);
  await threadOf(page, "billing").waitFor();
  const cut = await page
    .locator(".said-p")
    .evaluateAll((parts) => parts.filter((part) => part.scrollWidth > part.clientWidth).length);
  expect(cut).toBe(0);
});

testPage("folds open: work to its rows, older turns to their story, quiet sessions to theirs", async () => {
  const page = await showHistory(liveDay);
  const checkout = threadOf(page, "checkout-api");
  const prompts = checkout.locator(".beat.you");
  await prompts.first().waitFor();
  const before = await prompts.count();
  await checkout.getByRole("button", { name: /earlier turns/ }).click();
  await waitUntil(async () => (await prompts.count()) === 12, 5_000);
  expect(before).toBeLessThan(4);
  const work = checkout.locator(".beat.works", { hasText: "6 commands, 3 edits" });
  await work.getByRole("button", { name: "6 commands, 3 edits" }).click();
  await waitUntil(async () => (await work.locator(".steps li").count()) === 15, 5_000);
  expect(readText(await work.locator(".steps li").first().innerText())).toBe(
    "13:21 Read src/orders/schema.ts",
  );
  const others = page.locator(".others", { hasText: "3 more sessions that asked nothing" });
  await others.getByRole("button").first().click();
  await others.getByRole("button", { name: /design-tokens/ }).click();
  await others.getByText("It fits on one line now.").waitFor();
  await pages.check(page);
});

testPage("a search shows only what matches, and opens folds to the hits", async () => {
  const page = await showHistory(liveDay);
  await page.getByLabel("Search history by text").fill("npm test");
  const hits = threadOf(page, "billing").locator(".beat");
  await hits.getByText("2 of 13 steps match").waitFor();
  expect(await hits.count()).toBe(1);
  expect(await hits.locator("mark").count()).toBeGreaterThan(1);
  expect(await page.locator(".story-top .quiet").innerText()).toMatch(/^\d+ hits in \d sessions$/);
  expect(await page.locator(".day-list-head").innerText()).toContain("hits");
  await page.getByLabel("Search history by text").fill("elephant");
  await page.getByText("Nothing found for “elephant”.").waitFor();
  await page.getByLabel("Project").selectOption("infra");
  await page.getByRole("button", { name: "Search everything" }).click();
  await page.getByText("Nothing found for “elephant”.", { exact: false }).waitFor();
});

testPage("Asks only leaves the asks, and a day in the list is gone to", async () => {
  const page = await showHistory(liveDay);
  await threadOf(page, "billing").waitFor();
  await page.getByRole("button", { name: "Asks only" }).click();
  await waitUntil(async () => (await threadOf(page, "billing").locator(".beat").count()) === 1, 5_000);
  await page.getByRole("button", { name: "Story" }).click();
  await page
    .locator(".day-list")
    .getByRole("button", { name: /^Yesterday/ })
    .click();
  await waitUntil(async () => (await page.locator(".thread").count()) === 1, 5_000);
  expect(readText(await threadOf(page, "notes").innerText())).toContain(
    "Asked: npm, pnpm or yarn? Answered “pnpm”",
  );
});

testPage("a click on a moment shows the transcript there; j and k go on, Esc closes it", async () => {
  const page = await showHistory(liveDay);
  const ask = threadOf(page, "customer-onboarding").locator(".beat", { hasText: "exponential-backoff" });
  await ask.locator("p").first().click();
  const moment = page.locator(".script .moment");
  await moment.waitFor();
  expect(readText(await moment.innerText())).toContain(
    "Asked to run 13:47:02 npm install exponential-backoff Denied",
  );
  // The line of the transcript that says the same is not there twice.
  expect(await page.locator(".script .line.step", { hasText: "exponential-backoff" }).count()).toBe(0);
  expect(await page.locator(".script").innerText()).toContain("It has no lock, so I add one per applicant.");
  await pages.check(page);
  await page.keyboard.press("j");
  await page.locator(".script-head", { hasText: "13:49:00" }).waitFor();
  await page.keyboard.press("k");
  await page.locator(".script-head", { hasText: "13:47:02" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".script").waitFor({ state: "detached" });
});

testPage("a click on any line of a moment opens it; its links and folds do their own work", async () => {
  const page = await showHistory(liveDay);
  const opened = page.locator(".beat.at");
  const denied = page.locator(".beat", { hasText: "exponential-backoff" });
  await denied.locator(".out").click();
  await page.locator(".script .moment").waitFor();
  expect(await opened.innerText()).toContain("exponential-backoff");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "2 commands, 1 lookup" }).click();
  await page.locator(".steps").waitFor();
  expect(await opened.count()).toBe(0);
  await page.getByRole("link", { name: "Answer it" }).click();
  await page.locator("#needs-you").waitFor();
  expect(await page.locator(".script").count()).toBe(0);
});

testPage("a prompt stands out from a response in its weight", async () => {
  const page = await showHistory(liveDay);
  await page.locator(".beat.says").first().waitFor();
  const weightOf = (kind: string) =>
    page.evaluate(`getComputedStyle(document.querySelector(".beat.${kind} .said-p")).fontWeight`);
  // A system font without a weight of 500 shows it as 400.
  expect([await weightOf("you"), await weightOf("says")]).toEqual(["600", "400"]);
});

testPage(
  "the list has no days before the first moment, and the filter no agents that never ran",
  async () => {
    const holds = { firstAt: new Date(2026, 10, 15, 20).getTime(), agents: ["claude"] };
    const page = await showHistory({ ...liveDay, story: (query) => ({ ...liveDay.story(query), holds }) });
    const days = page.locator(".day-list li button > :first-child");
    await waitUntil(async () => (await days.count()) > 1, 5_000);
    expect(await days.allInnerTexts()).toEqual(["Today", "Yesterday", "Sun 15 Nov"]);
    const agents = await page.getByLabel("Agent", { exact: true }).locator("option").allInnerTexts();
    expect(agents).toContain("Claude Code");
    expect(agents).not.toContain("Gemini CLI");
  },
);

testPage("keys go through the moments: j, o, x, n and Enter", async () => {
  const page = await showHistory(liveDay);
  await threadOf(page, "checkout-api").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.locator('.fold[aria-expanded="true"]').first().waitFor();
  await page.keyboard.press("x");
  await page.locator('.fold[aria-expanded="true"]').waitFor({ state: "detached" });
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await page.locator(".script .moment").waitFor();
  await page.keyboard.press("Escape");
  await page.getByLabel("Search history by text").fill("publish");
  await page.locator(".beat mark").first().waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  expect(await page.evaluate("document.activeElement.className")).toContain("beat");
  await page.keyboard.press("Enter");
  await page.locator(".script .moment").waitFor();
});

testPage("on a phone nothing is wider than the screen, and the transcript fills it", async () => {
  const page = await showHistory(liveDay, phone);
  await threadOf(page, "customer-onboarding").waitFor();
  await pages.check(page);
  await threadOf(page, "customer-onboarding").locator(".beat.asks p").first().click();
  await page.locator(".script .moment").waitFor();
  const box = await page.locator(".script").boundingBox();
  expect(box).toMatchObject({ x: 0, width: 390 });
  await pages.check(page);
});

testPage("a history that is off or empty says so", async () => {
  const page = await showHistory(historyOffDay);
  await page.getByText("Nothing is recorded: the history is off.").waitFor();
  await pages.check(page);
  pages.server().setSample({ ...liveDay, story: emptyDay.story });
  await page.reload();
  await page.getByText("Nothing has happened yet.").waitFor();
});

testPage("whatever an agent writes, the story shows it as text", async () => {
  const page = await showHistory(hostileDay);
  await page.locator(".thread").first().waitFor();
  await page.locator(".said-p").first().click();
  await page.locator(".script .moment").waitFor();
  const counts = await page.evaluate(`({
    images: document.images.length,
    attacked: globalThis.attacked ?? null,
    isShort: document.body.textContent.length < 200_000,
    backwards: /[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.textContent),
  })`);
  expect(counts).toEqual({ images: 0, attacked: null, isShort: true, backwards: false });
  expect(await listScripts(page)).toEqual(["/shared.js", "/page.js", "/more.js"]);
  expect(await page.locator(".story script, .story img, .script script, .script img").count()).toBe(0);
  expect(await fitsScreen(page)).toBe(true);
  expect(pages.faults()).toEqual([]);
});

testPage("the history's script is loaded when the history is opened, and not before", async () => {
  const page = await pages.open(liveDay);
  await page.locator(".row").first().waitFor();
  expect(await listScripts(page)).toEqual(["/shared.js", "/page.js"]);
  await page.getByRole("navigation", { name: "Page" }).getByRole("link", { name: "History" }).click();
  await page.locator(".thread").first().waitFor();
  expect(await listScripts(page)).toEqual(["/shared.js", "/page.js", "/more.js"]);
});

testPage("scripts that another program left in place of the page's are not run", async () => {
  const foreign = { contentType: "text/javascript", body: "globalThis.isRun = true" };
  const prepare = async (page: Page) => {
    await page.route("**/more.js", (route) => route.fulfill(foreign));
  };
  const page = await pages.open(liveDay, { prepare });
  await page.locator(".row").first().waitFor();
  await page.keyboard.press("/");
  await page.getByText("The history could not be loaded.").waitFor();
  // The page imports it, and an import has no hash of its own.
  await page.route("**/shared.js", (route) => route.fulfill(foreign));
  const isBlocked = page.waitForEvent("console", (message) => /integrity/.test(message.text()));
  await page.reload();
  await isBlocked;
  expect(await page.evaluate("globalThis.isRun")).toBeUndefined();
  expect(await page.locator(".bar").count()).toBe(0);
});
