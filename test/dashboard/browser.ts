/** A real Chromium, and pages of a beckon opened in it as `beckon open` does. */
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { AppFixture } from "../app-fixture.ts";

export interface OpenedPage {
  readonly page: Page;
  /** Everything that a page must not do: errors, violations of the content security policy, requests elsewhere. */
  readonly faults: string[];
}

export function launchBrowser(env: Record<string, string> = {}): Promise<Browser> {
  return chromium.launch({
    env: { ...process.env, ...env } as Record<string, string>,
    executablePath: Bun.which("chromium") ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--font-render-hinting=none"],
  });
}

/** A new address of the page, for one use. */
export async function createPageUrl(fixture: AppFixture): Promise<string> {
  const response = await fixture.request("/api/page/code", { method: "POST", body: "{}" });
  const { url } = (await response.json()) as { url: string };
  return url;
}

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => Promise<void> = async () => {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const faults: string[] = [];
  const { origin } = new URL(url);
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // The page reconnects by itself.
    const isLostConnection = message.text().includes("net::ERR_");
    if (message.type() === "error" && !isLostConnection) faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith("data:"))
      faults.push(`request: ${request.url()}`);
  });
  await prepare(page);
  await page.goto(url);
  return { page, faults };
}

/** The page's own scripts, as far as it has loaded them. */
export const listScripts = (page: Page): Promise<string[]> =>
  page.evaluate("[...document.scripts].map(({ src }) => new URL(src).pathname)");

/** What axe-core finds, as "impact rule: element"; minor findings are left out. */
export async function findAccessibilityFaults(page: Page): Promise<string[]> {
  // Through the debugging protocol: the page's own policy allows no script from elsewhere.
  const session = await page.context().newCDPSession(page);
  const run = `${axe.source};
    axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.flatMap(({ id, impact, nodes }) =>
      nodes.map(({ target }) => impact + " " + id + ": " + target.join(" "))))`;
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    expression: run,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return (result.value as string[]).filter((fault) => !fault.startsWith("minor"));
}
