/**
 * bun test/dashboard/pictures.ts [FOLDER]   takes pictures of the page in all its states
 *
 * The sessions are invented (sample.ts). Look at the pictures after every change of the page.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import type { PromptView, SessionPrompts } from "../../src/core/interfaces/wire.ts";
import { launchBrowser, openPage } from "./browser.ts";
import {
  calmDay,
  collidingDay,
  emptyDay,
  firstDay,
  guardedDay,
  historyOffDay,
  liveDay,
  machinesDay,
  manyDay,
  manyMachinesDay,
  rewoundDay,
  type Sample,
} from "./sample.ts";
import { createRulesDay } from "./sample-rules.ts";
import { serveSample } from "./sample-server.ts";
import { createSampleSettings } from "./sample-settings.ts";
import { sampleTeams } from "./sample-teams.ts";

const folder = process.argv[2] ?? "dist/pictures";
mkdirSync(folder, { recursive: true });
/** The fonts of the mock, if they are installed: a bare Debian has no font for interfaces. */
const fonts = join(mkdtempSync(join(tmpdir(), "beckon-fonts-")), "fonts.conf");
writeFileSync(
  fonts,
  `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><include>/etc/fonts/fonts.conf</include>
  ${Object.entries({
    sans: "Inter",
    "sans-serif": "Inter",
    "system-ui": "Inter",
    monospace: "JetBrains Mono",
  })
    .map(
      ([from, to]) =>
        `<match><test name="family"><string>${from}</string></test><edit name="family" mode="prepend" binding="strong"><string>${to}</string></edit></match>`,
    )
    .join("")}
  </fontconfig>`,
);
const browser = await launchBrowser({ FONTCONFIG_FILE: fonts });

interface Picture {
  readonly name: string;
  readonly sample: Sample;
  readonly options?: BrowserContextOptions;
  readonly isFullPage?: boolean;
  readonly unconnected?: readonly string[];
  readonly problems?: readonly string[];
  readonly prompts?: SessionPrompts;
  readonly prepare?: (page: Page, stop: () => Promise<void>, configPath: string) => Promise<void>;
}

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const dark = { colorScheme: "dark" as const };
const forReadme = { viewport: { width: 1440, height: 1160 }, deviceScaleFactor: 1.5 };
const failingChannels = [
  "channel phone: ntfy answered 502 (bad gateway). Run: beckon channel test phone",
  "channel team: the bot may not write there. Open the chat and press Start, or add the bot to the group. Run: beckon channel test team",
];
const openSettings = async (page: Page) => {
  await page.keyboard.press(",");
  await page.locator(".set").first().waitFor();
};
const changeSettings = async (page: Page) => {
  await openSettings(page);
  await page.locator('[data-key="alerts.longTurnMinutes"] input').fill("-5");
  await page.locator('[data-key="quietHours"] input').last().fill("07:30");
  await page.evaluate("scrollTo(0, 0)");
};
const searchSettings = async (page: Page) => {
  await openSettings(page);
  await page.locator('[data-key="alerts.graceMs"] input').fill("1500");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("phone");
};
const conflictSettings = async (page: Page, _: unknown, path: string) => {
  await openSettings(page);
  await page.locator('[data-key="alerts.sound"] input').click();
  writeFileSync(path, '{\n  "alerts": { "failed": "yes", "longTurnMinutes": 2000 },\n  "colour": "red"\n}\n');
  await page.getByText("config.json changed.").waitFor();
  await page.getByRole("button", { name: "Keep yours" }).click();
};
const rewind = async (page: Page) => {
  const slider = page.getByRole("slider", { name: "Time shown" });
  await slider.fill(String(rewoundDay.now - (rewoundDay.now % 60_000) - 12 * 60_000));
  await page.getByText("Needed you then").waitFor();
  await page.getByText("Open at 14:20").waitFor();
};
const tall = { viewport: { width: 1440, height: 1060 } };
const way = "Arrives as a message from @beckon";
const spacing =
  "Now the spacing tokens: name them by step, not by pixels. Leave the old names as aliases for one release.";
const createPrompt = (id: string, more: Partial<PromptView>): PromptView => ({
  id,
  session: "claude:s",
  text: spacing,
  state: "queued",
  since: liveDay.now,
  says: "it works: sent when this turn ends",
  ...more,
});
const openPrompt = async (page: Page) => {
  await page.locator(".row").getByRole("button", { name: "design-tokens" }).first().click();
  await page.locator(".next").waitFor();
};
const promptPictures: readonly Picture[] = [
  {
    name: "70-prompt-light",
    sample: liveDay,
    prepare: async (page) => {
      await openPrompt(page);
      await page.getByLabel("The next prompt").fill(spacing);
    },
  },
  ...(
    [
      ["71-prompt-queued-dark", dark],
      ["72-prompt-queued-phone", phone],
    ] as const
  ).map(([name, options]) => ({
    name,
    sample: liveDay,
    options,
    prepare: openPrompt,
    prompts: {
      prompts: [
        createPrompt("1", { state: "delivered", says: "" }),
        createPrompt("2", {}),
        createPrompt("3", { text: "Write the changelog entry.", says: "sent after 15:00" }),
      ],
      obstacle: null,
      way,
    },
  })),
  {
    name: "73-prompt-not-taken-dark",
    sample: liveDay,
    options: dark,
    prepare: openPrompt,
    prompts: {
      prompts: [createPrompt("1", { state: "not taken", says: "its inbox does not answer" })],
      obstacle: null,
      way,
    },
  },
  {
    name: "74-prompt-none-light",
    sample: liveDay,
    prepare: openPrompt,
    prompts: { prompts: [], obstacle: "Gemini CLI takes prompts only in its terminal", way: null },
  },
];

const pictures: readonly Picture[] = [
  ...promptPictures,
  { name: "60-rewind-light", sample: rewoundDay, prepare: rewind },
  { name: "61-rewind-dark", sample: rewoundDay, options: dark, prepare: rewind },
  { name: "62-rewind-phone", sample: rewoundDay, options: phone, prepare: rewind },
  { name: "30-settings-light", sample: liveDay, options: tall, prepare: changeSettings },
  { name: "31-settings-dark", sample: liveDay, options: dark, prepare: changeSettings, isFullPage: true },
  { name: "32-settings-search-dark", sample: liveDay, options: dark, prepare: searchSettings },
  { name: "33-settings-phone", sample: liveDay, options: phone, prepare: changeSettings },
  {
    name: "34-settings-phone-dark",
    sample: liveDay,
    options: { ...phone, ...dark },
    prepare: async (page) => {
      await openSettings(page);
      await page.locator("#settings-phone").evaluate((element) => element.scrollIntoView());
    },
  },
  {
    name: "37-settings-phone-history",
    sample: liveDay,
    options: phone,
    prepare: async (page) => {
      await openSettings(page);
      await page.locator("#settings-history").evaluate((element) => element.scrollIntoView());
    },
  },
  { name: "35-settings-mistakes", sample: liveDay, prepare: conflictSettings },
  {
    name: "36-settings-1024",
    sample: liveDay,
    options: { viewport: { width: 1024, height: 900 } },
    prepare: openSettings,
  },
  { name: "settings", sample: liveDay, options: forReadme, prepare: openSettings },
  { name: "01-live-light", sample: liveDay, isFullPage: true },
  { name: "02-live-dark", sample: liveDay, options: dark, isFullPage: true },
  { name: "03-calm-light", sample: calmDay },
  { name: "60-collisions-light", sample: collidingDay, isFullPage: true },
  {
    name: "61-collisions-detail-dark",
    sample: collidingDay,
    options: dark,
    prepare: (page) => page.locator(".row", { hasText: "May be stuck" }).locator(".link").first().click(),
  },
  { name: "62-collisions-phone", sample: collidingDay, options: phone, isFullPage: true },
  ...[
    { name: "18-ports-light", sample: guardedDay },
    { name: "19-ports-dark", sample: guardedDay, options: dark },
    { name: "20-ports-phone", sample: guardedDay, options: phone },
  ].map((picture) => ({
    ...picture,
    prepare: async (page: Page) => page.locator("#ports").scrollIntoViewIfNeeded(),
  })),
  {
    name: "04-detail-dark",
    sample: liveDay,
    options: { ...dark, viewport: { width: 1440, height: 980 } },
    prepare: async (page) => {
      await page.locator(".ask").first().getByRole("button", { name: "checkout-api" }).click();
      await page.locator(".feed").waitFor();
    },
  },
  { name: "05-many-light", sample: manyDay, options: { viewport: { width: 1440, height: 1100 } } },
  {
    name: "06-stopped-light",
    sample: liveDay,
    prepare: async (page, stop) => {
      await stop();
      await page.locator(".stop").waitFor();
    },
  },
  { name: "07-first-run-light", sample: emptyDay, unconnected: ["Claude Code"] },
  { name: "08-live-1024", sample: liveDay, options: { viewport: { width: 1024, height: 1500 } } },
  { name: "09-phone-light", sample: liveDay, options: phone },
  { name: "10-phone-dark", sample: liveDay, options: { ...phone, ...dark } },
  ...[
    { name: "24-history-light", options: { viewport: { width: 1440, height: 1100 } } },
    { name: "25-history-dark", options: { ...dark, viewport: { width: 1440, height: 1100 } } },
    { name: "26-history-phone", options: phone },
    { name: "27-history-1024", options: { viewport: { width: 1024, height: 900 } } },
  ].map((picture) => ({
    ...picture,
    sample: liveDay,
    prepare: async (page: Page) => {
      await page.evaluate('location.hash = "#history"');
      await page
        .getByRole("button", { name: "12 commands, 3 edits" })
        .first()
        .or(page.locator(".fold").nth(1))
        .first()
        .click();
      await page.locator(".steps").first().waitFor();
    },
  })),
  ...[
    { name: "28-search-dark", options: { ...dark, viewport: { width: 1440, height: 980 } } },
    { name: "29-search-light", options: { viewport: { width: 1440, height: 980 } } },
    { name: "30-search-phone", options: { ...phone, ...dark } },
  ].map((picture) => ({
    ...picture,
    sample: liveDay,
    prepare: async (page: Page) => {
      await page.evaluate('location.hash = "#history"');
      await page.getByLabel("Search history by text").fill("npm");
      await page.locator("mark").first().waitFor();
      await page.locator(".beat", { hasText: "exponential-backoff" }).locator(".said-p").click();
      await page.locator(".script .moment").waitFor();
    },
  })),
  ...["sessions", "today", "waited"].map((id) => ({
    name: `11-phone-${id}`,
    sample: liveDay,
    options: phone,
    prepare: async (page: Page) => {
      await page.locator(`#${id}`).evaluate((element) => element.scrollIntoView());
    },
  })),
  ...[
    { name: "21-failing-light", options: {} },
    { name: "22-failing-dark", options: dark },
    { name: "23-failing-phone", options: phone },
  ].map((picture) => ({ ...picture, sample: liveDay, problems: failingChannels })),
  ...[
    { name: "40-machines-light", sample: machinesDay, options: {}, isFullPage: true },
    { name: "41-machines-dark", sample: machinesDay, options: dark, isFullPage: true },
    {
      name: "42-machines-many",
      sample: manyMachinesDay,
      options: { viewport: { width: 1440, height: 1400 } },
    },
    {
      name: "43-machines-many-dark",
      sample: manyMachinesDay,
      options: { ...dark, viewport: { width: 1440, height: 1400 } },
    },
    { name: "44-machines-1024", sample: machinesDay, options: { viewport: { width: 1024, height: 1300 } } },
    { name: "machines", sample: machinesDay, options: forReadme },
  ],
  {
    name: "45-machines-by-state",
    sample: machinesDay,
    isFullPage: true,
    prepare: async (page) => {
      await page.getByRole("button", { name: "By state" }).click();
      await page.getByRole("button", { name: "Show set aside" }).click();
    },
  },
  ...[
    { name: "46-machines-phone", options: phone },
    { name: "47-machines-phone-dark", options: { ...phone, ...dark } },
  ].map((picture) => ({
    ...picture,
    sample: machinesDay,
    prepare: async (page: Page) => {
      await page
        .locator(".mach")
        .nth(1)
        .evaluate((element) => element.scrollIntoView({ block: "start" }));
      await page.evaluate("scrollBy(0, -70)");
    },
  })),
  { name: "48-machines-phone-top", sample: machinesDay, options: phone, isFullPage: true },
  ...[
    { name: "50-team-light", teams: sampleTeams.nine, isFullPage: true },
    { name: "51-team-dark", teams: sampleTeams.nine, options: dark, isFullPage: true },
    { name: "52-team-three", teams: sampleTeams.three },
    { name: "53-team-forty", teams: sampleTeams.forty, isFullPage: true },
    { name: "54-team-forty-dark", teams: sampleTeams.forty, options: dark, isFullPage: true },
    { name: "55-team-phone", teams: sampleTeams.nine, options: phone, isFullPage: true },
    { name: "56-team-phone-dark", teams: sampleTeams.forty, options: { ...phone, ...dark } },
    { name: "57-team-1024", teams: sampleTeams.nine, options: { viewport: { width: 1024, height: 900 } } },
    { name: "58-team-calm", teams: sampleTeams.calm },
    { name: "team", teams: sampleTeams.nine, options: forReadme },
  ].map(({ teams, ...picture }) => ({
    ...picture,
    sample: { ...machinesDay, teams },
    prepare: async (page: Page) => {
      await page.evaluate('location.hash = "#team"');
      await page.locator(".team-t tbody tr").first().waitFor();
    },
  })),
  ...[
    { name: "70-rules-light", isFullPage: true },
    { name: "71-rules-dark", options: dark, isFullPage: true },
    { name: "72-rules-phone", options: phone, isFullPage: true },
  ].map((picture) => ({
    ...picture,
    sample: createRulesDay(liveDay),
    prepare: async (page: Page) => {
      await page.evaluate('location.hash = "#rules"');
      await page.locator(".rules-t tbody tr").first().waitFor();
      await page.getByRole("button", { name: "Always…" }).first().click();
    },
  })),
  { name: "dashboard", sample: liveDay, options: forReadme },
  { name: "dashboard-dark", sample: liveDay, options: { ...forReadme, ...dark } },
  ...[
    { name: "31-first-day-light", options: { viewport: { width: 1440, height: 720 } } },
    { name: "32-first-day-phone", options: { ...phone, ...dark } },
  ].map((picture) => ({
    ...picture,
    sample: firstDay,
    prepare: async (page: Page) => {
      await page.locator("#today").evaluate((element) => element.scrollIntoView());
    },
  })),
  { name: "12-keys-light", sample: liveDay, prepare: (page) => page.keyboard.press("?") },
  { name: "13-history-off", sample: historyOffDay, isFullPage: true },
  { name: "14-empty-connected", sample: emptyDay },
  {
    name: "15-yesterday-light",
    sample: liveDay,
    prepare: async (page) => {
      await page.getByRole("button", { name: "The day before" }).click();
      await page
        .getByRole("img", { name: /, yesterday: / })
        .first()
        .waitFor();
      await page.locator("#today").evaluate((element) => element.scrollIntoView());
    },
  },
  {
    name: "16-phone-detail",
    sample: liveDay,
    options: phone,
    prepare: async (page) => {
      await page.getByRole("button", { name: "checkout-api" }).first().click();
      await page.locator(".side .tasks").evaluate((element) => element.scrollIntoView({ block: "end" }));
    },
  },
];

const only = process.argv[3];
for (const { name, sample, options, isFullPage = false, prepare, ...notices } of pictures) {
  if (only !== undefined && !name.includes(only)) continue;
  const settings = createSampleSettings(sample.now);
  const server = serveSample(sample, { ...notices, settings });
  const { page, faults } = await openPage(browser, server.createPageUrl(), options, async (opened) => {
    await opened.clock.setFixedTime(sample.now);
  });
  await page
    .locator(sample.sessions.length > 0 ? ".row" : ".first, .page")
    .first()
    .waitFor();
  if (sample.lanes.enabled && sample.lanes.lanes.length > 0)
    await page.locator(".lane .s-working").first().waitFor();
  // Buttons are locked for the first second.
  if (sample.sessions.some(({ group }) => group === "needs_you"))
    await page.locator('.ask [data-do="deny"]:enabled').first().waitFor();
  await prepare?.(page, server.stop, settings.path);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: isFullPage });
  console.log(name, faults);
  await page.context().close();
  await server.stop();
  settings.destroy();
}
await browser.close();
rmSync(dirname(fonts), { recursive: true });
