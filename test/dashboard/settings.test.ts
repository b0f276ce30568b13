/** The settings on the page, in a real browser, with the real config.json of a real beckon behind them. */
import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { settings } from "../../src/core/config/config.ts";
import { type AppFixture, createAppFixture, createPromptEvent } from "../app-fixture.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import {
  createPageUrl,
  findAccessibilityFaults,
  launchBrowser,
  type OpenedPage,
  openPage,
} from "./browser.ts";
import { liveDay } from "./sample.ts";
import { serveSample } from "./sample-server.ts";
import { createSampleSettings } from "./sample-settings.ts";

const testPage = testWith("chromium");
let browser: Browser;
beforeAll(async () => {
  if (Bun.which("chromium")) browser = await launchBrowser();
});
afterAll(() => browser?.close());

let fixture: AppFixture | undefined;
let opened: OpenedPage;
const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  await opened?.page.context().close();
  for (const end of ends.splice(0)) await end();
  await fixture?.destroy();
  fixture = undefined;
});

const text = `{
  "// mine": "keep this",
  "alerts": {
    "finished": true
  },
  "quietHours": { "from": "22:00", "to": "08:00" }
}
`;

/** A real beckon with this config.json, and its settings on the page. */
async function open(config: string | null, hash = "#settings"): Promise<Page> {
  fixture = createAppFixture();
  await fixture.start({ BECKON_STREAM_PATH: "/home/dev/stream.jsonl" });
  if (config !== null) writeFileSync(fixture.paths.config, config);
  opened = await openPage(browser, (await createPageUrl(fixture)) + hash);
  if (hash !== "") await opened.page.locator(".set").first().waitFor();
  return opened.page;
}

const waitMs = 15_000;
const readFile = (): string => readFileSync(fixture?.paths.config ?? "", "utf8");
const rowOf = (page: Page, key: string) => page.locator(`.set[data-key="${key}"]`);
const sourceOf = (page: Page, key: string) => rowOf(page, key).locator(".from").innerText();

testPage("every setting is there, with its value and where that comes from", async () => {
  const page = await open(text);
  expect(await sourceOf(page, "alerts.blocked")).toBe("Default");
  expect(await sourceOf(page, "alerts.finished")).toBe("config.json, line 4\ndefault off · Reset");
  expect(await rowOf(page, "quietHours").locator("input").first().inputValue()).toBe("22:00");
  const stream = rowOf(page, "stream.path");
  expect(await stream.innerText()).toContain("/home/dev/stream.jsonl");
  expect(await sourceOf(page, "stream.path")).toContain("BECKON_STREAM_PATH");
  expect(await page.locator(".set-top").innerText()).toContain(
    `3 of ${settings.length} differ from the default`,
  );
  const alerts = page.locator(".set-nav li", { hasText: "Alerts" });
  expect((await alerts.innerText()).split("\n")).toEqual(["Alerts", "1"]);
  expect(page.url()).toEndWith("/#settings");
  expect(opened.faults).toEqual([]);
});

testPage("changes are saved together with Ctrl S, and the rest of the file stays byte for byte", async () => {
  const page = await open(text);
  await rowOf(page, "alerts.sound").getByRole("switch").click();
  await rowOf(page, "quietHours").getByLabel("To").fill("07:30");
  await rowOf(page, "alerts.finished").getByRole("button", { name: "Reset" }).click();
  await rowOf(page, "mutedProjects").getByRole("button", { name: "Add a project" }).click();
  await page.keyboard.type("playground");
  await page.keyboard.press("Enter");
  expect(await sourceOf(page, "quietHours")).toBe("Not saved\nwas 22:00 to 08:00\ndefault none");
  expect(await page.locator(".save").innerText()).toContain("4 changes");
  expect(readFile()).toBe(text);
  await page.keyboard.press("Control+s");
  await page.getByText("Saved in config.json.").waitFor();
  expect(readFile()).toBe(`{
  "// mine": "keep this",
  "alerts": {
    "sound": false
  },
  "quietHours": { "from": "22:00", "to": "07:30" },
  "mutedProjects": ["playground"]
}
`);
  await waitUntil(
    async () => (await sourceOf(page, "mutedProjects")).startsWith("config.json, line 7"),
    waitMs,
  );
  expect(await page.locator(".save-in").count()).toBe(0);
  expect(opened.faults).toEqual([]);
});

testPage("a mistake is named with what is allowed and what stays, and nothing is saved", async () => {
  const page = await open(text);
  const row = rowOf(page, "alerts.longTurnMinutes");
  await row.getByRole("textbox").fill("-5");
  await rowOf(page, "alerts.sound").getByRole("switch").click();
  expect(await row.locator(".err").innerText()).toBe("From 0 to 1440 minutes. 5 stays in use.");
  expect(await row.getByRole("textbox").getAttribute("aria-invalid")).toBe("true");
  expect(await page.locator(".save").innerText()).toContain("2 changes, 1 mistake.");
  expect(await page.getByRole("button", { name: "Save Ctrl S" }).isDisabled()).toBe(true);
  await page.keyboard.press("Control+s");
  await page.locator(".save").getByRole("button", { name: "A long turn ended" }).click();
  await row.locator("input:focus").waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("10");
  await page.getByRole("button", { name: "Save Ctrl S" }).click();
  await page.getByText("Saved in config.json.").waitFor();
  expect(JSON.parse(readFile()).alerts).toEqual({ finished: true, longTurnMinutes: 10, sound: false });
});

testPage("a file that changes meanwhile is shown, and unsaved changes are kept or given up", async () => {
  const page = await open(text);
  const changeFile = async (config: object) => {
    writeFileSync(fixture?.paths.config ?? "", JSON.stringify(config));
  };
  await changeFile({ alerts: { idle: false } });
  await waitUntil(
    async () => (await sourceOf(page, "alerts.idle")).startsWith("config.json, line 1"),
    waitMs,
  );
  const sound = rowOf(page, "alerts.sound").getByRole("switch");
  await sound.click();
  await changeFile({ alerts: { failed: false } });
  await page.getByText("config.json changed.").waitFor();
  await page.getByRole("button", { name: "Keep yours" }).click();
  expect(await rowOf(page, "alerts.failed").getByRole("switch").isChecked()).toBe(false);
  expect(await sound.isChecked()).toBe(false);
  await page.getByRole("button", { name: "Save Ctrl S" }).click();
  await page.getByText("Saved in config.json.").waitFor();
  expect(JSON.parse(readFile())).toEqual({ alerts: { failed: false, sound: false } });
  await sound.click();
  await changeFile({ autoLaunch: false });
  await page.getByText("config.json changed.").waitFor();
  await page.getByRole("button", { name: "Reload" }).click();
  expect(await sourceOf(page, "autoLaunch")).toStartWith("config.json");
  expect(await sourceOf(page, "alerts.sound")).toBe("Default");
});

testPage("a save that comes too late for the file asks too, and changes nothing", async () => {
  const page = await open(text);
  await rowOf(page, "alerts.sound").getByRole("switch").click();
  // Between the page's last look and its save.
  await page.route("**/api/settings", (route) => route.abort());
  const other = '{"autoLaunch": false}';
  writeFileSync(fixture?.paths.config ?? "", other);
  await page.keyboard.press("Control+s");
  await page.getByText("config.json changed.").waitFor();
  expect(readFile()).toBe(other);
});

testPage("mistakes in the file are named beside the setting, and can be put right there", async () => {
  const page = await open('{\n  "alerts": { "sound": "no" },\n  "colour": "red"\n}\n');
  await page.getByText("colour is not a setting").waitFor();
  const row = rowOf(page, "alerts.sound");
  expect(await row.locator(".err").innerText()).toBe(
    'alerts.sound must be true or false, not "no". On stays in use.',
  );
  expect(await page.locator(".set-nav .oops").count()).toBe(1);
  await row.getByRole("button", { name: "Reset" }).click();
  await page.keyboard.press("Control+s");
  await page
    .getByText("Saved in config.json. It counts once the mistakes in the file are put right.")
    .waitFor();
  expect(JSON.parse(readFile())).toEqual({ alerts: {}, colour: "red" });
});

testPage("a file that is not JSON is named, and nothing can be changed", async () => {
  const page = await open('{\n  "alerts": {\n');
  await page.getByText("is not valid JSON, line 3").waitFor();
  expect(await rowOf(page, "alerts.sound").getByRole("switch").isDisabled()).toBe(true);
});

testPage("what gives something to others is turned on in the file only", async () => {
  const page = await open('{ "answering": { "enabled": false } }');
  await waitUntil(
    async () => (await sourceOf(page, "answering.enabled")).startsWith("config.json, line 1"),
    waitMs,
  );
  expect(await rowOf(page, "allowRemoteUrl").getByRole("switch").isDisabled()).toBe(true);
  const answering = rowOf(page, "answering.enabled");
  expect(await answering.getByRole("switch").isDisabled()).toBe(true);
  expect(await answering.innerText()).toContain("beckon config set answering.enabled true");
  expect(await answering.getByRole("button", { name: "Reset" }).count()).toBe(0);
});

testPage("a script that another program left in place of the panel's is not run", async () => {
  const page = await open(text, "");
  await page.route("**/settings.js", (route) =>
    route.fulfill({ contentType: "text/javascript", body: "globalThis.isRun = true" }),
  );
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByText("The settings could not be loaded.").waitFor();
  expect(await page.evaluate("globalThis.isRun")).toBeUndefined();
});

testPage("the search marks what matches, counts it, and Esc and , lead in and out", async () => {
  const page = await open(text, "");
  await fixture?.postHook(createPromptEvent("s1"));
  await page.locator(".row").first().waitFor();
  const scripts: string[] = [];
  page.on("request", (request) => {
    if (request.resourceType() === "script") scripts.push(new URL(request.url()).pathname);
  });
  await page.keyboard.press(",");
  await page.locator(".set").first().waitFor();
  // The page loads its settings when they are opened.
  expect(scripts).toEqual(["/settings.js"]);
  await page.keyboard.press("/");
  await page.keyboard.type("quiet hours");
  await page.getByText(`1 of ${settings.length} match “quiet hours”`).waitFor();
  expect(await page.locator(".set").count()).toBe(1);
  expect(await page.locator(".set mark").allInnerTexts()).toContain("Quiet");
  await page.getByLabel("Search settings").fill("zzz");
  await page.getByText("Nothing found for “zzz”.").waitFor();
  await page.getByRole("button", { name: "Show all" }).last().click();
  await page.locator(".set").nth(30).waitFor();
  // Keys that answer requests do nothing here.
  await page.evaluate("document.activeElement.blur()");
  await page.keyboard.press("o");
  expect(await page.locator(".side").count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.locator(".row").first().waitFor();
  await page.keyboard.press(",");
  await page.getByRole("navigation", { name: "Page", exact: true }).getByText("History").click();
  await page.locator("#history").waitFor();
  expect(existsSync(fixture?.paths.config ?? "")).toBe(true);
  expect(opened.faults).toEqual([]);
});

testPage("Change under the days of the history opens the settings there, each time", async () => {
  const settings = createSampleSettings(liveDay.now, text);
  const server = serveSample(liveDay, { settings });
  ends.push(server.stop, settings.destroy);
  opened = await openPage(browser, `${server.createPageUrl()}#history`);
  const { page } = opened;
  const topOf = async () => (await page.locator("#settings-history").boundingBox())?.y ?? Number.NaN;
  for (const _ of ["first", "again"]) {
    await page.locator("#history").getByRole("link", { name: "Change" }).click();
    await page.locator("#settings-history").waitFor();
    await waitUntil(async () => (await topOf()) < 300, 5_000);
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    expect(await topOf()).toBeLessThan(300);
    await page.goBack();
  }
});

testPage(
  "on a phone the sections have no scrollbar, and a wrong field stays red with the focus",
  async () => {
    const settings = createSampleSettings(liveDay.now, text);
    const server = serveSample(liveDay, { settings });
    ends.push(server.stop, settings.destroy);
    opened = await openPage(browser, `${server.createPageUrl()}#settings`, { viewport: phone.viewport });
    const { page } = opened;
    await page.locator(".set").first().waitFor();
    const sections = 'document.querySelector(".set-nav ol")';
    expect(await page.evaluate(`${sections}.scrollWidth > ${sections}.clientWidth`)).toBe(true);
    // This browser hides every scrollbar, so the bar itself cannot be measured.
    expect(await page.evaluate(`getComputedStyle(${sections}).scrollbarWidth`)).toBe("none");
    await page.locator(".set-nav ol").getByRole("link").last().focus();
    expect(await page.evaluate(`${sections}.scrollLeft`)).toBeGreaterThan(0);
    await rowOf(page, "alerts.longTurnMinutes").getByRole("textbox").fill("-5");
    await page.locator('.field[aria-invalid="true"]:focus-visible').waitFor();
    // The ring of the focus is outside of the red border and the line around it.
    const offset = await page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineOffset)");
    expect(offset).toBeGreaterThanOrEqual(1);
  },
);

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const dark = { colorScheme: "dark" } as const;

describe("no serious finding of axe-core, no error, nothing wider than the screen:", () => {
  const looks: readonly (readonly [string, BrowserContextOptions])[] = [
    ["light", {}],
    ["dark", dark],
    ["1024 wide", { viewport: { width: 1024, height: 800 } }],
    ["on a phone", phone],
    ["on a phone, dark", { ...phone, ...dark }],
  ];
  for (const [name, options] of looks)
    testPage(name, async () => {
      const long = "a-project-with-a-name-that-is-much-longer-than-any-column-".repeat(3);
      const settings = createSampleSettings(
        liveDay.now,
        JSON.stringify({
          alerts: { failed: "yes" },
          mutedProjects: [long],
          channels: { phone: { type: "ntfy" } },
        }),
      );
      const server = serveSample(liveDay, { settings });
      ends.push(server.stop, settings.destroy);
      opened = await openPage(browser, `${server.createPageUrl()}#settings`, options);
      const { page } = opened;
      await page.locator(".set").first().waitFor();
      await rowOf(page, "alerts.longTurnMinutes").getByRole("textbox").fill("-5");
      await rowOf(page, "history").getByRole("button", { name: "Off" }).click();
      expect(await findAccessibilityFaults(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await page.getByLabel("Search settings").fill("phone");
      await page.locator(".set mark").first().waitFor();
      expect(await findAccessibilityFaults(page)).toEqual([]);
      expect(opened.faults).toEqual([]);
    });
});
