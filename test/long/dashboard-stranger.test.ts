/**
 * Another user's program takes beckon's port while beckon is stopped. It gets what open tabs send, serves pages of its own at
 * beckon's address, and leaves in the browser whatever it can: service workers, cached files, tabs.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "bun:test";
import { rmSync } from "node:fs";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { type AppFixture, createAppFixture, createPromptEvent } from "../app-fixture.ts";
import { createPageUrl, launchBrowser, openPage } from "../dashboard/browser.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";

const testPage = testWith("chromium");
let browser: Browser;
beforeAll(async () => {
  if (Bun.which("chromium")) browser = await launchBrowser();
});
afterAll(() => browser?.close());

let fixture: AppFixture;
let port = 0;
let context: BrowserContext;
let page: Page;

beforeEach(async () => {
  fixture = createAppFixture();
  const { url } = await fixture.start();
  port = Number(new URL(url).port);
  await fixture.postHook(createPromptEvent("s1"));
});
afterEach(async () => {
  await context?.close();
  await fixture.destroy();
});

async function openTab(): Promise<Page> {
  const opened = await openPage(browser, await createPageUrl(fixture));
  context = opened.page.context();
  await waitForLive(opened.page);
  return opened.page;
}

const waitForLive = (tab: Page) => tab.getByText(/^Live \d/).waitFor({ timeout: 20_000 });
const restart = () => fixture.start({}, { port });
/** The last key that a page of this context has sent. */
function followKey(): () => string {
  let key = "";
  context.on("request", (request) => {
    key = request.headers()["x-beckon-page"] || key;
  });
  return () => key;
}

describe("while beckon is stopped", () => {
  testWith(
    "chromium",
    "root",
    "linux",
    "setpriv",
  )(
    "what a tab sends to another user's program is worthless, the tab shows nothing of it, and lives again with beckon",
    async () => {
      page = await openTab();
      await fixture.stopApps();
      // Answers everything, as if it were beckon.
      const program = `
        const fake = { ok: true, version: "stranger", agents: {}, nonce: "n", proof: "p", key: "k", expires: 1, secret: "s" };
        Bun.serve({ hostname: "127.0.0.1", port: ${port}, fetch(request) {
          console.log(JSON.stringify(Object.fromEntries(request.headers)));
          const { pathname } = new URL(request.url);
          if (pathname !== "/api/events") return Response.json(fake);
          const snapshot = { now: Date.now(), quiet: null, sessions: [] };
          return new Response("event: snapshot\\ndata: " + JSON.stringify(snapshot) + "\\n\\n", { headers: { "content-type": "text/event-stream" } });
        } });`;
      const stranger = fixture.spawn([
        "setpriv",
        "--reuid=12346",
        "--clear-groups",
        process.execPath,
        "-e",
        program,
      ]);
      await page.getByText("beckon was restarted.").waitFor({ timeout: 20_000 });
      expect(await page.locator(".row", { hasText: "proj" }).count()).toBe(1);
      stranger.kill();
      const lines = (await stranger.stdout.text()).trim().split("\n");
      expect(lines.length).toBeGreaterThan(0);
      await restart();
      for (const line of lines) {
        const { connection: _, "content-length": __, ...headers } = JSON.parse(line);
        const response = await fetch(`${fixture.readUrl()}/api/sessions`, { headers });
        expect(response.status).toBe(401);
      }
      await waitForLive(page);
      await page.reload();
      await waitForLive(page);
    },
    60_000,
  );

  testPage(
    "tabs live again after a restart, also beside one that is opened then, and after a reload",
    async () => {
      page = await openTab();
      const second = await context.newPage();
      await second.goto(await createPageUrl(fixture));
      await waitForLive(second);
      await fixture.stopApps();
      for (const tab of [page, second]) await tab.getByText("beckon has stopped.").waitFor();
      await restart();
      const third = await context.newPage();
      await third.goto(await createPageUrl(fixture));
      for (const tab of [page, second, third]) await waitForLive(tab);
      for (const tab of [page, second, third]) {
        await tab.reload();
        await waitForLive(tab);
      }
    },
    60_000,
  );

  testPage(
    "a tab that cannot connect again says so, and how to open the page",
    async () => {
      page = await openTab();
      await fixture.stopApps();
      rmSync(fixture.paths.authHeader);
      await restart();
      await page.getByText("beckon was restarted.").waitFor({ timeout: 20_000 });
      await page.getByText("beckon open").waitFor();
      expect(await page.title()).toBe("beckon (stopped)");
    },
    30_000,
  );
});

describe("after another program had the port", () => {
  const whenNavigating = (respond: string) =>
    `addEventListener("fetch", (event) => { if (event.request.mode === "navigate") event.respondWith((async () => { ${respond} })()); });`;
  const race = `addEventListener("install", (event) => event.waitUntil(
    event.addRoutes([{ condition: { requestMode: "navigate" }, source: "race-network-and-fetch-handler" }])));`;
  const preload = `addEventListener("activate", (event) => event.waitUntil(registration.navigationPreload.enable()));`;
  /** Each reads a page that does not defend itself (measured in Chromium 156). */
  const workers = {
    "fetches the page for the browser": whenNavigating("return steal(await fetch(event.request));"),
    "fetches the page's address": whenNavigating("return steal(await fetch(event.request.url));"),
    "has the page loaded ahead": `${preload}${whenNavigating("return steal(await event.preloadResponse);")}`,
    "races the browser for the page": `${race}${whenNavigating("return steal(await fetch(event.request));")}`,
    "replaces the page's script": `addEventListener("fetch", (event) => {
      if (event.request.destination !== "script") return;
      const script = "new BroadcastChannel('stolen').postMessage(document.documentElement.outerHTML)";
      event.respondWith(new Response(script, { headers: { "content-type": "text/javascript" } }));
    });`,
    "watches what the page sends": `addEventListener("fetch", (event) => {
      stolen.postMessage(JSON.stringify([...event.request.headers]));
    });`,
  };

  /** Opens the stranger's page at beckon's address. It stays open, and collects what it can. */
  async function visitStranger(worker: string): Promise<Page> {
    const opener = { "cross-origin-opener-policy": "same-origin" };
    const respond = (body: string, type: string, headers: Record<string, string> = {}) =>
      new Response(body, { headers: { "content-type": type, ...opener, ...headers } });
    const script = `
      const stolen = new BroadcastChannel("stolen");
      const steal = async (response) => {
        if (response.type !== "opaqueredirect") stolen.postMessage(await response.clone().text());
        return response;
      };
      addEventListener("install", () => skipWaiting());
      addEventListener("activate", (event) => event.waitUntil(clients.claim()));
      ${worker}`;
    const cachedScript = `new BroadcastChannel("stolen").postMessage(document.documentElement.outerHTML)`;
    const html = `<!doctype html><script src="/page.js"></script><script>
      globalThis.stolen = [];
      new BroadcastChannel("stolen").onmessage = ({ data }) => stolen.push(data);
      navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready).then(() => { document.title = "ready"; });
      </script>`;
    const stranger = Bun.serve({
      hostname: "127.0.0.1",
      port,
      fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === "/worker.js") return respond(script, "text/javascript");
        if (pathname === "/page.js")
          return respond(cachedScript, "text/javascript", { "cache-control": "max-age=31536000, immutable" });
        return respond(html, "text/html");
      },
    });
    try {
      const tab = await context.newPage();
      await tab.goto(`http://127.0.0.1:${port}/`);
      await tab.waitForFunction('document.title === "ready"');
      return tab;
    } finally {
      await stranger.stop(true);
    }
  }

  for (const [name, worker] of Object.entries(workers)) {
    testPage(
      `its service worker that ${name} does not get the key of a page that is opened later`,
      async () => {
        context = await browser.newContext();
        await fixture.stopApps();
        const stranger = await visitStranger(worker);
        await restart();
        const key = followKey();
        // A code that a worker has seen is refused, and the worker removed: then the next one opens the page.
        for (let tries = 0; tries < 2; tries++) {
          page = await context.newPage();
          await page.goto(await createPageUrl(fixture));
          if ((await page.title()) !== "beckon" || (await page.locator(".cmd").count()) === 0) break;
        }
        await waitForLive(page);
        expect(key()).toHaveLength(43);
        await page.reload();
        await waitForLive(page);
        const found = await stranger.evaluate(
          `fetch("/").then((response) => response.text()).then((text) => JSON.stringify([stolen, text, localStorage, sessionStorage]))`,
        );
        expect(found).not.toContain(key());
      },
      60_000,
    );
  }

  testPage(
    "its service worker that shows a page of its own is removed, and the page can be opened",
    async () => {
      context = await browser.newContext();
      await fixture.stopApps();
      await visitStranger(
        whenNavigating(
          'return new Response("<title>not beckon</title>", { headers: { "content-type": "text/html" } });',
        ),
      );
      await restart();
      page = await context.newPage();
      await page.goto(await createPageUrl(fixture));
      expect(await page.title()).toBe("not beckon");
      // Some seconds later the browser looks for a new version of the worker, and beckon refuses.
      const countWorkers = "navigator.serviceWorker.getRegistrations().then(({ length }) => length)";
      await waitUntil(async () => (await page.evaluate(countWorkers)) === 0, 30_000);
      await page.goto(await createPageUrl(fixture));
      await waitForLive(page);
    },
    60_000,
  );

  testPage(
    "its window has no hold on a tab in which the page is opened",
    async () => {
      context = await browser.newContext();
      await fixture.stopApps();
      const stranger = await visitStranger("");
      const opened = context.waitForEvent("page");
      await stranger.evaluate("void open('about:blank')");
      const window = await opened;
      expect(await window.evaluate("opener.document.title")).toBe("ready");
      await restart();
      await stranger.goto(await createPageUrl(fixture));
      await waitForLive(stranger);
      expect(await window.evaluate("opener === null || opener.closed")).toBe(true);
    },
    30_000,
  );

  testPage(
    "a tab that its service worker takes over sends its key no more, and says so",
    async () => {
      page = await openTab();
      const key = followKey();
      await page.reload();
      await waitForLive(page);
      await fixture.stopApps();
      const stranger = await visitStranger(workers["watches what the page sends"]);
      await restart();
      await page.getByText("Another program has used this address.").waitFor({ timeout: 20_000 });
      await waitUntil(async () => ((await stranger.evaluate("stolen.length")) as number) > 0, 5_000);
      expect(key()).toHaveLength(43);
      expect(await stranger.evaluate("JSON.stringify(stolen)")).not.toContain(key());
    },
    30_000,
  );
});
