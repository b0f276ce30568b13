/** The next prompt of a session, in its details on the page. */
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import type { PromptView } from "../../src/core/interfaces/wire.ts";
import { waitUntil } from "../wait-until.ts";
import { liveDay } from "./sample.ts";
import { phone, testPage, useSamplePage } from "./sample-page.ts";

const pages = useSamplePage();
const open = async (page: Page) => {
  await page.locator(".row").getByRole("button", { name: "checkout-api" }).first().click();
  await page.locator(".next").waitFor();
};

const way = "Arrives as a message from @beckon";
const createPrompt = (id: string, more: Partial<PromptView>): PromptView => ({
  id,
  session: "claude:s",
  text: "Now the spacing tokens: name them by step, not by pixels.",
  state: "queued",
  since: liveDay.now,
  says: "it works: sent when this turn ends",
  ...more,
});

testPage("text is sent with Ctrl Enter, and with what the user has chosen", async () => {
  const page = await pages.show(liveDay);
  await open(page);
  await page.getByLabel("The next prompt").fill("now the tests");
  await page.keyboard.press("Control+Enter");
  const sent = () => pages.server().actions.filter(({ action }) => action === "send");
  await waitUntil(() => sent().length === 1, 5_000);
  // It asks something: that is answered first.
  expect(sent()[0]?.body).toEqual({ by: "page", text: "now the tests", when: "idle" });
  await waitUntil(async () => (await page.getByLabel("The next prompt").inputValue()) === "", 5_000);
  await page.getByLabel("The next prompt").fill("go on");
  await page.getByLabel("When it is sent").selectOption("at");
  const button = page.locator(".next").getByRole("button", { name: "Send" });
  expect(await button.isDisabled()).toBe(true);
  await page.getByLabel("Not before").fill("15:00");
  await button.click();
  await waitUntil(() => sent().length === 2, 5_000);
  expect(sent()[1]?.body).toEqual({ by: "page", text: "go on", at: "15:00" });
});

testPage(
  "p opens the box of the selected session, and what was typed is kept when it is closed",
  async () => {
    const page = await pages.show(liveDay);
    await page.keyboard.press("j");
    await page.keyboard.press("p");
    const box = page.getByLabel("The next prompt");
    await waitUntil(() => box.evaluate((element) => element.matches(":focus")), 5_000);
    await page.keyboard.type("later");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await waitUntil(async () => (await page.locator(".side").count()) === 0, 5_000);
    await page.keyboard.press("p");
    await waitUntil(async () => (await box.count()) === 1 && (await box.inputValue()) === "later", 5_000);
    expect(pages.server().actions).toEqual([]);
  },
);

testPage(
  "what waits says why, and can be changed and removed; what was not taken can be tried again",
  async () => {
    const prompts = [
      createPrompt("00000001", {}),
      createPrompt("00000002", { state: "not taken", says: "its inbox does not answer" }),
    ];
    const page = await pages.show(liveDay, {}, { prompts: { prompts, obstacle: null, way } });
    await open(page);
    const [first, second] = [page.locator(".queue li").nth(0), page.locator(".queue li").nth(1)];
    expect(await first.innerText()).toContain("Queued. It works: sent when this turn ends.");
    expect(await second.innerText()).toContain("Not taken. Its inbox does not answer.");
    await second.getByRole("button", { name: "Try again" }).click();
    await first.getByRole("button", { name: "Edit" }).click();
    await waitUntil(() => pages.server().actions.length >= 2, 5_000);
    expect(pages.server().actions.map(({ name, action }) => [name, action])).toEqual([
      ["00000002", "change"],
      ["00000001", "remove"],
    ]);
    const box = page.getByLabel("The next prompt");
    await waitUntil(async () => (await box.inputValue()).includes("spacing tokens"), 5_000);
  },
);

for (const [name, options] of [
  ["dark", { colorScheme: "dark" as const }],
  ["a phone", phone],
] as const)
  testPage(
    `prompts of every state are accessible, and nothing is wider than the screen: ${name}`,
    async () => {
      const prompts = [
        createPrompt("00000001", { state: "delivered", says: "" }),
        createPrompt("00000002", { text: "a long word ".repeat(40) + "x".repeat(200) }),
        createPrompt("00000003", { state: "unknown", says: "beckon ended meanwhile" }),
      ];
      const page = await pages.show(liveDay, options, { prompts: { prompts, obstacle: null, way } });
      await open(page);
      await pages.check(page);
    },
  );

testPage("a session that takes none has no box, and says why", async () => {
  const obstacle = "Gemini CLI takes prompts only in its terminal";
  const page = await pages.show(liveDay, {}, { prompts: { prompts: [], obstacle, way: null } });
  await open(page);
  expect(await page.locator(".next").innerText()).toContain(obstacle);
  expect(await page.locator(".next textarea").count()).toBe(0);
});
