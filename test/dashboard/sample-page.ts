/** The page in a real browser, with an invented day behind beckon's own server. */
import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { SessionPrompts } from "../../src/core/interfaces/wire.ts";
import { testWith } from "../needs.ts";
import { findAccessibilityFaults, launchBrowser, type OpenedPage, openPage } from "./browser.ts";
import type { Sample } from "./sample.ts";
import { type SampleServer, serveSample } from "./sample-server.ts";

export const testPage = testWith("chromium");
export const phone = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  hasTouch: true,
  isMobile: true,
};

export interface Notices {
  readonly unconnected?: readonly string[];
  readonly problems?: readonly string[];
  readonly isDemo?: boolean;
  readonly prompts?: SessionPrompts;
}

interface Opening {
  /** Opened as beckon does it. */
  readonly withKey?: boolean;
  readonly options?: BrowserContextOptions;
  readonly notices?: Notices;
  readonly prepare?: (page: Page) => Promise<void>;
}

export const fitsScreen = (page: Page) => page.evaluate("document.documentElement.scrollWidth <= innerWidth");

/** For the tests of the file that calls it: one browser for all, a page for each. */
export function useSamplePage() {
  let browser: Browser;
  let server: SampleServer;
  let opened: OpenedPage;
  beforeAll(async () => {
    if (Bun.which("chromium")) browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await opened?.page.context().close();
    await server?.stop();
  });

  async function open(
    sample: Sample,
    { withKey = true, options = {}, notices = {}, prepare }: Opening = {},
  ): Promise<Page> {
    server = serveSample(sample, notices);
    const url = withKey ? server.createPageUrl() : server.url;
    opened = await openPage(browser, url, options, prepare);
    return opened.page;
  }

  return {
    server: () => server,
    faults: () => opened.faults,
    open,
    /** Opened at the day's own time, and drawn. */
    async show(sample: Sample, options: BrowserContextOptions = {}, notices: Notices = {}): Promise<Page> {
      const prepare = (page: Page) => page.clock.install({ time: sample.now });
      const page = await open(sample, { options, notices, prepare });
      await page.locator(".row, .first, .calm").first().waitFor();
      return page;
    },
    /** No serious finding of axe-core, no error, nothing wider than the screen. */
    async check(page: Page): Promise<void> {
      expect(await findAccessibilityFaults(page)).toEqual([]);
      expect(await fitsScreen(page)).toBe(true);
      expect(opened.faults).toEqual([]);
    },
  };
}
